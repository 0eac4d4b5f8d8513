// SPDX-License-Identifier: Apache-2.0

// Package lft shows the forwarding table of the selected switch.
package lft

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// The views of the pane.
const (
	lftByLID = iota
	lftByPort
)

// lft shows the forwarding table of the switch that is selected in the topology pane.
type lft struct {
	pane.List
	// place is the switch. The field sw is its index in the state shown, or None if this state does not contain the
	// switch.
	place pane.Place
	sw    fabric.SwitchIndex
	// lids are the rows: LIDs that have an entry or an owner in the subnet. In the view by port, the rows are ports,
	// and count is the number of LIDs of each port.
	lids    []uint16
	ports   []uint8
	count   [256]int
	most    int
	was     func(lid uint16) uint8 // the entries of the switch in the state compared with, nil without one
	changes int

	changedOnly bool
	want        uint16 // the LID to select once a switch is shown, 0 for none

	hopped hopCounts // to sort by
	hops   pane.AsyncResult[hopCounts]

	portHits [256]bool // for the filter: whether the next hop matches
	number   int
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[any]{Name: "LFT", New: func(c *pane.Common, _ any) pane.Pane { return New(c) }}

// New makes the pane.
func New(c *pane.Common) pane.Pane {
	l := &lft{sw: fabric.None}
	l.List = pane.NewList(c, pane.About{Name: "LFT", Seat: pane.SeatMain, Enter: "next hop"},
		draw.Table{Kinds: []string{"by LID", "by port"}}, l.Renew)
	l.ID = func(row int) uint64 {
		if l.Kind == lftByPort {
			return 1<<32 | uint64(l.ports[row])
		}
		return uint64(l.lids[row])
	}
	l.Match, l.Prepare = l.passes, l.prepareFilter
	l.Cols = append(l.lidColumns(), l.portColumns()...)
	return l
}

// Show accepts a new scene. The cursor stays on the same LID.
func (l *lft) Show(sc *pane.Scene, changed bool) {
	l.Scene = sc
	if changed {
		l.showSwitch(l.place)
	}
}

// Follow shows the table of a switch.
func (l *lft) Follow(at pane.Place) {
	if at != l.place {
		l.showSwitch(at)
	}
	if l.want > 0 {
		l.findLID(l.want)
		l.want = 0
	}
}

func (l *lft) Update(msg tea.Msg) {
	switch msg := msg.(type) {
	case pane.Follow:
		if l.want = msg.LID; l.want == 0 {
			l.want, _ = l.lid()
		}
	case pane.FindLID:
		l.findLID(msg.LID)
	}
}

func (l *lft) Actions() []pane.Action {
	return []pane.Action{{
		Name: "changed", Binding: pane.On("show only changed entries, or all", "o"), Group: "Lists", After: "by",
		Label: "changed", Rank: 11, Own: true, Why: l.whyNotChanged,
		Do: func() tea.Msg {
			l.changedOnly = !l.changedOnly
			l.Renew()
			return nil
		},
	}}
}

func (l *lft) showSwitch(at pane.Place) {
	sc := l.Scene
	lid, ok := l.lid()
	moved := at != l.place
	if moved {
		l.Marks = nil
	}
	l.place = at
	l.sw = fabric.None
	if node, _ := at.In(sc.Picture.Fabric); node != fabric.None {
		l.sw = sc.Picture.Fabric.Nodes[node].Switch
	}
	l.widen()
	l.Renew()
	if ok && (!moved || l.Filt.Empty()) {
		l.findLID(lid)
	}
}

func (l *lft) lid() (uint16, bool) {
	row, ok := l.Selected()
	if !ok || l.Kind == lftByPort || row >= len(l.lids) {
		return 0, false
	}
	return l.lids[row], true
}

// findLID selects the row of a LID, or that of the next higher LID.
func (l *lft) findLID(lid uint16) {
	best, line := -1, 0
	for i, row := range l.Order {
		if l.Kind == lftByPort {
			return
		}
		if at := int(l.lids[row]); at >= int(lid) && (best < 0 || at < best) {
			best, line = at, i
		}
	}
	l.Reveal(line)
}

func (l *lft) tables() *fabric.Tables {
	if l.Scene == nil || l.sw == fabric.None {
		return nil
	}
	return l.Scene.Picture.Tables
}

func (l *lft) Spot() (pane.Place, string) {
	if node, _ := l.place.In(l.Scene.Top.Fabric); node != fabric.None {
		return l.place, "LFT " + l.Scene.Top.Fabric.NodeName(node)
	}
	return l.place, ""
}

func (l *lft) FileName() string {
	if l.sw == fabric.None {
		return ""
	}
	return l.Scene.Picture.Fabric.NodeName(l.Scene.Picture.Fabric.Switches[l.sw])
}

func (l *lft) Title() string {
	if l.sw == fabric.None {
		return ""
	}
	f := l.Scene.Picture.Fabric
	return fmt.Sprintf("of %s  LID %s", f.NodeName(f.Switches[l.sw]), pane.LidText(f.SwitchLID(l.sw)))
}

func (l *lft) StateBadge() *draw.Badge { return l.SceneBadge(l.tables() != nil) }

func (l *lft) Figure() string {
	switch {
	case l.tables() == nil:
		return ""
	case l.Kind == lftByPort:
		return fmt.Sprintf("%s, %s", prose.Count(len(l.lids), "LID"), prose.Count(l.N, "port"))
	case l.changedOnly && l.was != nil:
		return fmt.Sprintf("%s changed against %s", prose.Thousands(l.changes), l.Scene.Base.Kind)
	case l.was != nil:
		return fmt.Sprintf("%s, %s changed against %s", prose.Count(l.N, "LID"), prose.Thousands(l.changes),
			l.Scene.Base.Kind)
	}
	return prose.Count(l.N, "LID")
}

func (l *lft) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case l.Scene.WhyNoTables != "":
		return l.Scene.WhyNoTables
	case l.place.None():
		return "select a switch in the topology: press 2"
	case l.sw == fabric.None:
		return "this state has no such switch: v shows another state"
	case !l.Scene.Picture.Fabric.SwitchNode(l.sw).InSubnet:
		return "this switch does not belong to the subnet in this state: v shows another state"
	case !l.Scene.Picture.Tables.Known[l.sw]:
		return "the table of this switch was not read: R reads the subnet"
	case l.changedOnly && l.was == nil:
		return "nothing to compare with: o shows all entries"
	case l.changedOnly && l.Filt.Empty():
		return fmt.Sprintf("no entry differs from %s: o shows all", l.Scene.Base.Kind)
	case !l.Filt.Empty():
		return l.NoMatch("entry")
	}
	return "the table is empty: r computes routes"
}

// whyNotChanged returns the reason why the pane cannot show only changed rows, or "" if it can.
func (l *lft) whyNotChanged() string {
	if l.changedOnly || l.was != nil {
		return ""
	}
	if l.Scene.Picture.Kind == session.Live || l.Scene.Picture.Kind == session.Base {
		return fmt.Sprintf("%s is not compared with another state: r computes routes", l.Scene.Picture.Kind)
	}
	return "there are no tables to compare with"
}

func (l *lft) Subject() pane.Subject {
	row, ok := l.Selected()
	if !ok {
		return pane.Nothing
	}
	f := l.Scene.Picture.Fabric
	if l.Kind == lftByPort {
		s := pane.Subject{Fabric: f, Node: f.Switches[l.sw], Port: fabric.None, Link: l.out(l.ports[row]),
			Via: fabric.None}
		if s.Link != fabric.None && f.Ports[s.Link].Num == 0 {
			s.Link = fabric.None
		}
		return s
	}
	s := pane.Subject{Fabric: f, Node: fabric.None, Port: f.PortByLID(l.lids[row]), Link: l.out(l.entry(row)),
		Via: fabric.None}
	if s.Port != fabric.None {
		s.Node = f.Ports[s.Port].Node
	}
	if s.Link != fabric.None && f.Ports[s.Link].Num == 0 {
		s.Link = fabric.None
	}
	return s
}

// The method next returns the node to which the switch sends packets of the selected row, or None.
func (l *lft) next() fabric.NodeIndex {
	row, ok := l.Selected()
	if !ok {
		return fabric.None
	}
	var entry uint8
	if l.Kind == lftByPort {
		entry = l.ports[row]
	} else {
		entry = l.entry(row)
	}
	out := l.out(entry)
	if out == fabric.None || entry == 0 {
		return fabric.None
	}
	return l.Scene.Picture.Fabric.PeerNode(out)
}

func (l *lft) Enter() (func() tea.Msg, string) {
	next := l.next()
	if next == fabric.None {
		return nil, "the selected entry leads to no other node"
	}
	return func() tea.Msg { return pane.Follow{Fabric: l.Scene.Picture.Fabric, Node: next} }, ""
}
