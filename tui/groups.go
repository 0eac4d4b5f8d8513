// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"hash/fnv"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// The manners in which multicast groups are shown.
const (
	groupsAll = iota
	groupsTree
	groupsMembers
)

// groupsPane lists multicast groups, and the tree and the members of the selected one.
type groupsPane struct {
	list
	all     *grouping
	err     error
	mcast   asyncResult[*grouping]
	drawing asyncResult[*groupTree]
	// chosen is the group whose tree and members are shown, none for 0, and from the
	// member that sends, the first for 0.
	chosen uint64
	from   uint64
	drawn  *groupTree
	// treeErr is why there is no tree.
	treeErr error
}

func newGroupsPane(c *common, t *draw.Theme) pane {
	l := &groupsPane{list: list{common: c}}
	l.Table = draw.Table{Theme: t, Kinds: []string{"groups", "tree", "members"}, ID: l.rowID}
	only := func(kind int) func() bool { return func() bool { return l.Kind != kind } }
	list, tree, members := only(groupsAll), only(groupsTree), only(groupsMembers)
	g := func(row int) *groupRow { return &l.all.rows[row] }
	dim := func(int) draw.Style { return t.Dim }
	l.Cols = []draw.Column{
		{Name: "MLID", Wide: 6, Hidden: list, Text: func(row int) string { return fmt.Sprintf("0x%04x", g(row).group.MLID) }, Order: func(row int) int64 { return int64(g(row).group.MLID) }},
		{Name: "members", Wide: 7, Right: true, Hidden: list, Text: func(row int) string { return draw.Thousands(len(g(row).group.Members)) }, Order: func(row int) int64 { return int64(len(g(row).group.Members)) }},
		{Name: "gone", Wide: 5, Right: true, Rank: 2, Hidden: list, Text: func(row int) string { return countOrNone(g(row).gone) }, Order: func(row int) int64 { return int64(g(row).gone) }, Look: func(int) draw.Style { return t.Warn }},
		{Name: "switches", Wide: 8, Right: true, Rank: 2, Hidden: list, Text: l.switchesText, Order: func(row int) int64 { return int64(g(row).switches) }},
		{Name: "tree", Least: 15, Share: 3, Hidden: list, Text: func(row int) string { return g(row).verdict(l.all) }, Look: l.look},
		{Name: "MGID", Least: 20, Rank: 1, Hidden: list, Text: func(row int) string { return g(row).mgid }},
		{Name: "P_Key", Wide: 6, Rank: 3, Hidden: list, Text: l.pkey, Look: dim},
		{Name: "SL", Wide: 2, Right: true, Rank: 3, Hidden: list, Text: func(row int) string { return fmt.Sprint(g(row).group.SL) }, Look: dim},
		{Name: "MTU", Wide: 4, Right: true, Rank: 3, Hidden: list, Text: func(row int) string { return g(row).mtu }, Look: dim},
		{Name: "rate", Wide: 8, Right: true, Rank: 3, Hidden: list, Text: func(row int) string { return g(row).rate }, Look: dim},
		{Name: "port, where it leads", Least: 24, Hidden: tree, Text: func(row int) string { return l.drawn.rows[row].text(t) }, Look: func(row int) draw.Style { return l.drawn.rows[row].look(t) }},
		{Name: "", Wide: 16, Hidden: tree, Text: func(row int) string { return l.drawn.rows[row].word }, Look: func(row int) draw.Style { return l.drawn.rows[row].look(t) }},
		{Name: "member", Least: 18, Hidden: members, Text: l.memberName, Look: l.memberLook},
		{Name: "switch", Least: 12, Rank: 1, Hidden: members, Text: l.memberSwitch},
		{Name: "join", Wide: 12, Hidden: members, Text: func(row int) string { return l.member(row).Join.String() }},
		{Name: "port GUID", Wide: 18, Rank: 2, Hidden: members, Text: func(row int) string { return fmt.Sprintf("0x%016x", l.member(row).GUID) }, Look: dim},
	}
	return l
}

func countOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return draw.Thousands(n)
}

// groupID tells groups apart: several may share a multicast LID.
func groupID(g *fabric.Group) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(g.MGID[:])
	return h.Sum64()<<16 | uint64(g.MLID)
}

func (l *groupsPane) rowID(row int) uint64 {
	switch l.Kind {
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

func (l *groupsPane) memberLook(row int) draw.Style {
	return draw.When(l.memberPort(row) == fabric.None, l.Theme.Warn, "")
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
		return draw.Thousands(n)
	}
	return "?"
}

func (l *groupsPane) look(row int) draw.Style {
	switch g := &l.all.rows[row]; {
	case len(g.faults) > 0:
		return l.Theme.Bad
	case g.switches <= 0:
		return l.Theme.Dim
	}
	return l.Theme.Good
}

func (l *groupsPane) pkey(row int) string {
	if g := l.all.rows[row].group; g.PKey != 0 {
		return fmt.Sprintf("0x%04x", g.PKey)
	}
	return ""
}

func (l *groupsPane) about() about {
	return about{name: "Groups", short: "Groups", help: "multicast groups, their members and trees"}
}

func (l *groupsPane) show(sc *scene, changed bool) {
	l.sc = sc
	if changed {
		l.renew()
	}
}

func (l *groupsPane) collect() {
	all, err := l.mcast.value, l.mcast.err
	var drawn *groupTree
	var treeErr error
	if key, ok := l.treeKey(); ok && l.drawing.of == any(key) {
		drawn, treeErr = l.drawing.value, l.drawing.err
	}
	if l.all == all && l.err == err && l.drawn == drawn && l.treeErr == treeErr {
		return
	}
	l.Hold()
	l.all, l.err, l.drawn, l.treeErr = all, err, drawn, treeErr
	l.renew()
}

func (l *groupsPane) renew() {
	l.Hold()
	g := l.group()
	switch {
	case g == nil || l.all.key.pic != l.sc.pic:
		l.Build(0)
	case l.Kind == groupsAll:
		l.Build(len(l.all.rows))
	case l.Kind == groupsMembers:
		l.Build(len(g.group.Members))
	case l.drawn == nil || l.drawn.mlid != g.group.MLID:
		l.Build(0)
	default:
		l.Build(len(l.drawn.rows))
	}
}

// leaving remembers the group that is selected.
func (l *groupsPane) leaving() {
	if row, ok := l.Selected(); ok && l.Kind == groupsAll {
		if id := l.rowID(row); id != l.chosen {
			l.chosen, l.from = id, 0
		}
	}
}

// escape goes from a group to the list of them.
func (l *groupsPane) escape(bool) (func() tea.Msg, string) {
	if l.Kind == groupsAll {
		return nil, ""
	}
	return func() tea.Msg { return kindMsg{groupsAll, l.chosen} }, "groups"
}

func (l *groupsPane) whyNotSort() string {
	if l.Kind == groupsTree {
		return "a tree has an order of its own"
	}
	return l.list.whyNotSort()
}

func (l *groupsPane) title() string {
	if g := l.group(); g != nil && l.Kind != groupsAll {
		return fmt.Sprintf("%s of 0x%04x", l.Kinds[l.Kind], g.group.MLID)
	}
	return ""
}

func (l *groupsPane) picture() *draw.Badge {
	if l.sc == nil || l.all == nil {
		return nil
	}
	return l.sc.pictureBadge(l.Theme, l.sc.pic)
}

func (l *groupsPane) figure() string {
	switch {
	case l.Size == 0:
		return ""
	case l.Kind == groupsTree:
		return l.drawn.figure
	case l.Kind == groupsMembers:
		return draw.Count(l.Size, "member")
	}
	return draw.Count(l.Size, "group") + " from " + l.all.origin
}

func (l *groupsPane) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case len(l.sc.pic.Fabric.Nodes) == 0:
		return l.sc.whyNoSubnet()
	case l.mcast.progress() != "":
		return "following what members send: " + l.mcast.progress()
	case !l.Filt.Empty() && l.Size > 0:
		return l.NoMatch("row")
	case l.err != nil:
		return l.err.Error()
	case l.all == nil || len(l.all.rows) == 0:
		return "there are no multicast groups"
	case l.Kind == groupsTree && l.treeErr != nil:
		return l.treeErr.Error()
	case l.Kind == groupsTree:
		return "no member of this group is in the subnet: nothing is sent"
	}
	return "this group has no members"
}

func (l *groupsPane) subject() subject {
	row, ok := l.Selected()
	if !ok || l.Kind == groupsAll {
		return nothing
	}
	s := nothing
	s.f = l.sc.pic.Fabric
	if l.Kind == groupsMembers {
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
func (l *groupsPane) enter() (func() tea.Msg, string) {
	row, ok := l.Selected()
	if !ok {
		return nil, "nothing is selected"
	}
	s := l.subject()
	switch {
	case l.Kind == groupsAll:
		return func() tea.Msg { return kindMsg{kind: groupsTree} }, ""
	case l.Kind == groupsMembers && s.node == fabric.None:
		return nil, "this member is not in the subnet: it sends nothing"
	case l.Kind == groupsMembers:
		return func() tea.Msg {
			l.from = l.member(row).GUID
			return kindMsg{kind: groupsTree}
		}, ""
	case s.node == fabric.None:
		return nil, "this row is a remark: there is nothing behind it"
	}
	return s.goTo, ""
}

// groupsKey is what groups are computed from.
type groupsKey struct {
	pic    *session.Picture
	groups *session.Groups
}

func (l *groupsPane) key() groupsKey { return groupsKey{l.sc.pic, l.sc.st.Groups} }
