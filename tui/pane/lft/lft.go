// SPDX-License-Identifier: Apache-2.0

package lft

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// The manners in which a table is shown.
const (
	lftByLID = iota
	lftByPort
)

// lft is the forwarding table of the switch that the topology pane has selected.
type lft struct {
	pane.List
	// place is the switch that is shown, sw its index in the picture, None where the
	// picture has no such switch.
	place pane.Place
	sw    fabric.SwitchIndex
	// lids are the rows: LIDs with an entry, or with an owner in the subnet. By port
	// they are the ports that entries name, with how many LIDs go by each.
	lids  []uint16
	ports []uint8
	count [256]int
	most  int
	// was is the row of the same switch in what is compared with, nil without.
	was     func(lid uint16) uint8
	changes int

	changedOnly bool
	want        uint16 // the LID to find once a switch is shown, 0 for none

	hopped hopCounts // of a switch, to sort by
	hops   pane.AsyncResult[hopCounts]

	nodeHits []bool    // for the filter
	portHits [256]bool // for the filter: by next hop
	number   int
}

func New(c *pane.Common, t *draw.Theme) pane.Pane {
	l := &lft{List: pane.List{Common: c}, sw: fabric.None}
	l.Table = draw.Table{Theme: t, Kinds: []string{"by LID", "by port"}}
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

func (l *lft) lidColumns() []draw.Column {
	byPort := func() bool { return l.Kind == lftByPort }
	dim := func(int) draw.Style { return l.Theme.Dim }
	return []draw.Column{
		{Name: "LID", Wide: 6, Right: true, Hidden: byPort, Look: dim,
			Text: func(row int) string { return fmt.Sprint(l.lids[row]) }, Order: func(row int) int64 { return int64(l.lids[row]) }},
		{Name: "destination", Least: 15, Share: 2, Hidden: byPort, Text: l.destination,
			Order: func(row int) int64 { return l.rankOf(l.Scene.Picture.Fabric.PortByLID(l.lids[row])) },
			Look: func(row int) draw.Style {
				return draw.When(l.Scene.Picture.Fabric.PortByLID(l.lids[row]) == fabric.None, l.Theme.Dim, "")
			}},
		{Name: "port", Wide: 5, Right: true, Hidden: byPort,
			Text: func(row int) string { return entryText(l.entry(row)) }, Order: func(row int) int64 { return int64(l.entry(row)) }},
		{Name: "next hop", Least: 10, Hidden: byPort, Text: func(row int) string { return l.nextHop(l.entry(row)) },
			Order: func(row int) int64 { return l.nextRank(l.entry(row)) }, Look: func(row int) draw.Style { return l.nextLook(l.entry(row)) }},
		{Name: "hops", Wide: 5, Right: true, Hidden: byPort, Text: func(row int) string { s, _ := l.hopText(row); return s },
			Order: l.hopsOrder, Look: func(row int) draw.Style { _, st := l.hopText(row); return st }},
		{Name: "link", Wide: 7, Right: true, Rank: 1, Hidden: byPort, Text: func(row int) string { return l.link(l.entry(row)) },
			Order: func(row int) int64 { return l.linkOrder(l.entry(row)) }, Look: dim},
		{Name: "was", Wide: 6, Right: true, Hidden: func() bool { return byPort() || l.was == nil },
			Text: l.wasText, Order: func(row int) int64 { return int64(draw.Btoi(l.wasText(row) == "")) }, Look: func(int) draw.Style { return l.Theme.Warn }},
	}
}

func (l *lft) portColumns() []draw.Column {
	byLID := func() bool { return l.Kind == lftByLID }
	dim := func(int) draw.Style { return l.Theme.Dim }
	return []draw.Column{
		{Name: "port", Wide: 5, Right: true, Hidden: byLID,
			Text: func(row int) string { return entryText(l.ports[row]) }, Order: func(row int) int64 { return int64(l.ports[row]) }},
		{Name: "next hop", Least: 10, Hidden: byLID, Text: func(row int) string { return l.nextHop(l.ports[row]) },
			Order: func(row int) int64 { return l.nextRank(l.ports[row]) }, Look: func(row int) draw.Style { return l.nextLook(l.ports[row]) }},
		{Name: "link", Wide: 7, Right: true, Hidden: byLID, Rank: 1, Text: func(row int) string { return l.link(l.ports[row]) },
			Order: func(row int) int64 { return l.linkOrder(l.ports[row]) }, Look: dim},
		{Name: "LIDs", Wide: 6, Right: true, Hidden: byLID, Text: func(row int) string { return draw.Thousands(l.count[l.ports[row]]) },
			Order: func(row int) int64 { return int64(l.count[l.ports[row]]) }},
		{Name: "share", Wide: 10, Hidden: byLID, Rank: 2, Text: func(row int) string { return l.Theme.Bar(l.count[l.ports[row]], l.most, 10) },
			Order: func(row int) int64 { return int64(l.count[l.ports[row]]) }},
		{Name: "paths", Wide: 11, Right: true, Rank: 1, Hidden: func() bool { return byLID() || l.Loads == nil },
			Text: func(row int) string { return draw.Thousands(int(l.paths(l.ports[row]))) }, Order: func(row int) int64 { return l.paths(l.ports[row]) }},
	}
}

func (l *lft) About() pane.About {
	return pane.About{Name: "LFT", Short: "LFT", Help: "the forwarding table of the selected switch", Seat: pane.SeatMain, Enter: "next hop"}
}

// Show takes a new scene and stays on the LID.
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
		Name: "changed", Binding: pane.On("show changed entries only, or all again", "o"), Group: "Lists", After: "by", Label: "changed", Rank: 11,
		Panes: []string{"LFT"}, Why: l.whyNotChanged,
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
	l.Renew()
	if ok && (!moved || l.Filt.Empty()) {
		l.findLID(lid)
	}
}

// lid is the LID of the selected row.
func (l *lft) lid() (uint16, bool) {
	row, ok := l.Selected()
	if !ok || l.Kind == lftByPort || row >= len(l.lids) {
		return 0, false
	}
	return l.lids[row], true
}

// findLID selects a LID, or the next above it.
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

func (l *lft) Renew() {
	l.Hold()
	l.lids, l.ports, l.was, l.changes = l.lids[:0], l.ports[:0], nil, 0
	t := l.tables()
	if t == nil || !t.Known[l.sw] || !t.Fabric.SwitchNode(l.sw).InSubnet {
		l.Rebuild(0)
		return
	}
	l.compare()
	l.gather(t)
	if l.Kind == lftByPort {
		l.group()
		l.Build(len(l.ports))
		return
	}
	l.Build(len(l.lids))
}

func (l *lft) gather(t *fabric.Tables) {
	f := t.Fabric
	for lid := 1; lid <= max(int(t.Top[l.sw]), int(f.MaxLID)); lid++ {
		id := uint16(lid)
		entry := t.Port(l.sw, id)
		changed := l.was != nil && l.was(id) != entry
		if changed {
			l.changes++
		}
		if (entry != fabric.NoPath || changed || f.PortByLID(id) != fabric.None) && (changed || !l.changedOnly) {
			l.lids = append(l.lids, id)
		}
	}
}

// group counts the LIDs that go by each port.
func (l *lft) group() {
	l.count, l.most = [256]int{}, 0
	for _, lid := range l.lids {
		l.count[l.tables().Port(l.sw, lid)]++
	}
	for port, n := range l.count {
		if n > 0 {
			l.ports = append(l.ports, uint8(port))
			l.most = max(l.most, n)
		}
	}
}

// compare finds the row of the switch in what is compared with.
func (l *lft) compare() {
	if l.Scene.Base == nil {
		return
	}
	old := l.Scene.Base.Tables
	sw := old.Fabric.SwitchByGUID(l.place.GUID)
	if sw != fabric.None && old.Known[sw] {
		l.was = func(lid uint16) uint8 { return old.Port(sw, lid) }
	}
}

// prepareFilter finds the nodes and the ports that the filter hits.
func (l *lft) prepareFilter() {
	l.nodeHits = l.Filt.Hits(l.Scene.Names.Search)
	for port := range l.portHits {
		l.portHits[port] = l.Filt.Hit(strings.ToLower(l.nextHop(uint8(port))))
	}
	l.number = -1
	if n, err := strconv.Atoi(strings.TrimPrefix(l.Filt.Text, "!")); err == nil {
		l.number = n
	}
}

// passes says whether the filter lets a row through: a LID, the name of its
// destination or the next hop.
func (l *lft) passes(row int) bool {
	if l.Kind == lftByPort {
		return l.portHits[l.ports[row]] != l.Filt.Invert
	}
	lid := l.lids[row]
	e := l.Scene.Picture.Fabric.PortByLID(lid)
	hit := int(lid) == l.number || e != fabric.None && l.nodeHits[l.Scene.Picture.Fabric.Ports[e].Node] || l.portHits[l.entry(row)]
	return hit != l.Filt.Invert
}

func (l *lft) entry(row int) uint8 { return l.Scene.Picture.Tables.Port(l.sw, l.lids[row]) }

func (l *lft) destination(row int) string {
	f := l.Scene.Picture.Fabric
	if e := f.PortByLID(l.lids[row]); e != fabric.None {
		return f.NodeName(f.Ports[e].Node)
	}
	return "no port owns it"
}

func (l *lft) rankOf(port fabric.PortIndex) int64 {
	if port == fabric.None {
		return 1 << 40
	}
	return int64(l.Scene.Names.Rank[l.Scene.Picture.Fabric.Ports[port].Node])
}

// out is the port of the switch that an entry names, None where it has none.
func (l *lft) out(entry uint8) fabric.PortIndex {
	f := l.Scene.Picture.Fabric
	return f.PortAt(f.Switches[l.sw], int(entry))
}

// nextHop is the name of the node behind an entry, or why there is none.
func (l *lft) nextHop(entry uint8) string {
	f := l.Scene.Picture.Fabric
	out := l.out(entry)
	switch {
	case entry == fabric.NoPath:
		return "no entry"
	case out == fabric.None:
		return "no such port"
	case entry == 0:
		return "this switch"
	case !f.Ports[out].Linked():
		return l.Theme.Failed + " link is down"
	}
	return f.NodeName(f.PeerNode(out))
}

func (l *lft) nextLook(entry uint8) draw.Style {
	out := l.out(entry)
	switch {
	case entry == 0 && out != fabric.None:
		return l.Theme.Dim
	case out == fabric.None || !l.Scene.Picture.Fabric.Ports[out].Linked():
		return l.Theme.Bad
	}
	return ""
}

func (l *lft) nextRank(entry uint8) int64 {
	out := l.out(entry)
	if out == fabric.None || !l.Scene.Picture.Fabric.Ports[out].Linked() {
		return -1
	}
	return l.rankOf(l.Scene.Picture.Fabric.Ports[out].Peer)<<8 | int64(entry)
}

// hopText is how many links the table's own path takes from here, or how it ends
// where it does not arrive.
func (l *lft) hopText(row int) (string, draw.Style) {
	end := walk.Follow(l.Scene.Picture.Tables, l.sw, l.lids[row], nil)
	switch end.Verdict {
	case walk.Delivered, walk.TooLong:
		return fmt.Sprint(end.Links), ""
	case walk.Loop:
		return "loop", l.Theme.Bad
	case walk.Misdelivered:
		return "wrong", l.Theme.Bad
	case walk.Unknown:
		return "?", l.Theme.Warn
	}
	return "lost", l.Theme.Bad
}

func (l *lft) hopsOrder(row int) int64 {
	if lid := int(l.lids[row]); l.hopped.key == l.hopKey() && lid < len(l.hopped.order) {
		return int64(l.hopped.order[lid])
	}
	return 0
}

// hopKey names a table whose hops were counted.
type hopKey struct {
	tables *fabric.Tables
	sw     fabric.SwitchIndex
}

// hopCounts are the hops from a switch to each LID, more than any for those that
// packets do not reach.
type hopCounts struct {
	key   hopKey
	order []int32
}

func (l *lft) hopKey() hopKey { return hopKey{l.tables(), l.sw} }

// hopsColumn is the place of the column of hops, counted from 1.
const hopsColumn = 5

// wantsHops says that the rows are sorted by hops that were not counted.
func (l *lft) wantsHops() bool {
	return l.Kind == lftByLID && max(l.Sorted, -l.Sorted) == hopsColumn && l.tables() != nil && l.hopped.key != l.hopKey()
}

// countHops follows the packets for each LID, on one processor: another is for the
// screen. O(LIDs x hops).
func countHops(key hopKey) hopCounts {
	h := hopCounts{key, make([]int32, int(key.tables.LFT.MaxLID)+1)}
	for lid := range h.order {
		end := walk.Follow(key.tables, key.sw, uint16(lid), nil)
		h.order[lid] = int32(end.Links)
		if !end.Verdict.Arrives() {
			h.order[lid] = 1<<20 + int32(end.Verdict)
		}
	}
	return h
}

func (l *lft) link(entry uint8) string {
	out := l.out(entry)
	if out == fabric.None || entry == 0 || !l.Scene.Picture.Fabric.Ports[out].Linked() {
		return ""
	}
	p := &l.Scene.Picture.Fabric.Ports[out]
	return p.Width.String() + p.Speed.String()
}

func (l *lft) linkOrder(entry uint8) int64 {
	out := l.out(entry)
	if out == fabric.None || entry == 0 {
		return 0
	}
	return int64(1000 * l.Scene.Picture.Fabric.Ports[out].Gbps())
}

func (l *lft) wasText(row int) string {
	if l.was == nil || l.was(l.lids[row]) == l.entry(row) {
		return ""
	}
	return l.Theme.Changed + " " + entryText(l.was(l.lids[row]))
}

func (l *lft) paths(entry uint8) int64 {
	if out := l.out(entry); out != fabric.None && l.Loads != nil && entry != 0 {
		return l.Loads.Paths[out]
	}
	return 0
}

func entryText(entry uint8) string {
	if entry == fabric.NoPath {
		return "-"
	}
	return fmt.Sprint(entry)
}

func (l *lft) Spot() (pane.Place, string) {
	if node, _ := l.place.In(l.Scene.Top.Fabric); node != fabric.None {
		return l.place, "LFT " + l.Scene.Top.Fabric.NodeName(node)
	}
	return l.place, ""
}

func (l *lft) FileName() string {
	return l.Scene.Picture.Fabric.NodeName(l.Scene.Picture.Fabric.Switches[l.sw])
}

func (l *lft) Title() string {
	if l.sw == fabric.None {
		return ""
	}
	f := l.Scene.Picture.Fabric
	return fmt.Sprintf("of %s  LID %s", f.NodeName(f.Switches[l.sw]), pane.LidText(f.SwitchLID(l.sw)))
}

func (l *lft) Picture() *draw.Badge {
	if l.tables() == nil {
		return nil
	}
	return l.Scene.PictureBadge(l.Theme, l.Scene.Picture)
}

func (l *lft) Figure() string {
	switch {
	case l.tables() == nil:
		return ""
	case l.Kind == lftByPort:
		return fmt.Sprintf("%s, %s", draw.Count(len(l.lids), "LID"), draw.Count(l.N, "port"))
	case l.changedOnly && l.was != nil:
		return fmt.Sprintf("%s changed against %s", draw.Thousands(l.changes), l.Scene.Base.Kind)
	case l.was != nil:
		return fmt.Sprintf("%s, %s changed against %s", draw.Count(l.N, "LID"), draw.Thousands(l.changes), l.Scene.Base.Kind)
	}
	return draw.Count(l.N, "LID")
}

func (l *lft) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case l.Scene.Why != "":
		return l.Scene.Why
	case l.place.None():
		return "select a switch in the topology: press 2"
	case l.sw == fabric.None:
		return fmt.Sprintf("%s has no such switch", l.Scene.Picture.Kind)
	case !l.Scene.Picture.Fabric.SwitchNode(l.sw).InSubnet:
		return fmt.Sprintf("this switch does not belong to the subnet in %s: v shows another picture", l.Scene.Picture.Kind)
	case !l.Scene.Picture.Tables.Known[l.sw]:
		return "the table of this switch was not read: press R to read the subnet"
	case l.changedOnly && l.was == nil:
		return "nothing to compare with: o shows all entries"
	case l.changedOnly && l.Filt.Empty():
		return fmt.Sprintf("no entry differs from %s: o shows all", l.Scene.Base.Kind)
	case !l.Filt.Empty():
		return l.NoMatch("entry")
	}
	return "the table is empty: press r to route"
}

// whyNotChanged says why the rows cannot be limited to changed ones, "" if they can.
func (l *lft) whyNotChanged() string {
	if l.changedOnly || l.was != nil {
		return ""
	}
	if l.Scene.Picture.Kind == session.Live || l.Scene.Picture.Kind == session.Base {
		return fmt.Sprintf("this is %s, which nothing is compared with: press r to route", l.Scene.Picture.Kind)
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
		s := pane.Subject{Fabric: f, Node: f.Switches[l.sw], Port: fabric.None, Link: l.out(l.ports[row]), Via: fabric.None}
		if s.Link != fabric.None && f.Ports[s.Link].Num == 0 {
			s.Link = fabric.None
		}
		return s
	}
	s := pane.Subject{Fabric: f, Node: fabric.None, Port: f.PortByLID(l.lids[row]), Link: l.out(l.entry(row)), Via: fabric.None}
	if s.Port != fabric.None {
		s.Node = f.Ports[s.Port].Node
	}
	if s.Link != fabric.None && f.Ports[s.Link].Num == 0 {
		s.Link = fabric.None
	}
	return s
}

// next is the node that packets of the selected row go to, None where they stay
// or end.
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

func (l *lft) Seek(pane.Stage) tea.Cmd {
	if !l.wantsHops() {
		return nil
	}
	key := l.hopKey()
	return l.hops.Want(l.Common, key, func(context.Context, func(int, int)) (hopCounts, error) { return countHops(key), nil })
}

func (l *lft) Collect() {
	if h := l.hops.Value; h.key != l.hopped.key {
		l.hopped = h
		l.Renew()
	}
}
