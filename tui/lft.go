// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
)

// The manners in which a table is shown.
const (
	lftByLID = iota
	lftByPort
)

// lft is the forwarding table of the switch that the topology pane has selected.
type lft struct {
	table
	sc *scene
	// place is the switch that is shown, sw its index in the picture, None where the
	// picture has no such switch.
	place place
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
	loads       *linkload.Loads // of the picture, nil where they are not known

	hopped hopCounts // of a switch, to sort by

	nodeHits []bool    // for the filter
	portHits [256]bool // for the filter: by next hop
	number   int
}

func newLFT(t *theme) *lft {
	l := &lft{sw: fabric.None}
	l.table = table{theme: t, kinds: []string{"by LID", "by port"}}
	l.id = func(row int) uint64 {
		if l.kind == lftByPort {
			return 1<<32 | uint64(l.ports[row])
		}
		return uint64(l.lids[row])
	}
	l.match, l.prepare = l.passes, l.prepareFilter
	l.cols = append(l.lidColumns(), l.portColumns()...)
	return l
}

func (l *lft) lidColumns() []column {
	byPort := func() bool { return l.kind == lftByPort }
	dim := func(int) style { return l.theme.dim }
	return []column{
		{name: "LID", wide: 6, right: true, hidden: byPort, look: dim,
			text: func(row int) string { return fmt.Sprint(l.lids[row]) }, order: func(row int) int64 { return int64(l.lids[row]) }},
		{name: "destination", least: 15, share: 2, hidden: byPort, text: l.destination,
			order: func(row int) int64 { return l.rankOf(l.sc.pic.Fabric.PortByLID(l.lids[row])) },
			look: func(row int) style {
				return when(l.sc.pic.Fabric.PortByLID(l.lids[row]) == fabric.None, l.theme.dim, "")
			}},
		{name: "port", wide: 5, right: true, hidden: byPort,
			text: func(row int) string { return entryText(l.entry(row)) }, order: func(row int) int64 { return int64(l.entry(row)) }},
		{name: "next hop", least: 10, hidden: byPort, text: func(row int) string { return l.nextHop(l.entry(row)) },
			order: func(row int) int64 { return l.nextRank(l.entry(row)) }, look: func(row int) style { return l.nextLook(l.entry(row)) }},
		{name: "hops", wide: 5, right: true, hidden: byPort, text: func(row int) string { s, _ := l.hops(row); return s },
			order: l.hopsOrder, look: func(row int) style { _, st := l.hops(row); return st }},
		{name: "link", wide: 7, right: true, rank: 1, hidden: byPort, text: func(row int) string { return l.link(l.entry(row)) },
			order: func(row int) int64 { return l.linkOrder(l.entry(row)) }, look: dim},
		{name: "was", wide: 6, right: true, hidden: func() bool { return byPort() || l.was == nil },
			text: l.wasText, order: func(row int) int64 { return int64(btoi(l.wasText(row) == "")) }, look: func(int) style { return l.theme.warn }},
	}
}

func (l *lft) portColumns() []column {
	byLID := func() bool { return l.kind == lftByLID }
	dim := func(int) style { return l.theme.dim }
	return []column{
		{name: "port", wide: 5, right: true, hidden: byLID,
			text: func(row int) string { return entryText(l.ports[row]) }, order: func(row int) int64 { return int64(l.ports[row]) }},
		{name: "next hop", least: 10, hidden: byLID, text: func(row int) string { return l.nextHop(l.ports[row]) },
			order: func(row int) int64 { return l.nextRank(l.ports[row]) }, look: func(row int) style { return l.nextLook(l.ports[row]) }},
		{name: "link", wide: 7, right: true, hidden: byLID, rank: 1, text: func(row int) string { return l.link(l.ports[row]) },
			order: func(row int) int64 { return l.linkOrder(l.ports[row]) }, look: dim},
		{name: "LIDs", wide: 6, right: true, hidden: byLID, text: func(row int) string { return thousands(l.count[l.ports[row]]) },
			order: func(row int) int64 { return int64(l.count[l.ports[row]]) }},
		{name: "share", wide: 10, hidden: byLID, rank: 2, text: func(row int) string { return l.theme.bar(l.count[l.ports[row]], l.most, 10) },
			order: func(row int) int64 { return int64(l.count[l.ports[row]]) }},
		{name: "paths", wide: 11, right: true, rank: 1, hidden: func() bool { return byLID() || l.loads == nil },
			text: func(row int) string { return thousands(int(l.paths(l.ports[row]))) }, order: func(row int) int64 { return l.paths(l.ports[row]) }},
	}
}

// show takes a new scene and stays on the LID.
func (l *lft) show(sc *scene) { l.showSwitch(sc, l.place) }

func (l *lft) showSwitch(sc *scene, at place) {
	lid, ok := l.lid()
	moved := at != l.place
	if moved {
		l.marks = nil
	}
	l.sc, l.place = sc, at
	l.sw = fabric.None
	if node, _ := at.in(sc.pic.Fabric); node != fabric.None {
		l.sw = sc.pic.Fabric.Nodes[node].Switch
	}
	l.renew()
	if ok && (!moved || l.filt.empty()) {
		l.findLID(lid)
	}
}

// lid is the LID of the selected row.
func (l *lft) lid() (uint16, bool) {
	row, ok := l.selected()
	if !ok || l.kind == lftByPort || row >= len(l.lids) {
		return 0, false
	}
	return l.lids[row], true
}

// findLID selects a LID, or the next above it.
func (l *lft) findLID(lid uint16) {
	best, line := -1, 0
	for i, row := range l.order {
		if l.kind == lftByPort {
			return
		}
		if at := int(l.lids[row]); at >= int(lid) && (best < 0 || at < best) {
			best, line = at, i
		}
	}
	l.reveal(line)
}

func (l *lft) tables() *fabric.Tables {
	if l.sc == nil || l.sw == fabric.None {
		return nil
	}
	return l.sc.pic.Tables
}

func (l *lft) renew() {
	l.hold()
	l.lids, l.ports, l.was, l.changes = l.lids[:0], l.ports[:0], nil, 0
	t := l.tables()
	if t == nil || !t.Known[l.sw] || !t.Fabric.SwitchNode(l.sw).InSubnet {
		l.rebuild(0)
		return
	}
	l.compare()
	l.gather(t)
	if l.kind == lftByPort {
		l.group()
		l.build(len(l.ports))
		return
	}
	l.build(len(l.lids))
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
	if l.sc.base == nil {
		return
	}
	old := l.sc.base.Tables
	sw := old.Fabric.SwitchByGUID(l.place.guid)
	if sw != fabric.None && old.Known[sw] {
		l.was = func(lid uint16) uint8 { return old.Port(sw, lid) }
	}
}

// prepareFilter finds the nodes and the ports that the filter hits.
func (l *lft) prepareFilter() {
	l.nodeHits = l.filt.hits(l.sc.names)
	for port := range l.portHits {
		l.portHits[port] = l.filt.hit(strings.ToLower(l.nextHop(uint8(port))))
	}
	l.number = -1
	if n, err := strconv.Atoi(strings.TrimPrefix(l.filt.text, "!")); err == nil {
		l.number = n
	}
}

// passes says whether the filter lets a row through: a LID, the name of its
// destination or the next hop.
func (l *lft) passes(row int) bool {
	if l.kind == lftByPort {
		return l.portHits[l.ports[row]] != l.filt.invert
	}
	lid := l.lids[row]
	e := l.sc.pic.Fabric.PortByLID(lid)
	hit := int(lid) == l.number || e != fabric.None && l.nodeHits[l.sc.pic.Fabric.Ports[e].Node] || l.portHits[l.entry(row)]
	return hit != l.filt.invert
}

func (l *lft) entry(row int) uint8 { return l.sc.pic.Tables.Port(l.sw, l.lids[row]) }

func (l *lft) destination(row int) string {
	f := l.sc.pic.Fabric
	if e := f.PortByLID(l.lids[row]); e != fabric.None {
		return f.NodeName(f.Ports[e].Node)
	}
	return "no port owns it"
}

func (l *lft) rankOf(port fabric.PortIndex) int64 {
	if port == fabric.None {
		return 1 << 40
	}
	return int64(l.sc.names.rank[l.sc.pic.Fabric.Ports[port].Node])
}

// out is the port of the switch that an entry names, None where it has none.
func (l *lft) out(entry uint8) fabric.PortIndex {
	f := l.sc.pic.Fabric
	return f.PortAt(f.Switches[l.sw], int(entry))
}

// nextHop is the name of the node behind an entry, or why there is none.
func (l *lft) nextHop(entry uint8) string {
	f := l.sc.pic.Fabric
	out := l.out(entry)
	switch {
	case entry == fabric.NoPath:
		return "no entry"
	case out == fabric.None:
		return "no such port"
	case entry == 0:
		return "this switch"
	case !f.Ports[out].Linked():
		return l.theme.failed + " link is down"
	}
	return f.NodeName(f.PeerNode(out))
}

func (l *lft) nextLook(entry uint8) style {
	out := l.out(entry)
	switch {
	case entry == 0 && out != fabric.None:
		return l.theme.dim
	case out == fabric.None || !l.sc.pic.Fabric.Ports[out].Linked():
		return l.theme.bad
	}
	return ""
}

func (l *lft) nextRank(entry uint8) int64 {
	out := l.out(entry)
	if out == fabric.None || !l.sc.pic.Fabric.Ports[out].Linked() {
		return -1
	}
	return l.rankOf(l.sc.pic.Fabric.Ports[out].Peer)<<8 | int64(entry)
}

// hops is how many links the table's own path takes from here, or how it ends
// where it does not arrive.
func (l *lft) hops(row int) (string, style) {
	end := walk.Follow(l.sc.pic.Tables, l.sw, l.lids[row], nil)
	switch end.Verdict {
	case walk.Delivered, walk.TooLong:
		return fmt.Sprint(end.Links), ""
	case walk.Loop:
		return "loop", l.theme.bad
	case walk.Misdelivered:
		return "wrong", l.theme.bad
	case walk.Unknown:
		return "?", l.theme.warn
	}
	return "lost", l.theme.bad
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
	return l.kind == lftByLID && max(l.sorted, -l.sorted) == hopsColumn && l.tables() != nil && l.hopped.key != l.hopKey()
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
	if out == fabric.None || entry == 0 || !l.sc.pic.Fabric.Ports[out].Linked() {
		return ""
	}
	p := &l.sc.pic.Fabric.Ports[out]
	return p.Width.String() + p.Speed.String()
}

func (l *lft) linkOrder(entry uint8) int64 {
	out := l.out(entry)
	if out == fabric.None || entry == 0 {
		return 0
	}
	return int64(1000 * l.sc.pic.Fabric.Ports[out].Gbps())
}

func (l *lft) wasText(row int) string {
	if l.was == nil || l.was(l.lids[row]) == l.entry(row) {
		return ""
	}
	return l.theme.changed + " " + entryText(l.was(l.lids[row]))
}

func (l *lft) paths(entry uint8) int64 {
	if out := l.out(entry); out != fabric.None && l.loads != nil && entry != 0 {
		return l.loads.Paths[out]
	}
	return 0
}

func entryText(entry uint8) string {
	if entry == fabric.NoPath {
		return "-"
	}
	return fmt.Sprint(entry)
}

func (l *lft) at() place { return l.place }

func (l *lft) title() string {
	if l.sw == fabric.None {
		return ""
	}
	f := l.sc.pic.Fabric
	return fmt.Sprintf("of %s  LID %s", f.NodeName(f.Switches[l.sw]), lidText(f.SwitchLID(l.sw)))
}

func (l *lft) picture() *badge {
	if l.tables() == nil {
		return nil
	}
	return l.theme.pictureBadge(l.sc, l.sc.pic)
}

func (l *lft) figure() string {
	switch {
	case l.tables() == nil:
		return ""
	case l.kind == lftByPort:
		return fmt.Sprintf("%s, %s", count(len(l.lids), "LID"), count(l.n, "port"))
	case l.changedOnly && l.was != nil:
		return fmt.Sprintf("%s changed against %s", thousands(l.changes), l.sc.base.Kind)
	case l.was != nil:
		return fmt.Sprintf("%s, %s changed against %s", count(l.n, "LID"), thousands(l.changes), l.sc.base.Kind)
	}
	return count(l.n, "LID")
}

func (l *lft) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case l.sc.why != "":
		return l.sc.why
	case l.place.none():
		return "select a switch in the topology: press 2"
	case l.sw == fabric.None:
		return fmt.Sprintf("%s has no such switch", l.sc.pic.Kind)
	case !l.sc.pic.Fabric.SwitchNode(l.sw).InSubnet:
		return fmt.Sprintf("this switch does not belong to the subnet in %s: v shows another picture", l.sc.pic.Kind)
	case !l.sc.pic.Tables.Known[l.sw]:
		return "the table of this switch was not read: press R to read the subnet"
	case l.changedOnly && l.was == nil:
		return "nothing to compare with: o shows all entries"
	case l.changedOnly && l.filt.empty():
		return fmt.Sprintf("no entry differs from %s: o shows all", l.sc.base.Kind)
	case !l.filt.empty():
		return l.noMatch("entry")
	}
	return "the table is empty: press r to route"
}

// whyNotChanged says why the rows cannot be limited to changed ones, "" if they can.
func (l *lft) whyNotChanged() string {
	if l.changedOnly || l.was != nil {
		return ""
	}
	if l.sc.pic.Kind == session.Live || l.sc.pic.Kind == session.Base {
		return fmt.Sprintf("this is %s, which nothing is compared with: press r to route", l.sc.pic.Kind)
	}
	return "there are no tables to compare with"
}

func (l *lft) subject() subject {
	row, ok := l.selected()
	if !ok {
		return nothing
	}
	f := l.sc.pic.Fabric
	if l.kind == lftByPort {
		s := subject{f: f, node: f.Switches[l.sw], port: fabric.None, link: l.out(l.ports[row]), via: fabric.None}
		if s.link != fabric.None && f.Ports[s.link].Num == 0 {
			s.link = fabric.None
		}
		return s
	}
	s := subject{f: f, node: fabric.None, port: f.PortByLID(l.lids[row]), link: l.out(l.entry(row)), via: fabric.None}
	if s.port != fabric.None {
		s.node = f.Ports[s.port].Node
	}
	if s.link != fabric.None && f.Ports[s.link].Num == 0 {
		s.link = fabric.None
	}
	return s
}

// next is the node that packets of the selected row go to, None where they stay
// or end.
func (l *lft) next() fabric.NodeIndex {
	row, ok := l.selected()
	if !ok {
		return fabric.None
	}
	var entry uint8
	if l.kind == lftByPort {
		entry = l.ports[row]
	} else {
		entry = l.entry(row)
	}
	out := l.out(entry)
	if out == fabric.None || entry == 0 {
		return fabric.None
	}
	return l.sc.pic.Fabric.PeerNode(out)
}

func (l *lft) enter(m *model) (func() tea.Cmd, string) {
	next := l.next()
	if next == fabric.None {
		return nil, "the selected entry leads to no other node"
	}
	return func() tea.Cmd {
		m.follow(l.sc.pic.Fabric, next)
		return nil
	}, ""
}
