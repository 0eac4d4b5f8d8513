// SPDX-License-Identifier: Apache-2.0

package subnetmap

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/drawing"
	"example.org/ibconsole/tui/draw"
)

// IsPicture reports that the pane always draws a picture.
func (s *subnetMap) IsPicture() bool { return true }

// Paint prepares the picture. The lines of the window are those of the map, and below them those of the front panel.
func (s *subnetMap) Paint(w, h int) *draw.Window {
	below := s.panelLines(w, h)
	p := s.planFor(w, max(h-below, 1))
	room := max(h-below, 1)
	s.window.N, s.window.Height = max(len(p.lines)-room, 0)+h, h
	if row, ok := s.Selected(); ok {
		line := int(p.lineOf[s.rowOf[s.of.Fabric.Nodes[s.node(row)].Switch]])
		first := line - draw.Btoi(line > 0 && p.lines[line-1].kind == lineNames)
		if first < s.window.Top {
			s.window.Top = first
		}
		if line >= s.window.Top+room {
			s.window.Top = line - room + 1
		}
	}
	s.window.Top = max(min(s.window.Top, len(p.lines)-room), 0)
	return &s.window
}

// PaintLine writes a line of the picture.
func (s *subnetMap) PaintLine(p *draw.Pen, line int) {
	b := brush{s, p, p.Left}
	room := max(s.window.Height-s.panelLines(s.plan.w, s.window.Height), 1)
	at := line - s.window.Top
	if shown := min(room, len(s.plan.lines)-s.window.Top); at < shown {
		b.paintMap(&s.plan.lines[line])
	} else {
		b.paintPanel(at - shown)
	}
}

// brush paints a line of the picture, which begins with start cells.
type brush struct {
	s     *subnetMap
	p     *draw.Pen
	start int
}

func (b brush) paintMap(l *planLine) {
	s, p := b.s, b.p
	p.Cell(p.Dim, l.name, s.plan.names)
	switch l.kind {
	case lineTitles:
		for i := range l.items {
			b.skipTo(&l.items[i])
			p.Put(p.Dim, l.items[i].text)
		}
	case lineNames:
		for i := range l.items {
			b.skipTo(&l.items[i])
			b.paintName(l, i)
		}
	case lineCells:
		for i := range l.items {
			b.skipTo(&l.items[i])
			b.paintCell(l, i)
		}
		if n := len(l.items); n > 0 && s.isCursor(&l.items[n-1]) && s.plan.pitch > 1 && s.plan.pitch <= namesFrom {
			p.Put(p.Strong, "]")
		}
	case lineJoins:
		b.paintJoins(l)
	case lineLinks:
		b.paintLinks(l)
	case lineMatrix:
		b.paintMatrix(l)
	}
}

// skipTo writes blanks up to the column of a cell.
func (b brush) skipTo(it *item) {
	s, p := b.s, b.p
	p.Gap(s.plan.names + int(it.x) - (b.start - p.Left))
}

// isCursor reports whether a cell is that of the selected switch.
func (s *subnetMap) isCursor(it *item) bool {
	sw := s.selectedSwitch()
	if it.block >= 0 && sw != fabric.None {
		return s.folded.BlockOf(sw) == it.block
	}
	return it.sw != fabric.None && it.sw == sw
}

// paintName writes the name of a cell.
func (b brush) paintName(l *planLine, i int) {
	s, p := b.s, b.p
	it := &l.items[i]
	if it.sw == fabric.None {
		return
	}
	st := p.Dim
	switch {
	case s.isCursor(it):
		st = p.Strong
	case s.isOnPath(it), it.block < 0 && s.isNeighbour(it.sw):
		st = p.Info
	case !s.shows(it.sw):
	case s.plan.scale >= 0:
		st = ""
	}
	p.Gap(1)
	p.Put(st, s.plan.labelOf(&s.network, it, s.plan.pitch-2))
}

// shows reports whether the filter shows a switch.
func (s *subnetMap) shows(sw fabric.SwitchIndex) bool {
	return s.Filt.Empty() || s.lineOf(int(s.rowOf[sw])) >= 0
}

func (s *subnetMap) isOnPath(it *item) bool {
	if it.block >= 0 {
		return slices.ContainsFunc(s.folded.Blocks[it.block].Switches, func(sw fabric.SwitchIndex) bool {
			return s.hops[s.of.Fabric.Switches[sw]] > 0
		})
	}
	return it.sw != fabric.None && s.hops[s.of.Fabric.Switches[it.sw]] > 0
}

// isNeighbour reports whether a cable leads from a switch to the selected switch.
func (s *subnetMap) isNeighbour(sw fabric.SwitchIndex) bool { n, _ := s.cables(sw); return n > 0 }

// cables returns the number of cables from the selected switch to another switch, and how many of them are down.
func (s *subnetMap) cables(to fabric.SwitchIndex) (all, down int) {
	sw := s.selectedSwitch()
	if s.around.of != sw || s.around.by == nil {
		s.around = around{of: sw, by: map[fabric.SwitchIndex][2]int{}}
		if sw != fabric.None {
			f := s.of.Fabric
			for p := range f.SwitchNode(sw).Ports() {
				if peer := f.PeerSwitch(p); peer != fabric.None && peer != sw {
					n := s.around.by[peer]
					s.around.by[peer] = [2]int{n[0] + 1, n[1] + draw.Btoi(s.isDown(p))}
				}
			}
		}
	}
	n := s.around.by[to]
	return n[0], n[1]
}

// around holds the neighbours of the selected switch, with the numbers of their cables.
type around struct {
	of fabric.SwitchIndex
	by map[fabric.SwitchIndex][2]int
}

// paintCell writes a cell: a sign before it, its shade, and on a large cell its value.
func (b brush) paintCell(l *planLine, i int) {
	s, p := b.s, b.p
	it, pitch := &l.items[i], s.plan.pitch
	if it.sw == fabric.None { // a place of a grid without a switch
		p.Gap(pitch)
		return
	}
	if pitch > 1 {
		b.paintSign(l, i)
	}
	text, st := b.face(it, min(max(pitch-1, 1), 3))
	rest := pitch - draw.Btoi(pitch > 1) - draw.Width(text)
	switch {
	case s.isCursor(it):
		st = p.Theme.Cursor
	case !s.shows(it.sw):
		st = p.Dim
	case pitch == 1 && it.block < 0 && s.isNeighbour(it.sw):
		st = prose.When(st == p.Warn || st == p.Bad, st, p.Info) + p.Linked
	}
	p.Put(st, text)
	if s.isCursor(it) && rest > 0 {
		p.Put(p.Strong, "]")
		rest--
	}
	if pitch >= figuresFrom {
		text := " " + strings.TrimSuffix(s.textOf(&measures[s.Kind], s.itemValue(it)), " of limit")
		p.Cell(prose.When(s.isCursor(it), p.Strong, p.Dim), text, rest-1)
		rest = 1
	}
	if s.folded.Kind == drawing.Grid && i+1 < len(l.items) && l.items[i+1].next && rest > 0 {
		text, st := b.join(it.sw, l.items[i+1].sw)
		p.Put(st, strings.Repeat(text, rest))
	}
	if it.wraps {
		text, st := b.join(it.sw, it.row.Switches[0])
		p.Put(st, prose.When(text == p.Line, p.Dateline, text))
	}
}

// paintSign writes the sign before a cell: the cursor, a mark, or a link to the selected switch. In a grid, it is the
// link to the cell on the left.
func (b brush) paintSign(l *planLine, i int) {
	s, p := b.s, b.p
	it := &l.items[i]
	text, st := " ", p.Dim
	switch {
	case s.isCursor(it):
		text, st = "[", p.Strong
	case i > 0 && s.isCursor(&l.items[i-1]) && l.items[i-1].x+int32(s.plan.pitch) == it.x && s.plan.pitch <= namesFrom:
		text, st = "]", p.Strong
	case it.block < 0 && s.Marked(int(s.rowOf[it.sw])):
		text, st = p.Mark, p.Warn
	case it.next && s.folded.Kind == drawing.Grid:
		text, st = b.join(l.items[i-1].sw, it.sw)
	case it.block < 0 && s.isNeighbour(it.sw):
		n, down := s.cables(it.sw)
		text, st = p.Line, p.Info
		switch {
		case down > 0:
			text, st = p.Failed, p.Bad
		case n > 1:
			text = prose.When(n > 9, "+", fmt.Sprint(n))
		}
	}
	p.Put(st, text)
}

// face returns the shade of a cell, n columns wide. A cross stands for failed links, and a number for the position on
// the traced path.
func (b brush) face(it *item, n int) (string, draw.Style) {
	s, p := b.s, b.p
	m, v := &measures[s.Kind], s.itemValue(it)
	down, all := s.itemDown(it)
	glyph, st := "?", p.Dim
	switch {
	case v.none:
		glyph = p.Shades[0]
	case v.known:
		glyph, st = p.Shades[m.scale.Shade(v.v)], m.scale.Style(p.Theme, v.v)
	}
	text := strings.Repeat(glyph, n)
	switch hop := s.hops[s.of.Fabric.Switches[it.sw]]; {
	case all:
		return strings.Repeat(p.Failed, n), p.Bad
	case hop > 0 && it.block < 0:
		number := draw.Cut(fmt.Sprint(hop), n, "")
		return strings.Repeat(glyph, n-len(number)) + number, p.Key
	case down > 0 && n == 1:
		return p.Failed, p.Bad
	case down > 0:
		return strings.Repeat(glyph, n-1) + p.Failed, prose.When(st == p.Bad, p.Bad, p.Warn)
	}
	return text, st
}

// itemValue returns the value of a cell. That of a folded zone is the highest of its switches.
func (s *subnetMap) itemValue(it *item) value {
	list := s.valuesOf(s.Kind)
	if it.block < 0 {
		return list[it.sw]
	}
	out := value{none: true}
	for _, sw := range s.folded.Blocks[it.block].Switches {
		v := list[sw]
		switch {
		case v.none:
		case out.none, v.known && (!out.known || v.v > out.v):
			out = v
		}
	}
	return out
}

func (s *subnetMap) itemDown(it *item) (down int, all bool) {
	if it.block < 0 {
		return s.downOf(it.sw)
	}
	all = true
	for _, sw := range s.folded.Blocks[it.block].Switches {
		n, every := s.downOf(sw)
		down, all = down+n, all && every
	}
	return down, all
}

// join returns the sign of the links between two neighbours in a grid.
func (b brush) join(from, to fabric.SwitchIndex) (string, draw.Style) {
	s, p := b.s, b.p
	if from == fabric.None || to == fabric.None {
		return " ", ""
	}
	f, links, down := s.of.Fabric, 0, 0
	for port := range f.SwitchNode(from).Ports() {
		if f.PeerSwitch(port) == to {
			links++
			down += draw.Btoi(s.isDown(port))
		}
	}
	switch {
	case links == 0:
		return " ", ""
	case down > 0:
		return p.Failed, p.Bad
	case s.hops[f.Switches[from]] > 0 && s.hops[f.Switches[to]] > 0:
		return "=", p.Key
	}
	return p.Line, p.Dim
}

// paintJoins writes the vertical links below a row of a grid. Below the last row, these are the links over the
// dateline.
func (b brush) paintJoins(l *planLine) {
	s, p := b.s, b.p
	for i := range l.items {
		it := &l.items[i]
		below := s.below(it.sw)
		if it.sw == fabric.None || below == fabric.None {
			continue
		}
		b.skipTo(it)
		p.Gap(draw.Btoi(s.plan.pitch > 1) + draw.Btoi(s.plan.pitch > 3))
		text, st := b.join(it.sw, below)
		switch text {
		case p.Line:
			text = prose.When(l.bottom, p.Dateline, "|")
		case "=":
			text = "#"
		}
		p.Put(st, text)
	}
}

// paintLinks writes lines from the selected switch to its neighbours, with the number of parallel
// cables.
func (b brush) paintLinks(l *planLine) {
	s, p := b.s, b.p
	from, to, up := l.upper, l.lower, false
	if slices.ContainsFunc(l.lower.items, func(it item) bool { return s.isCursor(&it) }) {
		from, to, up = l.lower, l.upper, true
	}
	at := slices.IndexFunc(from.items, func(it item) bool { return s.isCursor(&it) })
	if at < 0 {
		return
	}
	glyphs := make([]string, p.Left+s.plan.names)
	styles := make([]draw.Style, len(glyphs))
	centre := func(it *item) int {
		return s.plan.names + int(it.x) + draw.Btoi(s.plan.pitch > 1) + draw.Btoi(s.plan.pitch > 3)
	}
	mid := centre(&from.items[at])
	first, last := mid, mid
	ends, lost, bundles := map[int]int{}, map[int]bool{}, map[int]string{}
	for i := range to.items {
		if to.items[i].sw == fabric.None {
			continue
		}
		n, down := s.cables(to.items[i].sw)
		if n == 0 {
			continue
		}
		x := centre(&to.items[i])
		first, last = min(first, x), max(last, x)
		ends[x], lost[x] = prose.When(up, draw.BoxUp, draw.BoxDown), down > 0
		if text := fmt.Sprintf("x%d", n-down); n > 1 && len(text) < s.plan.pitch {
			bundles[x] = text
		}
	}
	if len(ends) == 0 {
		return
	}
	for x := first; x <= min(last, len(glyphs)-1); x++ {
		end := ends[x]
		if x == mid { // towards the selected switch
			end |= prose.When(up, draw.BoxDown, draw.BoxUp)
		}
		end |= prose.When(x > first, draw.BoxLeft, 0) | prose.When(x < last, draw.BoxRight, 0)
		glyphs[x], styles[x] = p.Box[end], p.Info
		if lost[x] {
			glyphs[x], styles[x] = p.Failed, p.Bad
		}
	}
	for x, text := range bundles {
		for i := 0; i < len(text) && x+i+1 < len(glyphs); i++ {
			glyphs[x+i+1], styles[x+i+1] = text[i:i+1], p.Info
		}
	}
	for x := b.start - p.Left; x < len(glyphs) && p.Left > 0; x++ {
		if glyphs[x] == "" {
			p.Gap(1)
		} else {
			p.Put(styles[x], glyphs[x])
		}
	}
}

// paintMatrix writes a row of the matrix of cables between groups.
func (b brush) paintMatrix(l *planLine) {
	s, p := b.s, b.p
	blocks := s.folded.Rows[0].Blocks
	here := int32(-1)
	if sw := s.selectedSwitch(); sw != fabric.None {
		here = s.folded.BlockOf(sw)
	}
	number := func(at int32) string {
		name := s.folded.Blocks[at].Name
		return name[strings.LastIndexByte(name, ' ')+1:]
	}
	if l.group < 0 {
		for _, at := range blocks {
			p.Right(prose.When(at == here, p.Strong, p.Dim), number(at), matrixPitch)
		}
		return
	}
	a := blocks[l.group]
	for _, b := range blocks {
		text, st := "-", p.Dim
		if w := s.folded.Between(a, b); w != nil {
			text, st = fmt.Sprint(w.Cables), prose.When(a == here || b == here, p.Strong, draw.Style(""))
			if w.Down > 0 {
				text, st = fmt.Sprintf("%s%d", p.Failed, w.Cables-w.Down), p.Bad
			}
		}
		p.Right(st, text, matrixPitch)
	}
}

// legendWidth is the number of columns of the legend of the load with its unit.
const legendWidth = 82

// tightLegend is the number of columns below which the parts of a legend are only one column apart.
const tightLegend = 71

// Header writes the legend of the colours.
func (s *subnetMap) Header(p *draw.Pen) {
	m := &measures[s.Kind]
	why := m.none(&s.network)
	p.Put(p.Strong, m.name+prose.When(s.Kind == byLoad && why == "" && p.Left >= legendWidth, " of limit", ""))
	if why != "" {
		p.Put(p.Warn, ": "+draw.Clean(why, p.ASCII))
		return
	}
	gap := prose.When(p.Left < tightLegend, 1, 2)
	m.scale.Legend(p, gap)
	p.Gap(gap)
	p.Put(p.Bad, p.Failed)
	p.Put(p.Dim, " down")
	p.Gap(gap)
	p.Put(p.Dim, "? not read")
}
