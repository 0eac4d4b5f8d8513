// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
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
func newLoading(ctx context.Context, t *fabric.Tables, ix *pane.Index, progress func(done, total int)) (*loading, error) {
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

func newHeat(l *linkload.Loads, ix *pane.Index) heat {
	var h heat
	if len(ix.Tiers) < 2 {
		return h
	}
	f := l.Fabric
	h.rows, h.cols = ix.Tiers[0], ix.Tiers[1]
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

// links lists links by how many paths take them, or draws a map of them.
type links struct {
	pane.List
	load *loading
	// err is why there are no loads; stale says that those shown are of the tables before.
	err     error
	stale   bool
	loading pane.AsyncResult[*loading]
	// cut are the links of the map that have failed on paper, by row and column.
	cut map[int]bool
}

func New(c *pane.Common, t *draw.Theme) pane.Pane {
	l := &links{List: pane.List{Common: c}}
	l.Table = draw.Table{Theme: t, Kinds: []string{"links between switches", "all links", "heat map, upwards", "heat map, downwards"}}
	l.ID = func(row int) uint64 {
		if l.isMap() {
			return uint64(row)
		}
		f := l.load.loads.Fabric
		return pane.PlaceOf(f, f.Ports[l.port(row)].Node, l.port(row)).ID()
	}
	hidden := func() bool { return l.isMap() }
	name := func(p fabric.PortIndex) string { return l.load.loads.Fabric.PortName(p) }
	peer := func(row int) fabric.PortIndex { return l.load.loads.Fabric.Ports[l.port(row)].Peer }
	rank := func(p fabric.PortIndex) int64 {
		f := l.load.loads.Fabric
		return int64(l.Scene.Names.Rank[f.Ports[p].Node])<<8 | int64(f.Ports[p].Num)
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
		{Name: "link", Wide: 7, Right: true, Rank: 3, Hidden: hidden, Text: func(row int) string { s, _ := pane.LinkText(&l.load.loads.Fabric.Ports[l.port(row)]); return s },
			Order: func(row int) int64 { return int64(1000 * l.load.loads.Fabric.Ports[l.port(row)].Gbps()) }},
	}
	return l
}

func (l *links) isMap() bool { return l.Kind >= loadUpwards }

func (l *links) port(row int) fabric.PortIndex {
	if l.Kind == loadAll {
		return l.load.all[row]
	}
	return l.load.between[row]
}

func (l *links) ofMean(row int) string {
	if l.load.mean == 0 || linkload.ClassOf(l.load.loads.Fabric, l.port(row)) != linkload.BetweenSwitches {
		return ""
	}
	return fmt.Sprintf("%.2fx", float64(l.load.loads.Paths[l.port(row)])/l.load.mean)
}

func (l *links) look(row int) draw.Style {
	if linkload.ClassOf(l.load.loads.Fabric, l.port(row)) != linkload.BetweenSwitches || l.load.mean == 0 {
		return l.Theme.Dim
	}
	return l.Theme.Warmth(l.load.loads.Paths[l.port(row)], l.load.mean)
}

func (l *links) About() pane.About {
	return pane.About{Name: "Load", Short: "Load", Help: "how many paths take each link", Beside: "Trace"}
}

func (l *links) Show(sc *pane.Scene, changed bool) {
	l.Scene = sc
	if changed {
		l.Renew()
	}
}

// Seek counts the paths over each link.
func (l *links) Seek(s pane.Stage) tea.Cmd {
	t := l.Scene.Picture.Tables
	if t == nil || t.Fabric.MaxLID == 0 || !s.Visible && pane.EntriesOf(t) > pane.Quick {
		return nil
	}
	ix := l.Scene.Names
	return l.loading.Want(l.Common, t, func(ctx context.Context, progress func(int, int)) (*loading, error) {
		return newLoading(ctx, t, ix, progress)
	})
}

// Collect takes the loads, or why there are none, for all panes.
func (l *links) Collect() {
	x, t := l.loading.Value, l.Scene.Picture.Tables
	ready := x != nil && t != nil && l.loading.Ready(t)
	l.Loads = nil
	if x != nil {
		l.Counted = x.loads
	}
	if ready {
		l.Loads, l.Busiest = x.loads, int64(2*x.mean)
		if len(x.between) > 0 {
			l.Busiest = max(l.Busiest, x.loads.Paths[x.between[0]])
		}
	}
	stale := x != nil && !ready
	if l.load == x && l.err == l.loading.Err && l.stale == stale {
		return
	}
	l.Hold()
	l.load, l.err, l.stale = x, l.loading.Err, stale
	l.Renew()
}

func (l *links) WhyNotSort() string {
	if l.isMap() {
		return "a map is not sorted: b shows a list"
	}
	return l.List.WhyNotSort()
}

func (l *links) Sideways(by int) { l.Aside = max(l.Aside+by, 0) }

func (l *links) Renew() {
	l.Hold()
	switch {
	case l.load == nil || l.load.loads.Fabric != l.Scene.Picture.Fabric:
		l.Rebuild(0)
	case l.isMap():
		l.Match = func(row int) bool {
			f := l.load.loads.Fabric
			return l.Filt.Match(l.Scene.Names.Search[f.Switches[l.load.heat.rows[row]]])
		}
		l.findCut()
		l.Build(len(l.load.heat.rows))
	default:
		l.Match, l.Prepare = nil, nil
		var hits []bool
		l.Prepare = func() { hits = l.Filt.Hits(l.Scene.Names.Search) }
		l.Match = func(row int) bool {
			f := l.load.loads.Fabric
			p := l.port(row)
			return (hits[f.Ports[p].Node] || hits[f.PeerNode(p)]) != l.Filt.Invert
		}
		l.Build(len(map[bool][]fabric.PortIndex{true: l.load.all, false: l.load.between}[l.Kind == loadAll]))
	}
}

func (l *links) Title() string { return l.Kinds[l.Kind] }

func (l *links) Picture() *draw.Badge {
	if l.load == nil || l.Scene == nil {
		return nil
	}
	if l.stale {
		return &draw.Badge{St: l.Theme.Old, Line: l.Theme.OldLine, Frame: draw.FrameOld, Word: "OLD, being counted"}
	}
	return l.Scene.PictureBadge(l.Theme, l.Scene.Picture)
}

func (l *links) Figure() string {
	switch {
	case l.N == 0:
		return l.loading.Progress()
	case l.isMap():
		return fmt.Sprintf("%d leaves, %d switches above; %s of %s paths", len(l.load.heat.rows), len(l.load.heat.cols), l.Theme.Shades[4], draw.Thousands(int(l.load.heat.most)))
	}
	return fmt.Sprintf("%s, mean %s", draw.Count(l.N, "direction"), draw.Thousands(int(l.load.mean+0.5)))
}

func (l *links) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case l.Scene.Why != "":
		return l.Scene.Why
	case l.loading.Progress() != "":
		return "counting the paths over each link: " + l.loading.Progress()
	case l.err != nil:
		return "the paths were not counted: " + l.err.Error()
	case !l.Filt.Empty():
		return l.NoMatch("link")
	case l.isMap():
		return "there are no two layers of switches to draw a map of: b shows the list"
	}
	return "there are no links between switches: b shows all links"
}

func (l *links) Subject() pane.Subject {
	row, ok := l.Selected()
	if !ok {
		return pane.Nothing
	}
	f := l.load.loads.Fabric
	if l.isMap() {
		s := pane.Nothing
		s.Fabric, s.Node = f, f.Switches[l.load.heat.rows[row]]
		return s
	}
	p := l.port(row)
	return pane.Subject{Fabric: f, Node: f.Ports[p].Node, Port: fabric.None, Link: p, Via: fabric.None}
}

func (l *links) Enter() (func() tea.Msg, string) {
	s := l.Subject()
	if s.Node == fabric.None {
		return nil, "no link is selected"
	}
	return s.GoTo, ""
}

func (l *links) HasHead() bool { return l.N > 0 }

// mapStep is how many columns a key moves the map.
const mapStep = 8

// mapName is how many cells the names of the rows of a map have.
const mapName = 16

// columns is the first column of the map in so many cells, and how many there are a cell.
// As long as nobody has moved the map, all of it is there.
func (l *links) columns(room int) (first, per int) {
	n := len(l.load.heat.cols)
	if l.Aside == 0 || n <= room {
		return 0, max((n+room-1)/max(room, 1), 1)
	}
	return min(l.Aside-mapStep, n-1), 1
}

// cell is the most paths over a link between a row and some columns, -1 where there is
// none; gone says that one has failed on paper.
func (l *links) cell(row, from, to int) (paths int64, gone bool) {
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
func (l *links) findCut() {
	l.cut = map[int]bool{}
	h := &l.load.heat
	f := l.load.loads.Fabric
	rows, cols := placesOf(f, h.rows), placesOf(f, h.cols)
	for link := range l.Scene.Gone() {
		for _, ends := range [2][2]fabric.PortIndex{{link.A, link.B}, {link.B, link.A}} {
			row, low := rows[l.Scene.Top.Fabric.Nodes[l.Scene.Top.Fabric.Ports[ends[0]].Node].GUID]
			col, high := cols[l.Scene.Top.Fabric.Nodes[l.Scene.Top.Fabric.Ports[ends[1]].Node].GUID]
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
func (l *links) Header(p *draw.Pen) {
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

func (l *links) Draw(p *draw.Pen, line int) {
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
