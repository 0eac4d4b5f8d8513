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
	table
	sc   *scene
	load *loading
	// err is why there are no loads; busy says how far computing them is, stale that
	// those shown are of the tables before.
	err   error
	busy  func() string
	stale bool
	// cut are the links of the map that have failed on paper, by row and column.
	cut map[int]bool
}

func newLoadPane(t *theme) *loadPane {
	l := &loadPane{busy: func() string { return "" }}
	l.table = table{theme: t, kinds: []string{"links between switches", "all links", "heat map, upwards", "heat map, downwards"}}
	l.id = func(row int) uint64 {
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
	l.cols = []column{
		{name: "from", least: 14, hidden: hidden, text: func(row int) string { return name(l.port(row)) }, order: func(row int) int64 { return rank(l.port(row)) }},
		{name: "to", least: 14, hidden: hidden, text: func(row int) string { return name(peer(row)) }, order: func(row int) int64 { return rank(peer(row)) }},
		{name: "paths", wide: 11, right: true, hidden: hidden, text: func(row int) string { return thousands(int(paths(row))) }, order: paths},
		{name: "load", wide: 12, rank: 1, hidden: hidden, text: func(row int) string { return t.bar(int(paths(row)), int(l.load.most), 12) },
			look: l.look, order: paths},
		{name: "of mean", wide: 8, right: true, rank: 2, hidden: hidden, text: l.ofMean, order: paths, look: l.look},
		{name: "LIDs", wide: 6, right: true, rank: 3, hidden: hidden, text: func(row int) string { return thousands(int(l.load.loads.Destinations[l.port(row)])) },
			order: func(row int) int64 { return int64(l.load.loads.Destinations[l.port(row)]) }},
		{name: "link", wide: 7, right: true, rank: 3, hidden: hidden, text: func(row int) string { s, _ := linkText(&l.load.loads.Fabric.Ports[l.port(row)]); return s },
			order: func(row int) int64 { return int64(1000 * l.load.loads.Fabric.Ports[l.port(row)].Gbps()) }},
	}
	return l
}

func (l *loadPane) isMap() bool { return l.kind >= loadUpwards }

func (l *loadPane) port(row int) fabric.PortIndex {
	if l.kind == loadAll {
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

func (l *loadPane) look(row int) style {
	x := float64(l.load.loads.Paths[l.port(row)])
	switch {
	case linkload.ClassOf(l.load.loads.Fabric, l.port(row)) != linkload.BetweenSwitches || l.load.mean == 0:
		return l.theme.dim
	case x > 2*l.load.mean:
		return l.theme.bad
	case x > 1.2*l.load.mean:
		return l.theme.warn
	}
	return l.theme.good
}

func (l *loadPane) show(sc *scene) {
	l.sc = sc
	l.renew()
}

// bring takes loads, or why there are none.
func (l *loadPane) bring(x *loading, err error, stale bool) {
	if l.load == x && l.err == err && l.stale == stale {
		return
	}
	l.hold()
	l.load, l.err, l.stale = x, err, stale
	l.renew()
}

func (l *loadPane) renew() {
	l.hold()
	switch {
	case l.load == nil || l.load.loads.Fabric != l.sc.pic.Fabric:
		l.rebuild(0)
	case l.isMap():
		l.match = func(row int) bool {
			f := l.load.loads.Fabric
			return l.filt.match(l.sc.names.search[f.Switches[l.load.heat.rows[row]]])
		}
		l.findCut()
		l.build(len(l.load.heat.rows))
	default:
		l.match, l.prepare = nil, nil
		var hits []bool
		l.prepare = func() { hits = l.filt.hits(l.sc.names) }
		l.match = func(row int) bool {
			f := l.load.loads.Fabric
			p := l.port(row)
			return (hits[f.Ports[p].Node] || hits[f.PeerNode(p)]) != l.filt.invert
		}
		l.build(len(map[bool][]fabric.PortIndex{true: l.load.all, false: l.load.between}[l.kind == loadAll]))
	}
}

func (l *loadPane) title() string { return l.kinds[l.kind] }

func (l *loadPane) picture() *badge {
	if l.load == nil || l.sc == nil {
		return nil
	}
	if l.stale {
		return &badge{l.theme.old, l.theme.oldLine, frameOld, "OLD, being counted"}
	}
	return l.theme.pictureBadge(l.sc, l.sc.pic)
}

func (l *loadPane) figure() string {
	switch {
	case l.n == 0:
		return l.busy()
	case l.isMap():
		return fmt.Sprintf("%d leaves, %d switches above; %s of %s paths", len(l.load.heat.rows), len(l.load.heat.cols), l.theme.shades[4], thousands(int(l.load.heat.most)))
	}
	return fmt.Sprintf("%s, mean %s", count(l.n, "direction"), thousands(int(l.load.mean+0.5)))
}

func (l *loadPane) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case l.sc.why != "":
		return l.sc.why
	case l.busy() != "":
		return "counting the paths over each link: " + l.busy()
	case l.err != nil:
		return "the paths were not counted: " + l.err.Error()
	case !l.filt.empty():
		return l.noMatch("link")
	case l.isMap():
		return "there are no two layers of switches to draw a map of: b shows the list"
	}
	return "there are no links between switches: b shows all links"
}

func (l *loadPane) subject() subject {
	row, ok := l.selected()
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

func (l *loadPane) enter(m *model) (func() tea.Cmd, string) {
	s := l.subject()
	if s.node == fabric.None {
		return nil, "no link is selected"
	}
	return m.visitNode(placeIn(s.f, s.node, s.link)), ""
}

func (l *loadPane) hasHead() bool { return l.n > 0 }

// mapName is how many cells the names of the rows of a map have.
const mapName = 16

// columns is the first column of the map in so many cells, and how many there are a cell.
// As long as nobody has moved the map, all of it is there.
func (l *loadPane) columns(room int) (first, per int) {
	n := len(l.load.heat.cols)
	if l.aside == 0 || n <= room {
		return 0, max((n+room-1)/max(room, 1), 1)
	}
	return min(l.aside-sideStep, n-1), 1
}

// cell is the most paths over a link between a row and some columns, -1 where there is
// none; gone says that one has failed on paper.
func (l *loadPane) cell(row, from, to int) (paths int64, gone bool) {
	h := &l.load.heat
	cells := h.up
	if l.kind == loadDownwards {
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
func (l *loadPane) header(p *pen) {
	if !l.isMap() {
		l.table.header(p)
		return
	}
	h := &l.load.heat
	f := l.load.loads.Fabric
	room := p.left - mapName - 1
	first, per := l.columns(room)
	last := min(first+per*room, len(h.cols)) - 1
	if last < first {
		return
	}
	p.cell(p.dim, "", mapName)
	p.gap(1)
	text := fmt.Sprintf("%s %s %s", f.NodeName(f.Switches[h.cols[first]]), p.arrow, f.NodeName(f.Switches[h.cols[last]]))
	switch {
	case per > 1:
		text += fmt.Sprintf(", the busiest of %d a cell; the key Right shows each", per)
	case first > 0 || last < len(h.cols)-1:
		text += fmt.Sprintf(", %d to %d of %d", first+1, last+1, len(h.cols))
	}
	p.put(p.dim, text)
}

func (l *loadPane) draw(p *pen, line int) {
	if !l.isMap() {
		l.table.draw(p, line)
		return
	}
	h := &l.load.heat
	f := l.load.loads.Fabric
	row := l.row(line)
	p.cell("", f.NodeName(f.Switches[h.rows[row]]), mapName)
	p.gap(1)
	first, per := l.columns(p.left)
	for col := first; col < len(h.cols) && p.left > 0; col += per {
		if p.left == 1 && col+per < len(h.cols) {
			p.put(p.dim, p.ellipsis)
			return
		}
		x, gone := l.cell(row, col, min(col+per, len(h.cols)))
		switch {
		case gone:
			p.put(l.theme.bad, p.failed)
			continue
		case x < 0:
			p.gap(1)
			continue
		}
		i := 0
		if x > 0 {
			i = int(min(1+3*x/max(h.most, 1), 4))
		}
		st := l.theme.good
		switch {
		case float64(x) > 2*l.load.mean:
			st = l.theme.bad
		case float64(x) > 1.2*l.load.mean:
			st = l.theme.warn
		}
		p.put(st, p.shades[i])
	}
}
