// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"

	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// layout holds the panes and their positions on the screen.
type layout struct {
	all           []pane.Pane
	keys          []feature.Key // by pane
	width, height int
	focus         int  // the pane with the keyboard
	leave         int  // the pane that Esc returns to, -1 for none
	chosen        bool // the user chose the pane with the keyboard
	slots         slots
	zoom          bool
	leftShare     int // how much wider the panes on the left are, in percent
}

// placed is a pane and its place.
type placed struct {
	at int
	draw.Rect
}

// slots holds, for each place that several panes share, the pane that was used last.
type slots struct {
	home  int // the head or home pane
	main  int // the main pane or a side pane
	side  int // a side pane, next to the main pane
	aside int // any but head and home, next to one of those
}

func newLayout(all []pane.Pane) layout {
	d := layout{all: all, leave: -1}
	for _, p := range all {
		d.keys = append(d.keys, featureKey(func(k *feature.Key) bool { return k.Pane == p.About().Name }))
	}
	d.focus = d.at(pane.SeatHome)
	d.slots = slots{home: d.focus, main: d.at(pane.SeatMain), side: d.at(pane.SeatSide), aside: d.at(pane.SeatMain)}
	return d
}

// at returns the first pane of a seat.
func (d *layout) at(s pane.Seat) int {
	return slices.IndexFunc(d.all, func(p pane.Pane) bool { return p.About().Seat == s })
}

func (d *layout) named(name string) int {
	return slices.IndexFunc(d.all, func(p pane.Pane) bool { return p.About().Name == name })
}

func (d *layout) pane() pane.Pane { return d.all[d.focus] }

// hasFocus reports whether a pane with this seat has the keyboard focus.
func (d *layout) hasFocus(s pane.Seat) bool { return d.pane().About().Seat == s }

// digit returns the default key of a pane.
func (d *layout) digit(at int) string { return d.keys[at].Keys }

func (d *layout) take(at int) {
	d.focus, d.leave = at, -1
	switch d.all[at].About().Seat {
	case pane.SeatHead, pane.SeatHome:
		d.slots.home = at
		return
	case pane.SeatMain:
		d.slots.main = at
	case pane.SeatSide:
		d.slots.main, d.slots.side = at, at
	}
	d.slots.aside = at
}

// shape is the arrangement of the panes.
type shape uint8

// The arrangements of panes, for smaller and larger screens.
const (
	shapeSingle shape = iota // one pane at a time, two when zoomed
	shapePair                // two next to each other
	shapeFour                // problems over topology; one over the trace; log
	shapeWide                // also the LFT, and the trace over one more; log
)

func shapeOf(w, h int) shape {
	switch {
	case w < 100 || h < 20:
		return shapeSingle
	case h < 30:
		return shapePair
	case w < 160:
		return shapeFour
	}
	return shapeWide
}

// arrange places the panes in a part of the screen. Panes do not overlap. A pane without space is left out.
func (d *layout) arrange(body draw.Rect) []placed {
	f, s := shapeOf(d.width, d.height), &d.slots
	switch {
	case f == shapeSingle && d.zoom && body.H >= 10:
		top, bottom := draw.SplitRows(body, body.H/2)
		return []placed{{d.focus, top}, {d.companion(), bottom}}
	case f == shapeSingle || d.zoom:
		return []placed{{d.focus, body}}
	case f == shapePair:
		left, right := draw.SplitColumns(body, body.W*(40+d.leftShare)/100)
		return []placed{{s.home, left}, {d.orMain(s.aside), right}}
	}
	upper, log := draw.SplitRows(body, body.H-d.logRows(body))
	logged := placed{d.at(pane.SeatLog), log}
	picture := d.pane().About().Picture // which needs the space
	if f == shapeWide {
		left, rest := draw.SplitColumns(upper, upper.W*(32+d.leftShare)/100)
		if picture {
			return append(d.homes(left), placed{d.focus, rest}, logged)
		}
		rest, strip := d.strip(rest)
		return append(append(d.homes(left), d.spread(rest)...), append(strip, logged)...)
	}
	var across []placed // a pane with long rows, below all others
	if at := d.orMain(s.main); d.all[at].About().Broad && at == d.focus {
		top, bottom := draw.SplitRows(upper, upper.H/2)
		upper, across = top, []placed{{at, bottom}}
	}
	left, right := draw.SplitColumns(upper, upper.W*(42+d.leftShare)/100)
	if across != nil {
		return append(d.homes(left), append(across, placed{d.at(pane.SeatMain), right}, logged)...)
	}
	right, strip := d.strip(right)
	shown := []placed{{d.orMain(s.main), right}}
	if d.isStrip(shown[0].at) {
		shown[0].at = d.at(pane.SeatMain)
	}
	if trace := d.at(pane.SeatTrace); d.wanted(trace) && !d.isStrip(trace) && !picture {
		top, bottom := draw.SplitRows(right, right.H-max(right.H*9/20, 5))
		shown = []placed{{shown[0].at, top}, {trace, bottom}}
	}
	return append(append(d.homes(left), shown...), append(strip, logged)...)
}

// isStrip reports whether a pane is empty and has the keyboard, so that it is shown as a strip.
func (d *layout) isStrip(at int) bool {
	v, ok := d.all[at].(pane.Hideable)
	return ok && at == d.focus && v.Hidden()
}

// strip returns a strip at the bottom of a part of the screen for a pane that has the keyboard and is empty, and the
// rest for other panes. Other panes need no strip.
func (d *layout) strip(r draw.Rect) (rest draw.Rect, strip []placed) {
	if !d.isStrip(d.focus) {
		return r, nil
	}
	lines := min(len(draw.Wrap(d.pane().Empty(), r.W-5))+2, r.H/2)
	top, bottom := draw.SplitRows(r, r.H-lines)
	return top, []placed{{d.focus, bottom}}
}

// spread places the main pane, the trace pane and a side pane on a wide screen. Other panes use the space of hidden
// panes. A pane with long rows is placed below the other panes.
func (d *layout) spread(rest draw.Rect) []placed {
	main, trace, side := d.at(pane.SeatMain), d.at(pane.SeatTrace), d.slots.side
	var others []int
	for _, at := range []int{trace, side} {
		if d.wanted(at) && !d.isStrip(at) {
			others = append(others, at)
		}
	}
	if len(others) == 0 {
		return []placed{{main, rest}}
	}
	if d.wanted(side) && !d.isStrip(side) && d.all[side].About().Broad {
		top, bottom := draw.SplitRows(rest, rest.H/2)
		if len(others) == 1 {
			return []placed{{main, top}, {side, bottom}}
		}
		left, right := draw.SplitColumns(top, top.W*48/100)
		return []placed{{main, left}, {trace, right}, {side, bottom}}
	}
	left, right := draw.SplitColumns(rest, rest.W*48/100)
	if len(others) == 1 {
		return []placed{{main, left}, {others[0], right}}
	}
	top, bottom := draw.SplitRows(right, right.H/2)
	return []placed{{main, left}, {trace, top}, {side, bottom}}
}

// wanted reports whether a pane is not empty, or has the keyboard focus.
func (d *layout) wanted(at int) bool {
	v, ok := d.all[at].(pane.Hideable)
	return at == d.focus || !ok || !v.Hidden()
}

// orMain returns the pane with an index, or the main pane if that pane is empty.
func (d *layout) orMain(at int) int {
	if d.wanted(at) {
		return at
	}
	return d.at(pane.SeatMain)
}

// logRows returns the number of lines for the log on a large screen. A short log gets few lines. A log with the
// keyboard focus gets half of the screen.
func (d *layout) logRows(body draw.Rect) int {
	if d.hasFocus(pane.SeatLog) {
		return body.H / 2
	}
	return max(min(body.H/5, 12, d.all[d.at(pane.SeatLog)].Base().N+2), 5)
}

// homes places the panes on the left. The upper pane, called head, has as many lines as it needs, within limits.
func (d *layout) homes(left draw.Rect) []placed {
	head := d.at(pane.SeatHead)
	want := d.all[head].Base().N + 3
	if want == 3 {
		want = len(draw.Wrap(d.all[head].Empty(), left.W-5)) + 2
	}
	n := max(min(want, left.H/3), 4)
	if d.hasFocus(pane.SeatHead) {
		n = max(n, min(want, left.H*2/3))
	}
	top, rest := draw.SplitRows(left, n)
	return []placed{{head, top}, {d.at(pane.SeatHome), rest}}
}

// companion returns the pane that is shown next to the focused pane on a small screen.
func (d *layout) companion() int {
	if name := d.pane().About().Companion; name != "" {
		return d.named(name)
	}
	return d.at(pane.SeatHome)
}

// setFocus gives the keyboard to a pane.
func (m *model) setFocus(at int) {
	if m.status.view && m.focus != at {
		m.inform("")
	}
	m.take(at)
	m.chosen = true
	m.fit()
}

// body returns the part of the screen for the panes. It is below the header and the names of the panes, and above the
// tour, the status line and the keys.
func (m *model) body() draw.Rect {
	top, bottom := 1, 2
	switch {
	case m.height < 8:
		top, bottom = min(m.height/3, 1), min(m.height/2, 1)
	case m.height >= tabsFrom:
		top = 2
	}
	bottom += tourRows(m)
	return draw.Rect{X: 0, Y: top, W: m.width, H: max(m.height-top-bottom, 0)}
}

func (m *model) panes() []placed { return m.arrange(m.body()) }

// fit sets the number of visible rows of each pane.
func (m *model) fit() {
	for _, p := range m.panes() {
		x := m.all[p.at]
		t := x.Base()
		t.Wide = p.W - 4
		t.Resize(t.N, max(p.H-2-draw.Btoi(x.HasHead()), 0))
	}
}

// visible reports whether a pane is shown on the screen.
func (m *model) visible(at int) bool {
	return slices.ContainsFunc(m.panes(), func(p placed) bool { return p.at == at })
}

const tabsFrom = 16 // smallest height of a screen with the line of pane names
