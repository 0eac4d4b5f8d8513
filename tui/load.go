// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/tui/draw"
)

// The manners in which loads are shown.
const (
	loadHottest = iota
	loadAll
	loadUpwards
	loadDownwards
)

// loading is what the load pane shows, computed beside the screen.
type loading struct {
	loads *linkload.Loads
	// between are the ports with links between switches, all those of all links, the
	// ones with most paths first.
	between, all []fabric.PortIndex
	mean         float64 // of the links between switches
	most         int64   // of any link
	heat         heat
}

// heat is a map of the loads between two layers of switches.
type heat struct {
	// rows are switches with hosts, cols those next to them, by switch index.
	rows, cols []fabric.SwitchIndex
	// up and down are the most paths over any link from a row to a column and back,
	// row by row, -1 where there is no link.
	up, down []int64
	most     int64
}

// newLoading counts paths over links. O(LIDs x switches) on all processors.
func newLoading(ctx context.Context, t *fabric.Tables, ix *index, progress func(done, total int)) (*loading, error) {
	l, err := linkload.AllToAll(ctx, t, linkload.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	r := &loading{loads: l}
	var sum int64
	for i := range t.Fabric.Ports {
		p := fabric.PortIndex(i)
		switch linkload.ClassOf(t.Fabric, p) {
		case linkload.None:
			continue
		case linkload.BetweenSwitches:
			r.between = append(r.between, p)
			sum += l.Paths[p]
		}
		r.all = append(r.all, p)
		r.most = max(r.most, l.Paths[p])
	}
	for _, list := range [][]fabric.PortIndex{r.between, r.all} {
		slices.SortStableFunc(list, func(a, b fabric.PortIndex) int { return cmp.Compare(l.Paths[b], l.Paths[a]) })
	}
	if n := len(r.between); n > 0 {
		r.mean = float64(sum) / float64(n)
	}
	r.heat = newHeat(l, ix)
	return r, nil
}

func newHeat(l *linkload.Loads, ix *index) heat {
	var h heat
	if len(ix.tiers) < 2 {
		return h
	}
	f := l.Fabric
	h.rows, h.cols = ix.tiers[0], ix.tiers[1]
	place := make(map[fabric.SwitchIndex]int, len(h.cols))
	for i, s := range h.cols {
		place[s] = i
	}
	h.up = make([]int64, len(h.rows)*len(h.cols))
	for i := range h.up {
		h.up[i] = -1
	}
	h.down = slices.Clone(h.up)
	for row, s := range h.rows {
		n := f.SwitchNode(s)
		for p := range n.Ports() {
			col, ok := place[f.PeerSwitch(p)]
			if !ok {
				continue
			}
			i := row*len(h.cols) + col
			h.up[i] = max(h.up[i], l.Paths[p])
			h.down[i] = max(h.down[i], l.Paths[f.Ports[p].Peer])
			h.most = max(h.most, h.up[i], h.down[i])
		}
	}
	return h
}

// loadPane lists links by how many paths take them, or draws a map of them.
type loadPane struct {
	list
	load *loading
	// err is why there are no loads; stale says that those shown are of the tables before.
	err     error
	stale   bool
	loading asyncResult[*loading]
	// cut are the links of the map that have failed on paper, by row and column.
	cut map[int]bool
}

func newLoadPane(c *common, t *draw.Theme) pane {
	l := &loadPane{list: list{common: c}}
	l.Table = draw.Table{Theme: t, Kinds: []string{"links between switches", "all links", "heat map, upwards", "heat map, downwards"}}
	l.ID = func(row int) uint64 {
		if l.isMap() {
			return uint64(row)
		}
		f := l.load.loads.Fabric
		return placeOf(f, f.Ports[l.port(row)].Node, l.port(row)).id()
	}
	hidden := func() bool { return l.isMap() }
	name := func(p fabric.PortIndex) string { return l.load.loads.Fabric.PortName(p) }
	peer := func(row int) fabric.PortIndex { return l.load.loads.Fabric.Ports[l.port(row)].Peer }
	rank := func(p fabric.PortIndex) int64 {
		f := l.load.loads.Fabric
		return int64(l.sc.names.rank[f.Ports[p].Node])<<8 | int64(f.Ports[p].Num)
	}
	paths := func(row int) int64 { return l.load.loads.Paths[l.port(row)] }
	l.Cols = []draw.Column{
		{Name: "from", Least: 14, Hidden: hidden, Text: func(row int) string { return name(l.port(row)) }, Order: func(row int) int64 { return rank(l.port(row)) }},
		{Name: "to", Least: 14, Hidden: hidden, Text: func(row int) string { return name(peer(row)) }, Order: func(row int) int64 { return rank(peer(row)) }},
		{Name: "paths", Wide: 11, Right: true, Hidden: hidden, Text: func(row int) string { return draw.Thousands(int(paths(row))) }, Order: paths},
		{Name: "load", Wide: 12, Rank: 1, Hidden: hidden, Text: func(row int) string { return t.Bar(int(paths(row)), int(l.load.most), 12) },
			Look: l.look, Order: paths},
		{Name: "of mean", Wide: 8, Right: true, Rank: 2, Hidden: hidden, Text: l.ofMean, Order: paths, Look: l.look},
		{Name: "LIDs", Wide: 6, Right: true, Rank: 3, Hidden: hidden, Text: func(row int) string { return draw.Thousands(int(l.load.loads.Destinations[l.port(row)])) },
			Order: func(row int) int64 { return int64(l.load.loads.Destinations[l.port(row)]) }},
		{Name: "link", Wide: 7, Right: true, Rank: 3, Hidden: hidden, Text: func(row int) string { s, _ := linkText(&l.load.loads.Fabric.Ports[l.port(row)]); return s },
			Order: func(row int) int64 { return int64(1000 * l.load.loads.Fabric.Ports[l.port(row)].Gbps()) }},
	}
	return l
}

func (l *loadPane) isMap() bool { return l.Kind >= loadUpwards }

func (l *loadPane) port(row int) fabric.PortIndex {
	if l.Kind == loadAll {
		return l.load.all[row]
	}
	return l.load.between[row]
}

func (l *loadPane) ofMean(row int) string {
	if l.load.mean == 0 || linkload.ClassOf(l.load.loads.Fabric, l.port(row)) != linkload.BetweenSwitches {
		return ""
	}
	return fmt.Sprintf("%.2fx", float64(l.load.loads.Paths[l.port(row)])/l.load.mean)
}

func (l *loadPane) look(row int) draw.Style {
	if linkload.ClassOf(l.load.loads.Fabric, l.port(row)) != linkload.BetweenSwitches || l.load.mean == 0 {
		return l.Theme.Dim
	}
	return l.Theme.Warmth(l.load.loads.Paths[l.port(row)], l.load.mean)
}

func (l *loadPane) about() about {
	return about{name: "Load", short: "Load", help: "how many paths take each link", beside: "Trace"}
}

func (l *loadPane) show(sc *scene, changed bool) {
	l.sc = sc
	if changed {
		l.renew()
	}
}

// seek counts the paths over each link.
func (l *loadPane) seek(s stage) tea.Cmd {
	t := l.sc.pic.Tables
	if t == nil || t.Fabric.MaxLID == 0 || !s.visible && entriesOf(t) > quick {
		return nil
	}
	ix := l.sc.names
	return l.loading.want(l.common, t, func(ctx context.Context, progress func(int, int)) (*loading, error) {
		return newLoading(ctx, t, ix, progress)
	})
}

// collect takes the loads, or why there are none, for all panes.
func (l *loadPane) collect() {
	x, t := l.loading.value, l.sc.pic.Tables
	ready := x != nil && t != nil && l.loading.ready(t)
	l.loads = nil
	if x != nil {
		l.counted = x.loads
	}
	if ready {
		l.loads, l.busiest = x.loads, int64(2*x.mean)
		if len(x.between) > 0 {
			l.busiest = max(l.busiest, x.loads.Paths[x.between[0]])
		}
	}
	stale := x != nil && !ready
	if l.load == x && l.err == l.loading.err && l.stale == stale {
		return
	}
	l.Hold()
	l.load, l.err, l.stale = x, l.loading.err, stale
	l.renew()
}

func (l *loadPane) whyNotSort() string {
	if l.isMap() {
		return "a map is not sorted: b shows a list"
	}
	return l.list.whyNotSort()
}

func (l *loadPane) sideways(by int) { l.Aside = max(l.Aside+by, 0) }

func (l *loadPane) renew() {
	l.Hold()
	switch {
	case l.load == nil || l.load.loads.Fabric != l.sc.pic.Fabric:
		l.Rebuild(0)
	case l.isMap():
		l.Match = func(row int) bool {
			f := l.load.loads.Fabric
			return l.Filt.Match(l.sc.names.search[f.Switches[l.load.heat.rows[row]]])
		}
		l.findCut()
		l.Build(len(l.load.heat.rows))
	default:
		l.Match, l.Prepare = nil, nil
		var hits []bool
		l.Prepare = func() { hits = l.Filt.Hits(l.sc.names.search) }
		l.Match = func(row int) bool {
			f := l.load.loads.Fabric
			p := l.port(row)
			return (hits[f.Ports[p].Node] || hits[f.PeerNode(p)]) != l.Filt.Invert
		}
		l.Build(len(map[bool][]fabric.PortIndex{true: l.load.all, false: l.load.between}[l.Kind == loadAll]))
	}
}

func (l *loadPane) title() string { return l.Kinds[l.Kind] }

func (l *loadPane) picture() *draw.Badge {
	if l.load == nil || l.sc == nil {
		return nil
	}
	if l.stale {
		return &draw.Badge{St: l.Theme.Old, Line: l.Theme.OldLine, Frame: draw.FrameOld, Word: "OLD, being counted"}
	}
	return l.sc.pictureBadge(l.Theme, l.sc.pic)
}

func (l *loadPane) figure() string {
	switch {
	case l.N == 0:
		return l.loading.progress()
	case l.isMap():
		return fmt.Sprintf("%d leaves, %d switches above; %s of %s paths", len(l.load.heat.rows), len(l.load.heat.cols), l.Theme.Shades[4], draw.Thousands(int(l.load.heat.most)))
	}
	return fmt.Sprintf("%s, mean %s", draw.Count(l.N, "direction"), draw.Thousands(int(l.load.mean+0.5)))
}

func (l *loadPane) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case l.sc.why != "":
		return l.sc.why
	case l.loading.progress() != "":
		return "counting the paths over each link: " + l.loading.progress()
	case l.err != nil:
		return "the paths were not counted: " + l.err.Error()
	case !l.Filt.Empty():
		return l.NoMatch("link")
	case l.isMap():
		return "there are no two layers of switches to draw a map of: b shows the list"
	}
	return "there are no links between switches: b shows all links"
}

func (l *loadPane) subject() subject {
	row, ok := l.Selected()
	if !ok {
		return nothing
	}
	f := l.load.loads.Fabric
	if l.isMap() {
		s := nothing
		s.f, s.node = f, f.Switches[l.load.heat.rows[row]]
		return s
	}
	p := l.port(row)
	return subject{f: f, node: f.Ports[p].Node, port: fabric.None, link: p, via: fabric.None}
}

func (l *loadPane) enter() (func() tea.Msg, string) {
	s := l.subject()
	if s.node == fabric.None {
		return nil, "no link is selected"
	}
	return s.goTo, ""
}

func (l *loadPane) HasHead() bool { return l.N > 0 }

// mapStep is how many columns a key moves the map.
const mapStep = 8

// mapName is how many cells the names of the rows of a map have.
const mapName = 16

// columns is the first column of the map in so many cells, and how many there are a cell.
// As long as nobody has moved the map, all of it is there.
func (l *loadPane) columns(room int) (first, per int) {
	n := len(l.load.heat.cols)
	if l.Aside == 0 || n <= room {
		return 0, max((n+room-1)/max(room, 1), 1)
	}
	return min(l.Aside-mapStep, n-1), 1
}

// cell is the most paths over a link between a row and some columns, -1 where there is
// none; gone says that one has failed on paper.
func (l *loadPane) cell(row, from, to int) (paths int64, gone bool) {
	h := &l.load.heat
	cells := h.up
	if l.Kind == loadDownwards {
		cells = h.down
	}
	paths = -1
	for i := row*len(h.cols) + from; i < row*len(h.cols)+to; i++ {
		paths = max(paths, cells[i])
		gone = gone || l.cut[i]
	}
	return paths, gone
}

// findCut looks for the links of the map that have failed on paper.
func (l *loadPane) findCut() {
	l.cut = map[int]bool{}
	h := &l.load.heat
	f := l.load.loads.Fabric
	rows, cols := placesOf(f, h.rows), placesOf(f, h.cols)
	for link := range l.sc.gone() {
		for _, ends := range [2][2]fabric.PortIndex{{link.A, link.B}, {link.B, link.A}} {
			row, low := rows[l.sc.top.f.Nodes[l.sc.top.f.Ports[ends[0]].Node].GUID]
			col, high := cols[l.sc.top.f.Nodes[l.sc.top.f.Ports[ends[1]].Node].GUID]
			if low && high {
				l.cut[row*len(h.cols)+col] = true
			}
		}
	}
}

// placesOf says where in a list of switches each is, by its GUID.
func placesOf(f *fabric.Fabric, switches []fabric.SwitchIndex) map[uint64]int {
	out := make(map[uint64]int, len(switches))
	for i, s := range switches {
		out[f.SwitchNode(s).GUID] = i
	}
	return out
}

// header of a map numbers its columns, so many digits below one another as fit
// in one line.
func (l *loadPane) Header(p *draw.Pen) {
	if !l.isMap() {
		l.Table.Header(p)
		return
	}
	h := &l.load.heat
	f := l.load.loads.Fabric
	room := p.Left - mapName - 1
	first, per := l.columns(room)
	last := min(first+per*room, len(h.cols)) - 1
	if last < first {
		return
	}
	p.Cell(p.Dim, "", mapName)
	p.Gap(1)
	text := fmt.Sprintf("%s %s %s", f.NodeName(f.Switches[h.cols[first]]), p.Arrow, f.NodeName(f.Switches[h.cols[last]]))
	switch {
	case per > 1:
		text += fmt.Sprintf(", the busiest of %d a cell; the key Right shows each", per)
	case first > 0 || last < len(h.cols)-1:
		text += fmt.Sprintf(", %d to %d of %d", first+1, last+1, len(h.cols))
	}
	p.Put(p.Dim, text)
}

func (l *loadPane) Draw(p *draw.Pen, line int) {
	if !l.isMap() {
		l.Table.Draw(p, line)
		return
	}
	h := &l.load.heat
	f := l.load.loads.Fabric
	row := l.Row(line)
	p.Cell("", f.NodeName(f.Switches[h.rows[row]]), mapName)
	p.Gap(1)
	first, per := l.columns(p.Left)
	for col := first; col < len(h.cols) && p.Left > 0; col += per {
		if p.Left == 1 && col+per < len(h.cols) {
			p.Put(p.Dim, p.Ellipsis)
			return
		}
		x, gone := l.cell(row, col, min(col+per, len(h.cols)))
		switch {
		case gone:
			p.Put(l.Theme.Bad, p.Failed)
			continue
		case x < 0:
			p.Gap(1)
			continue
		}
		p.Heat(x, h.most, l.load.mean)
	}
}
