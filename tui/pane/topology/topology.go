// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// topology is the tree of switches by their distance from the hosts, with the
// hosts and links of each below it.
type topology struct {
	pane.List
	rows []treeRow
	hits []bool // nodes that the filter hits
	// open holds the switches that show their ports, shut the tiers that do not
	// show their switches.
	open map[uint64]bool
	shut map[int32]bool
	// shown is the switch that was selected last; back says to go to it.
	shown pane.Place
	back  bool
	// groups are what the switches stand under when it is not their distance from
	// the hosts.
	groups []treeGroup
}

// treeGroup is switches with something in common.
type treeGroup struct {
	name     string
	switches []fabric.SwitchIndex
}

// The manners in which the topology is shown.
const (
	treeByRank = iota
	treeBySystem
	treeByName
)

// treeRow is one line of the tree.
type treeRow struct {
	kind rowKind
	// node is the switch; of a loose node the node.
	node fabric.NodeIndex
	// port is a port of the switch; of idle ports the first, up to last.
	port, last fabric.PortIndex
	// tier is that of a heading.
	tier int32
}

type rowKind uint8

const (
	rowTier rowKind = iota
	rowSwitch
	rowPort  // a port with a link
	rowIdle  // ports without
	rowLoose // a node on no switch
)

// The headings that are no tiers.
const (
	tierOutside int32 = -1 - iota
	tierLoose
)

func New(c *pane.Common, t *draw.Theme) pane.Pane {
	l := &topology{List: pane.List{Common: c}, open: map[uint64]bool{}, shut: map[int32]bool{}}
	l.Table = draw.Table{Theme: t, Kinds: []string{"by rank", "by system", "by name"}, ID: l.rowID, Regrow: func() { l.Renew() }}
	l.Cols = l.treeColumns()
	return l
}

// rowID tells rows apart.
func (t *topology) rowID(row int) uint64 {
	r := &t.rows[row]
	if r.kind == rowTier {
		return 1<<63 | uint64(uint32(r.tier))
	}
	return pane.PlaceOf(t.Scene.Top.Fabric, r.node, r.port).ID()
}

func (t *topology) hit(node fabric.NodeIndex) bool { return t.hits[node] != t.Filt.Invert }

func (t *topology) About() pane.About {
	return pane.About{Name: "Topology", Short: "Topo", Help: "switches, and hosts below them", Seat: pane.SeatHome, Beside: "LFT"}
}

// Show takes a new scene and stays on the row of the same thing.
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

// Pointed is the switch that is selected, or was last.
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

// here is the place of the selected row.
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

// findPlace selects the row of a place, or that of its node.
func (t *topology) findPlace(at pane.Place) {
	f := t.Scene.Top.Fabric
	node, port := at.In(f)
	found := -1
	for i, r := range t.rows {
		if r.node != node || r.kind == rowTier {
			continue
		}
		if found < 0 || at.Port > 0 && r.port != fabric.None && port >= r.port && port <= max(r.last, r.port) {
			found = i
		}
	}
	if found >= 0 {
		t.Reveal(found)
	}
}

// visit opens the tree down to a node, a host below its switch, and selects it.
func (t *topology) visit(node fabric.NodeIndex) {
	f := t.Scene.Top.Fabric
	at := pane.PlaceOf(f, node, fabric.None)
	if !f.Nodes[node].IsSwitch() {
		peer := f.Ports[pane.FirstLinked(f, node)].Peer
		if peer != fabric.None && f.Nodes[f.Ports[peer].Node].IsSwitch() {
			at = pane.PlaceOf(f, f.Ports[peer].Node, peer)
			t.open[at.GUID] = true
		}
	}
	t.unhide()
	t.findPlace(at)
}

// visitPort is visit, and selects a port of a switch where one is meant.
func (t *topology) visitPort(at pane.Place) {
	f := t.Scene.Top.Fabric
	node, port := at.In(f)
	switch {
	case node == fabric.None:
	case f.Nodes[node].IsSwitch() && at.Port > 0 && port != fabric.None:
		t.open[at.GUID] = true
		t.unhide()
		t.findPlace(at)
	default:
		t.visit(node)
	}
}

// unhide shows all switches.
func (t *topology) unhide() {
	clear(t.shut)
	t.Filt = draw.Filter{}
	t.grow()
}

// grow makes the rows.
func (t *topology) grow() {
	t.rows = t.rows[:0]
	ix := t.Scene.Top
	if !t.Filt.Empty() {
		t.hits = t.Filt.Hits(ix.Search)
	}
	t.groups = nil
	switch t.Kind {
	case treeBySystem:
		t.groups = bySystem(ix)
	case treeByName:
		t.groups = byPattern(ix)
	}
	if t.groups != nil {
		for i, g := range t.groups {
			t.addTier(int32(i), g.switches)
		}
	} else {
		for tier := int32(len(ix.Tiers)) - 1; tier >= 0; tier-- {
			t.addTier(tier, ix.Tiers[tier])
		}
	}
	t.addTier(tierOutside, ix.Outside)
	t.addLoose(ix.Loose)
	t.Size = len(t.rows)
	t.Order = slices.Grow(t.Order[:0], t.Size)[:t.Size]
	for i := range t.Order {
		t.Order[i] = int32(i)
	}
	t.Window.Resize(len(t.rows), t.Height)
}

func (t *topology) addTier(tier int32, switches []fabric.SwitchIndex) {
	head := len(t.rows)
	t.add(treeRow{kind: rowTier, tier: tier, node: fabric.None, port: fabric.None})
	if t.shut[tier] && t.Filt.Empty() {
		if len(switches) == 0 {
			t.rows = t.rows[:head]
		}
		return
	}
	for _, s := range t.sortSwitches(switches) {
		t.addSwitch(t.Scene.Top.Fabric.Switches[s])
	}
	if len(t.rows) == head+1 {
		t.rows = t.rows[:head]
	}
}

func (t *topology) addSwitch(node fabric.NodeIndex) {
	ix := t.Scene.Top
	n := &ix.Fabric.Nodes[node]
	row := treeRow{kind: rowSwitch, node: node, port: fabric.None}
	if t.Filt.Empty() || t.hit(node) {
		t.add(row)
		if t.open[n.GUID] {
			t.addPorts(n, func(treeRow) bool { return true })
		}
		return
	}
	head := len(t.rows)
	t.add(row)
	t.addPorts(n, func(r treeRow) bool {
		peer := ix.Fabric.PeerNode(r.port)
		return r.kind == rowPort && !ix.Fabric.Nodes[peer].IsSwitch() && t.hit(peer)
	})
	if len(t.rows) == head+1 {
		t.rows = t.rows[:head]
	}
}

// addPorts adds the ports of a switch, those without link that stand together as
// one row.
func (t *topology) addPorts(n *fabric.Node, want func(treeRow) bool) {
	f := t.Scene.Top.Fabric
	node := f.Ports[n.FirstPort].Node
	for p := n.FirstPort + 1; p <= n.FirstPort+fabric.PortIndex(n.NumPorts); p++ {
		r := treeRow{kind: rowPort, node: node, port: p}
		if !f.Ports[p].Linked() {
			r.kind, r.last = rowIdle, p
			for r.last < n.FirstPort+fabric.PortIndex(n.NumPorts) && !f.Ports[r.last+1].Linked() {
				r.last++
			}
			p = r.last
		}
		if want(r) {
			t.add(r)
		}
	}
}

func (t *topology) addLoose(nodes []fabric.NodeIndex) {
	head := len(t.rows)
	t.add(treeRow{kind: rowTier, tier: tierLoose, node: fabric.None, port: fabric.None})
	for _, n := range nodes {
		if t.Filt.Empty() && !t.shut[tierLoose] || !t.Filt.Empty() && t.hit(n) {
			t.add(treeRow{kind: rowLoose, node: n, port: fabric.None})
		}
	}
	if len(nodes) == 0 || !t.Filt.Empty() && len(t.rows) == head+1 {
		t.rows = t.rows[:head]
	}
}

func (t *topology) add(r treeRow) { t.rows = append(t.rows, r) }

// toggle opens or shuts the selected branch; of a leaf, the branch it is on.
func (t *topology) toggle() {
	if t.Cursor >= len(t.rows) {
		return
	}
	r := t.rows[t.Cursor]
	switch r.kind {
	case rowTier:
		t.shut[r.tier] = !t.shut[r.tier]
	case rowSwitch:
		t.setOpen(r.node, !t.isOpen(r.node))
	}
	t.Renew()
}

func (t *topology) isOpen(node fabric.NodeIndex) bool {
	return t.open[t.Scene.Top.Fabric.Nodes[node].GUID]
}

func (t *topology) setOpen(node fabric.NodeIndex, open bool) {
	t.open[t.Scene.Top.Fabric.Nodes[node].GUID] = open
}

// unfold opens the selected branch; shut says to close it, or go to its head.
func (t *topology) unfold(shut bool) {
	if t.Cursor >= len(t.rows) {
		return
	}
	switch r := t.rows[t.Cursor]; {
	case r.kind == rowTier:
		t.shut[r.tier] = shut
	case r.kind == rowSwitch && (t.isOpen(r.node) || !shut):
		t.setOpen(r.node, !shut)
	case shut:
		for i := t.Cursor - 1; i >= 0; i-- {
			if t.rows[i].kind < r.kind && t.rows[i].kind <= rowSwitch {
				t.To(i)
				return
			}
		}
	}
	t.Renew()
}

// switchShown is the switch that the selected row belongs to, None where it is a
// heading or a loose node.
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

func (t *topology) Picture() *draw.Badge {
	if t.Scene == nil || len(t.Scene.Top.Fabric.Nodes) == 0 {
		return nil
	}
	return t.Scene.FabricBadge(t.Theme)
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
		return draw.Count(len(t.rows), "row")
	}
	return fmt.Sprintf("%s, %s", draw.Count(t.Scene.Top.Switches, "switch"), draw.Count(t.Scene.Top.Hosts, "host"))
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

// first selects the first switch.
func (t *topology) first() {
	for i, r := range t.rows {
		if r.kind != rowTier {
			t.To(i)
			return
		}
	}
}

// firstMatch selects the first row that holds the filter's text.
func (t *topology) firstMatch() {
	if t.Filt.Empty() {
		return
	}
	f := t.Scene.Top.Fabric
	for i, r := range t.rows {
		node := r.node
		if r.kind == rowPort {
			node = f.Ports[f.Ports[r.port].Peer].Node
		}
		if r.kind != rowTier && r.kind != rowIdle && t.hit(node) {
			t.To(0)
			t.To(i)
			return
		}
	}
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
		return func() tea.Msg { return pane.Several{pane.Open{Name: "LFT"}, pane.FindLID{LID: t.Scene.LID(s.Port)}} }, ""
	}
	return func() tea.Msg {
		t.toggle()
		return nil
	}, ""
}
