// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"hash/fnv"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// The manners in which multicast groups are shown.
const (
	groupsAll = iota
	groupsTree
	groupsMembers
)

// groupsPane lists multicast groups, and the tree and the members of the selected one.
type groupsPane struct {
	table
	sc   *scene
	all  *grouping
	err  error
	busy func() string
	// chosen is the group whose tree and members are shown, none for 0, and from the
	// member that sends, the first for 0.
	chosen uint64
	from   uint64
	drawn  *groupTree
	// treeErr is why there is no tree.
	treeErr error
}

func newGroupsPane(t *theme) *groupsPane {
	l := &groupsPane{busy: func() string { return "" }}
	l.table = table{theme: t, kinds: []string{"groups", "tree", "members"}, id: l.rowID}
	only := func(kind int) func() bool { return func() bool { return l.kind != kind } }
	list, tree, members := only(groupsAll), only(groupsTree), only(groupsMembers)
	g := func(row int) *groupRow { return &l.all.rows[row] }
	dim := func(int) style { return t.dim }
	l.cols = []column{
		{name: "MLID", wide: 6, hidden: list, text: func(row int) string { return fmt.Sprintf("0x%04x", g(row).group.MLID) }, order: func(row int) int64 { return int64(g(row).group.MLID) }},
		{name: "members", wide: 7, right: true, hidden: list, text: func(row int) string { return thousands(len(g(row).group.Members)) }, order: func(row int) int64 { return int64(len(g(row).group.Members)) }},
		{name: "gone", wide: 5, right: true, rank: 2, hidden: list, text: func(row int) string { return countOrNone(g(row).gone) }, order: func(row int) int64 { return int64(g(row).gone) }, look: func(int) style { return t.warn }},
		{name: "switches", wide: 8, right: true, rank: 2, hidden: list, text: l.switchesText, order: func(row int) int64 { return int64(g(row).switches) }},
		{name: "tree", least: 15, share: 3, hidden: list, text: func(row int) string { return g(row).verdict(l.all) }, look: l.look},
		{name: "MGID", least: 20, rank: 1, hidden: list, text: func(row int) string { return g(row).mgid }},
		{name: "P_Key", wide: 6, rank: 3, hidden: list, text: l.pkey, look: dim},
		{name: "SL", wide: 2, right: true, rank: 3, hidden: list, text: func(row int) string { return fmt.Sprint(g(row).group.SL) }, look: dim},
		{name: "MTU", wide: 4, right: true, rank: 3, hidden: list, text: func(row int) string { return g(row).mtu }, look: dim},
		{name: "rate", wide: 8, right: true, rank: 3, hidden: list, text: func(row int) string { return g(row).rate }, look: dim},
		{name: "port, where it leads", least: 24, hidden: tree, text: func(row int) string { return l.drawn.rows[row].text(t) }, look: func(row int) style { return l.drawn.rows[row].look(t) }},
		{name: "", wide: 16, hidden: tree, text: func(row int) string { return l.drawn.rows[row].word }, look: func(row int) style { return l.drawn.rows[row].look(t) }},
		{name: "member", least: 18, hidden: members, text: l.memberName, look: l.memberLook},
		{name: "switch", least: 12, rank: 1, hidden: members, text: l.memberSwitch},
		{name: "join", wide: 12, hidden: members, text: func(row int) string { return l.member(row).Join.String() }},
		{name: "port GUID", wide: 18, rank: 2, hidden: members, text: func(row int) string { return fmt.Sprintf("0x%016x", l.member(row).GUID) }, look: dim},
	}
	return l
}

func countOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return thousands(n)
}

// groupID tells groups apart: several may share a multicast LID.
func groupID(g *fabric.Group) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(g.MGID[:])
	return h.Sum64()<<16 | uint64(g.MLID)
}

func (l *groupsPane) rowID(row int) uint64 {
	switch l.kind {
	case groupsAll:
		return groupID(l.all.rows[row].group)
	case groupsMembers:
		return l.member(row).GUID
	}
	return uint64(row)
}

// group is the one whose tree and members are shown.
func (l *groupsPane) group() *groupRow {
	if l.all == nil {
		return nil
	}
	for i := range l.all.rows {
		if groupID(l.all.rows[i].group) == l.chosen {
			return &l.all.rows[i]
		}
	}
	if len(l.all.rows) > 0 {
		return &l.all.rows[0]
	}
	return nil
}

func (l *groupsPane) member(row int) *fabric.Member { return &l.group().group.Members[row] }

func (l *groupsPane) memberPort(row int) fabric.PortIndex {
	return l.sc.pic.Fabric.PortByGUID(l.member(row).GUID)
}

func (l *groupsPane) memberName(row int) string {
	if p := l.memberPort(row); p != fabric.None {
		return l.sc.pic.Fabric.PortName(p)
	}
	return "not in the subnet"
}

func (l *groupsPane) memberLook(row int) style {
	return when(l.memberPort(row) == fabric.None, l.theme.warn, "")
}

func (l *groupsPane) memberSwitch(row int) string {
	f := l.sc.pic.Fabric
	p := l.memberPort(row)
	if p == fabric.None {
		return ""
	}
	sw, port := f.AttachedSwitch(p)
	if sw == fabric.None {
		return ""
	}
	return f.PortName(f.Port(f.Switches[sw], port))
}

func (l *groupsPane) switchesText(row int) string {
	if n := l.all.rows[row].switches; n >= 0 {
		return thousands(n)
	}
	return "?"
}

func (l *groupsPane) look(row int) style {
	switch g := &l.all.rows[row]; {
	case len(g.faults) > 0:
		return l.theme.bad
	case g.switches <= 0:
		return l.theme.dim
	}
	return l.theme.good
}

func (l *groupsPane) pkey(row int) string {
	if g := l.all.rows[row].group; g.PKey != 0 {
		return fmt.Sprintf("0x%04x", g.PKey)
	}
	return ""
}

func (l *groupsPane) show(sc *scene) {
	l.sc = sc
	l.renew()
}

func (l *groupsPane) bring(all *grouping, err error, drawn *groupTree, treeErr error) {
	if l.all == all && l.err == err && l.drawn == drawn && l.treeErr == treeErr {
		return
	}
	l.hold()
	l.all, l.err, l.drawn, l.treeErr = all, err, drawn, treeErr
	l.renew()
}

func (l *groupsPane) renew() {
	l.hold()
	g := l.group()
	switch {
	case g == nil || l.all.key.pic != l.sc.pic:
		l.build(0)
	case l.kind == groupsAll:
		l.build(len(l.all.rows))
	case l.kind == groupsMembers:
		l.build(len(g.group.Members))
	case l.drawn == nil || l.drawn.mlid != g.group.MLID:
		l.build(0)
	default:
		l.build(len(l.drawn.rows))
	}
}

// leave remembers the group that is selected.
func (l *groupsPane) leave() {
	if row, ok := l.selected(); ok && l.kind == groupsAll {
		if id := l.rowID(row); id != l.chosen {
			l.chosen, l.from = id, 0
		}
	}
}

// within says that the pane of the keyboard shows a group alone.
func (l *groupsPane) within(focus paneID) bool { return focus == paneGroups && l.kind != groupsAll }

func (m *model) listGroups() tea.Cmd {
	cmd := m.setKind(groupsAll)
	m.groups.find(m.groups.chosen)
	return cmd
}

func (l *groupsPane) sortWhyNot() string {
	switch {
	case l.kind == groupsTree:
		return "a tree has an order of its own"
	case l.n == 0:
		return "there are no rows to sort"
	}
	return ""
}

func (l *groupsPane) title() string {
	if g := l.group(); g != nil && l.kind != groupsAll {
		return fmt.Sprintf("%s of 0x%04x", l.kinds[l.kind], g.group.MLID)
	}
	return ""
}

func (l *groupsPane) picture() *badge {
	if l.sc == nil || l.all == nil {
		return nil
	}
	return l.theme.pictureBadge(l.sc, l.sc.pic)
}

func (l *groupsPane) figure() string {
	switch {
	case l.size == 0:
		return ""
	case l.kind == groupsTree:
		return l.drawn.figure
	case l.kind == groupsMembers:
		return count(l.size, "member")
	}
	return count(l.size, "group") + " from " + l.all.origin
}

func (l *groupsPane) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case len(l.sc.pic.Fabric.Nodes) == 0:
		return l.sc.whyNoSubnet()
	case l.busy() != "":
		return "following what members send: " + l.busy()
	case !l.filt.empty() && l.size > 0:
		return l.noMatch("row")
	case l.err != nil:
		return l.err.Error()
	case l.all == nil || len(l.all.rows) == 0:
		return "there are no multicast groups"
	case l.kind == groupsTree && l.treeErr != nil:
		return l.treeErr.Error()
	case l.kind == groupsTree:
		return "no member of this group is in the subnet: nothing is sent"
	}
	return "this group has no members"
}

func (l *groupsPane) subject() subject {
	row, ok := l.selected()
	if !ok || l.kind == groupsAll {
		return nothing
	}
	s := nothing
	s.f = l.sc.pic.Fabric
	if l.kind == groupsMembers {
		if s.port = l.memberPort(row); s.port != fabric.None {
			s.node = s.f.Ports[s.port].Node
		}
		return s
	}
	r := &l.drawn.rows[row]
	s.node, s.port, s.link = r.node, r.end, r.link
	return s
}

// enter draws the tree of a group, or that of what a member sends.
func (l *groupsPane) enter(m *model) (func() tea.Cmd, string) {
	row, ok := l.selected()
	if !ok {
		return nil, "nothing is selected"
	}
	s := l.subject()
	switch {
	case l.kind == groupsAll:
		return func() tea.Cmd { return m.setKind(groupsTree) }, ""
	case l.kind == groupsMembers && s.node == fabric.None:
		return nil, "this member is not in the subnet: it sends nothing"
	case l.kind == groupsMembers:
		return func() tea.Cmd {
			l.from = l.member(row).GUID
			return m.setKind(groupsTree)
		}, ""
	case s.node == fabric.None:
		return nil, "this row is a remark: there is nothing behind it"
	}
	return m.visitNode(placeIn(s.f, s.node, s.link)), ""
}

// groupsKey is what groups are computed from.
type groupsKey struct {
	pic    *session.Picture
	groups *session.Groups
}

func (m *model) groupsKey() groupsKey { return groupsKey{m.sc.pic, m.sc.st.Groups} }
