// SPDX-License-Identifier: Apache-2.0

// Package topology shows the switches as a tree with the nodes attached to them.
package topology

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// topology is the tree of switches, arranged by their distance from the hosts. Below each switch are its hosts and
// links. (The tree of lipgloss draws all rows. This tree draws only the visible ones of up to 50,000 rows.)
type topology struct {
	pane.List
	rows []treeRow
	hits []bool // nodes that match the filter
	// The field open is the set of switches whose ports are shown. The field shut is the set of tiers whose switches
	// are hidden.
	open map[uint64]bool
	shut map[int32]bool
	// The field shown is the switch that was selected last. If back is set, the cursor returns to this switch.
	shown  pane.Place
	back   bool
	groups []treeGroup // replace tiers in other views
}

// treeGroup is a group of switches.
type treeGroup struct {
	name     string
	switches []fabric.SwitchIndex
}

// The views of the pane.
const (
	treeByRank = iota
	treeBySystem
	treeByName
	treeByPart
)

// treeRow is one line of the tree.
type treeRow struct {
	kind       rowKind
	node       fabric.NodeIndex // the switch, or the node on no switch
	port, last fabric.PortIndex // a port of the switch; of idle ports the first and the last
	tier       int32            // of a heading
}

type rowKind uint8

const (
	rowTier rowKind = iota
	rowSwitch
	rowPort  // a port with a link
	rowIdle  // ports without a link
	rowLoose // a node on no switch
)

// The headings that are no tiers.
const (
	// The headings that are not tiers.
	tierOutside int32 = -1 - iota
	tierLoose
)

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[any]{Name: "Topology", New: func(c *pane.Common, _ any) pane.Pane { return New(c) }}

// New makes the pane.
func New(c *pane.Common) pane.Pane {
	l := &topology{open: map[uint64]bool{}, shut: map[int32]bool{}}
	l.List = pane.NewList(c, pane.About{Name: "Topology", Fixed: true, Seat: pane.SeatHome, Companion: "LFT"},
		draw.Table{Kinds: []string{"by rank", "by chassis", "by name", "by pod, plane, rail or group"}, ID: l.rowID,
			MakeRows: func() {
				l.Renew()
			}}, l.Renew)
	l.Cols = l.treeColumns()
	return l
}

func (t *topology) rowID(row int) uint64 {
	r := &t.rows[row]
	if r.kind == rowTier {
		return 1<<63 | uint64(uint32(r.tier))
	}
	return pane.PlaceOf(t.Scene.Top.Fabric, r.node, r.port).ID()
}

func (t *topology) hit(node fabric.NodeIndex) bool { return t.hits[node] != t.Filt.Invert }

// Show accepts a new scene. The cursor stays on the same object.
func (t *topology) Show(sc *pane.Scene, changed bool) {
	if !changed {
		t.Scene = sc
		return
	}
	at, ok := t.here()
	first := t.Scene == nil || len(t.Scene.Top.Fabric.Nodes) == 0
	t.Scene = sc
	t.grow()
	if ok {
		t.findPlace(at)
	}
	if first {
		t.first()
	}
}

func (t *topology) Renew() {
	at, ok := t.here()
	t.grow()
	switch {
	case ok:
		t.findPlace(at)
	case t.back:
		t.findPlace(t.shown)
	}
	t.back = false
	t.firstMatch()
}

func (t *topology) Leaving() { t.back = true }

// Pointed returns the selected switch, or the switch that was selected last.
func (t *topology) Pointed() pane.Place {
	if node := t.switchShown(); node != fabric.None {
		t.shown = pane.PlaceOf(t.Scene.Top.Fabric, node, fabric.None)
	}
	return t.shown
}

func (t *topology) Update(msg tea.Msg) {
	switch msg := msg.(type) {
	case pane.Visit:
		t.visitPort(msg.At)
	case pane.Follow:
		if node, _ := pane.PlaceOf(msg.Fabric, msg.Node, fabric.None).In(t.Scene.Top.Fabric); node != fabric.None {
			t.visit(node)
		}
	}
}

func (t *topology) Sideways(by int) { t.unfold(by < 0) }

func (t *topology) here() (pane.Place, bool) {
	if t.Cursor >= len(t.rows) {
		return pane.Place{}, false
	}
	r := t.rows[t.Cursor]
	if r.kind == rowTier {
		return pane.Place{}, false
	}
	return pane.PlaceOf(t.Scene.Top.Fabric, r.node, r.port), true
}

// switchShown returns the switch to which the selected row belongs. It returns None for a heading, or for a node that
// is attached to no switch.
func (t *topology) switchShown() fabric.NodeIndex {
	if t.Scene == nil || t.Cursor >= len(t.rows) {
		return fabric.None
	}
	switch r := t.rows[t.Cursor]; r.kind {
	case rowSwitch, rowPort, rowIdle:
		return r.node
	}
	return fabric.None
}

func (t *topology) Subject() pane.Subject {
	if t.Scene == nil || t.Cursor >= len(t.rows) {
		return pane.Nothing
	}
	r := t.rows[t.Cursor]
	f := t.Scene.Top.Fabric
	s := pane.Subject{Fabric: f, Node: r.node, Port: fabric.None, Link: fabric.None, Via: fabric.None}
	switch r.kind {
	case rowTier:
		s = pane.Nothing
		s.Fabric, s.System = f, t.director()
	case rowIdle:
		s.Link = r.port
	case rowPort:
		peer := f.Ports[r.port].Peer
		s.Node, s.Port, s.Via = f.Ports[peer].Node, peer, r.port
		if f.Nodes[s.Node].IsSwitch() {
			s.Link = r.port
		}
	}
	return s
}

func (t *topology) Title() string {
	if t.Kind == treeByRank {
		return ""
	}
	return t.Kinds[t.Kind]
}

func (t *topology) StateBadge() *draw.Badge {
	if t.Scene == nil || len(t.Scene.Top.Fabric.Nodes) == 0 {
		return nil
	}
	b := t.Scene.FabricBadge(t.Theme)
	return &b
}

func (t *topology) Spot() (pane.Place, string) {
	at, _ := t.here()
	if node, _ := at.In(t.Scene.Top.Fabric); node != fabric.None {
		return at, t.Scene.Top.Fabric.NodeName(node)
	}
	return at, ""
}

func (t *topology) Figure() string {
	if t.Scene == nil {
		return ""
	}
	if !t.Filt.Empty() {
		return prose.Count(len(t.rows), "row")
	}
	return fmt.Sprintf("%s, %s", prose.Count(t.Scene.Top.Switches, "switch"), prose.Count(t.Scene.Top.Hosts, "host"))
}

func (t *topology) Empty() string {
	switch {
	case !t.Filt.Empty():
		return t.NoMatch("switch or host")
	case t.Scene == nil:
		return ""
	}
	return t.Scene.WhyNoSubnet()
}

func (t *topology) Enter() (func() tea.Msg, string) {
	if len(t.rows) == 0 {
		return nil, "nothing is selected"
	}
	s := t.Subject()
	switch {
	case s.Link != fabric.None && s.Node != t.switchShown():
		return func() tea.Msg { return pane.Follow{Fabric: s.Fabric, Node: s.Node} }, ""
	case s.Port != fabric.None:
		return func() tea.Msg {
			return pane.Several{pane.Open{Name: "LFT"}, pane.FindLID{LID: t.Scene.LID(s.Port)}}
		}, ""
	}
	return func() tea.Msg {
		t.toggle()
		return nil
	}, ""
}
