// SPDX-License-Identifier: Apache-2.0

// Package load shows the number of paths over each link.
package load

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// The views of the pane.
const (
	loadHottest = iota
	loadAll
	loadUpwards
	loadDownwards
	usedUpwards
	usedDownwards
)

// links lists links with the number of paths over them, or draws a map of the links.
type links struct {
	pane.List
	load *loading
	// err is the reason why there are no loads. The field stale is set if the loads belong to the previous tables.
	err     error
	stale   bool
	loading pane.AsyncResult[*loading]
	// counting computes the number of paths over links in the other state of the event.
	counting pane.AsyncResult[*linkload.Loads]
	used     used
	sketch   sketch
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[any]{Name: "Load", New: func(c *pane.Common, _ any) pane.Pane { return New(c) }}

// New makes the pane.
func New(c *pane.Common) pane.Pane {
	l := &links{}
	t := c.Look
	l.List = pane.NewList(c, pane.About{Name: "Load", Companion: "Trace"},
		draw.Table{Kinds: []string{"links between switches", "all links", "heat map, upwards", "heat map, downwards",
			"heat map of use, upwards", "heat map of use, downwards"}}, l.Renew)
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
		{Name: "from", Help: "port from which packets leave",
			Least: leastName, Hidden: hidden, Text: func(row int) string {
				return name(l.port(row))
			}, Order: func(row int) int64 { return rank(l.port(row)) }},
		{Name: "to", Help: "port at the other end of the link",
			Least: leastName, Hidden: hidden, Text: func(row int) string {
				return name(peer(row))
			}, Order: func(row int) int64 { return rank(peer(row)) }},
		{Name: "paths", Help: "paths over the link, all end ports to all others, by the tables of the state shown",
			Wide: 9, Right: true, Hidden: hidden, Text: func(row int) string {
				return pane.PathsText(l.load.loads, l.port(row))
			}, Order: paths},
		l.otherColumn(),
		{Name: "load", Help: "paths over the link, compared with the busiest link",
			Wide: 12, Rank: 1, Hidden: hidden, Drawn: true, Text: func(row int) string {
				return t.Bar(int(paths(row)), int(l.load.most), 12)
			},
			Look: l.look, Order: paths},
		{Name: "of limit", Help: "paths over the link, divided by its limit: the paths at which it is as busy as the " +
			"links of hosts, or its even share among the links of its tier",
			Wide: 8, Right: true, Hidden: hidden, Text: l.ofLimit, Order: func(row int) int64 {
				v, _ := l.load.loads.OfLimit(l.load.limits, l.port(row))
				return int64(1e6 * v)
			}, Look: l.look},
		{Name: "LIDs", Help: "number of destination LIDs",
			Wide: 6, Right: true, Rank: 3, Hidden: hidden, Order: func(row int) int64 {
				return int64(l.load.loads.Destinations[l.port(row)])
			}},
		{Name: "link", Help: "active width and speed, for example 4xHDR",
			Wide: 7, Right: true, Rank: 3, Hidden: hidden, Text: func(row int) string {
				s, _ := pane.LinkText(&l.load.loads.Fabric.Ports[l.port(row)])
				return s
			},
			Order: func(row int) int64 { return int64(1000 * l.load.loads.Fabric.Ports[l.port(row)].Gbps()) }},
		{Name: "used", Help: "share of the data rate used in the last hour, as recorded: measured, where paths are " +
			"computed from the tables",
			Wide: 5, Right: true, Rank: 2, Hidden: func() bool { return hidden() || l.Scene.Recent() == nil },
			Text:  func(row int) string { _, text := l.Scene.RecentUse(l.load.loads.Fabric, l.port(row)); return text },
			Order: func(row int) int64 { n, _ := l.Scene.RecentUse(l.load.loads.Fabric, l.port(row)); return n }},
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

// ofLimit returns the paths over a link, divided by the limit of the link.
func (l *links) ofLimit(row int) string {
	v, known := l.load.loads.OfLimit(l.load.limits, l.port(row))
	return prose.When(known, draw.Times(v), "?")
}

func (l *links) look(row int) draw.Style {
	v, known := l.load.loads.OfLimit(l.load.limits, l.port(row))
	if !known || linkload.ClassOf(l.load.loads.Fabric, l.port(row)) != linkload.BetweenSwitches {
		return l.Theme.Dim
	}
	return pane.LoadScale.Style(l.Theme, v)
}

// Seek counts the paths over each link.
func (l *links) Seek(s pane.Stage) tea.Cmd {
	t := l.Scene.Picture.Tables
	if t == nil || t.Fabric.MaxLID == 0 || !s.Visible && pane.EntriesOf(t) > pane.Quick {
		return nil
	}
	ix := l.Scene.Names
	return tea.Batch(l.seekOther(),
		l.loading.Start(l.Common, t, func(ctx context.Context, progress func(int, int)) (*loading, error) {
			loads, err := l.Memo.Load(ctx, t, linkload.Options{Progress: progress})
			if err != nil {
				return nil, err
			}
			return newLoading(loads, ix), nil
		}))
}

// Collect accepts the computed loads, or the reason why there are none.
func (l *links) Collect() {
	x, t := l.loading.Value, l.Scene.Picture.Tables
	ready := x != nil && t != nil && l.loading.Ready(t)
	stale := x != nil && !ready
	if l.load == x && l.err == l.loading.Err && l.stale == stale && (!l.showsUse() || l.used.of == l.Scene.Recent()) {
		return
	}
	l.KeepRow()
	l.load, l.err, l.stale = x, l.loading.Err, stale
	l.measureNames()
	l.Renew()
}

// The width of the columns of ports, and the number of rows from which it is determined.
const leastName, mostName, measured = 14, 20, 500

// measureNames makes the columns of ports wide enough for their names: names are more important than bars.
func (l *links) measureNames() {
	wide := leastName
	if l.load != nil {
		for _, p := range l.load.between[:min(len(l.load.between), measured)] {
			wide = max(wide, draw.Width(l.load.loads.Fabric.PortName(p)))
		}
	}
	l.Cols[0].Least, l.Cols[1].Least = min(wide, mostName), min(wide, mostName)
}

func (l *links) WhyNotSort() string {
	if l.isMap() {
		return "a map cannot be sorted: b shows a list"
	}
	return l.List.WhyNotSort()
}

func (l *links) Sideways(by int) { l.Offset = max(l.Offset+by, 0) }

// KeepRow remembers the selected row. In the first line nobody has selected one, so that the busiest link is selected.
func (l *links) KeepRow() {
	if l.Cursor > 0 {
		l.List.KeepRow()
	}
}

func (l *links) Renew() {
	l.KeepRow()
	l.Cols[otherAt].Name = l.Scene.OtherColumn()
	switch {
	case l.load == nil || l.load.loads.Fabric != l.Scene.Picture.Fabric:
		l.Rebuild(0)
	case l.isMap():
		l.measure()
		l.Match = func(row int) bool {
			sw := l.heat().rows[row].sw()
			if sw == fabric.None {
				return l.Filt.Empty()
			}
			return l.Filt.Match(l.Scene.Names.Search[l.load.loads.Fabric.Switches[sw]])
		}
		l.findCut()
		l.Build(len(l.heat().rows))
	default:
		l.findCut()
		hits := func(n fabric.NodeIndex) bool { return l.Filt.Hit(l.Scene.Names.Search[n]) }
		l.Match = func(row int) bool {
			f := l.load.loads.Fabric
			p := l.port(row)
			return (hits(f.Ports[p].Node) || hits(f.PeerNode(p))) != l.Filt.Invert
		}
		l.Build(len(map[bool][]fabric.PortIndex{true: l.load.all, false: l.load.between}[l.Kind == loadAll]))
	}
}

func (l *links) Title() string { return l.Kinds[l.Kind] }

func (l *links) StateBadge() *draw.Badge {
	if l.load == nil || l.Scene == nil {
		return nil
	}
	if l.stale {
		b := pane.PastBadge(l.Theme, "OUTDATED, counting")
		return &b
	}
	return l.SceneBadge(true)
}

func (l *links) Figure() string {
	switch {
	case l.N == 0:
		return l.loading.Progress()
	case l.showsUse():
		return fmt.Sprintf("%s; at most %s used", l.heat().sizes(), draw.Percent(float64(l.heat().most)/1000))
	case l.isMap():
		return fmt.Sprintf("%s; at most %s of limit", l.heat().sizes(), draw.Times(float64(l.heat().most)/1000))
	}
	text := prose.Count(l.N, "direction")
	if hosts := l.load.hosts; hosts[1] > 0 && l.Kind == loadHottest {
		text += "; links of hosts: " + prose.When(hosts[0] == hosts[1], "", prose.Thousands(int(hosts[0]))+" to ") +
			prose.Thousands(int(hosts[1])) + " paths each"
	}
	return text
}

func (l *links) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case l.Scene.WhyNoTables != "":
		return l.Scene.WhyNoTables
	case l.loading.Progress() != "":
		return "counting the paths over each link: " + l.loading.Progress()
	case l.err != nil:
		return "the paths were not counted: " + l.err.Error()
	case !l.Filt.Empty():
		return l.NoMatch("link")
	case l.showsUse() && l.Scene.Recent() == nil:
		return "nothing was recorded in the hour before the state shown: record start begins it, K shows it"
	case l.isMap():
		return "there are too few or too many switches to draw a map of: b shows the list"
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
		if sw := l.heat().rows[row].sw(); sw != fabric.None {
			s.Fabric, s.Node = f, f.Switches[sw]
		}
		return s
	}
	p := l.port(row)
	return pane.Subject{Fabric: f, Node: f.Ports[p].Node, Port: fabric.None, Link: p, Via: fabric.None}
}

func (l *links) Enter() (func() tea.Msg, string) {
	return l.GoTo(l.Subject(), "no link is selected", "no link is selected")
}

func (l *links) HasHead() bool { return l.N > 0 }

// loading holds the data that the pane shows. It is computed in the background.
type loading struct {
	loads *linkload.Loads
	// The field between holds the ports of links between switches, and the field all holds the ports of all links. Both
	// are sorted by paths, the most first.
	between, all []fabric.PortIndex
	limits       linkload.Limits
	hosts        [2]int64 // the fewest and most paths over a link of a host
	most         int64    // of any link
	heat         heat
}

// newLoading sorts the links by their number of paths. It takes O(links log links) time.
func newLoading(l *linkload.Loads, ix *pane.Index) *loading {
	r := &loading{loads: l, limits: l.Limits(ix.Heights(l.Fabric)), hosts: [2]int64{math.MaxInt64, 0}}
	for i := range l.Fabric.Ports {
		p := fabric.PortIndex(i)
		switch linkload.ClassOf(l.Fabric, p) {
		case linkload.None:
			continue
		case linkload.BetweenSwitches:
			r.between = append(r.between, p)
		default:
			r.hosts = [2]int64{min(r.hosts[0], l.Paths[p]), max(r.hosts[1], l.Paths[p])}
		}
		r.all = append(r.all, p)
		r.most = max(r.most, l.Paths[p])
	}
	for _, list := range [][]fabric.PortIndex{r.between, r.all} {
		slices.SortStableFunc(list, func(a, b fabric.PortIndex) int { return cmp.Compare(l.Paths[b], l.Paths[a]) })
	}
	r.heat = newHeat(l.Fabric, func(p fabric.PortIndex) int64 {
		if v, known := l.OfLimit(r.limits, p); known {
			return int64(1000*v + 0.5)
		}
		return notRead
	}, &pane.LoadScale, ix)
	return r
}
