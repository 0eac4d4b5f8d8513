// SPDX-License-Identifier: Apache-2.0

// Package groups shows multicast groups, their members and trees.
package groups

import (
	"fmt"
	"hash/fnv"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// The views of the pane.
const (
	groupsAll = iota
	groupsTree
	groupsMembers
)

// groups lists multicast groups. For the selected group it shows the tree and the members.
type groups struct {
	pane.List
	all     *grouping
	err     error
	mcast   pane.AsyncResult[*grouping]
	drawing pane.AsyncResult[*groupTree]
	// chosen is the ID of the group whose tree and members are shown, or 0 for the first group. The field from is the
	// port GUID of the member that sends, or 0 for the first member.
	chosen  uint64
	from    uint64
	drawn   *groupTree
	treeErr error // why there is no tree
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[any]{Name: "Groups", New: func(c *pane.Common, _ any) pane.Pane { return New(c) }}

// New makes the pane.
func New(c *pane.Common) pane.Pane {
	l := &groups{}
	t := c.Look
	l.List = pane.NewList(c, pane.About{Name: "Groups"},
		draw.Table{Kinds: []string{"groups", "tree", "members"}, ID: l.rowID}, l.Renew)
	only := func(kind int) func() bool { return func() bool { return l.Kind != kind } }
	list, tree, members := only(groupsAll), only(groupsTree), only(groupsMembers)
	g := func(row int) *groupRow { return &l.all.rows[row] }
	l.Cols = []draw.Column{
		{Name: "MLID", Help: "multicast LID, by which switches forward",
			Wide: 6, Hidden: list, Text: func(row int) string {
				return fmt.Sprintf("0x%04x", g(row).group.MLID)
			}, Order: func(row int) int64 { return int64(g(row).group.MLID) }},
		{Name: "members", Help: "end ports that joined",
			Wide: 7, Right: true, Hidden: list, Order: func(row int) int64 { return int64(len(g(row).group.Members)) }},
		{Name: "missing", Help: "members that are not in the subnet",
			Wide: 7, Right: true, Rank: 2, Hidden: list, Text: func(row int) string {
				return draw.CountOrNone(g(row).gone)
			}, Order: func(row int) int64 { return int64(g(row).gone) }, Look: func(int) draw.Style { return t.Warn }},
		{Name: "switches", Help: "switches in the tree of the group",
			Wide: 8, Right: true, Rank: 2, Hidden: list, Text: l.switchesText, Order: func(row int) int64 {
				return int64(g(row).switches)
			}},
		{Name: "tree", Help: "whether each member gets each packet once",
			Least: 15, Share: 3, Hidden: list, Text: func(row int) string {
				return g(row).verdict(l.all)
			}, Look: l.look},
		{Name: "MGID", Help: "multicast GID, by which programs name the group",
			Least: 20, Rank: 1, Hidden: list, Text: func(row int) string { return g(row).mgid }},
		{Name: "P_Key", Help: "partition key",
			Wide: 6, Rank: 3, Hidden: list, Text: l.pkey, Dim: true},
		{Name: "SL", Help: "service level; SL2VL tables map it to a VL",
			Wide: 2, Right: true, Rank: 3, Hidden: list, Text: func(row int) string {
				return prose.When(g(row).group.SLUnknown, "?", fmt.Sprint(g(row).group.SL))
			}, Dim: true},
		{Name: "MTU", Help: "largest packet, in bytes",
			Wide: 4, Right: true, Rank: 3, Hidden: list, Text: func(row int) string { return g(row).mtu }, Dim: true},
		{Name: "rate", Help: "slowest link that packets may cross, in Gbit/s",
			Wide: 8, Right: true, Rank: 3, Hidden: list, Text: func(row int) string { return g(row).rate }, Dim: true},
		{Name: "port and peer", Help: "ports by which packets of the group leave, from the root of the tree",
			Least: 24, Hidden: tree, Text: func(row int) string {
				return l.drawn.rows[row].text(t)
			}, Look: func(row int) draw.Style { return l.drawn.rows[row].look(t) }},
		{Name: "", Wide: 16, Hidden: tree, Text: func(row int) string {
			return l.drawn.rows[row].word
		}, Look: func(row int) draw.Style { return l.drawn.rows[row].look(t) }},
		{Name: "member", Help: "end port that joined",
			Least: 18, Hidden: members, Text: l.memberName, Look: l.memberLook},
		{Name: "switch", Help: "switch to which the member is attached",
			Least: 12, Rank: 1, Hidden: members, Text: l.memberSwitch},
		{Name: "join", Help: "full member, send-only, or send-only non-member",
			Wide: 12, Hidden: members, Text: func(row int) string { return l.member(row).Join.String() }},
		{Name: "port GUID", Help: "GUID of the port",
			Wide: 18, Rank: 2, Hidden: members, Text: func(row int) string {
				return fmt.Sprintf("0x%016x", l.member(row).GUID)
			}, Dim: true},
	}
	return l
}

// groupID identifies a group. Several groups may share a multicast LID, so the LID alone is not sufficient.
func groupID(g *fabric.Group) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(g.MGID[:])
	return h.Sum64()<<16 | uint64(g.MLID)
}

func (l *groups) rowID(row int) uint64 {
	switch l.Kind {
	case groupsAll:
		return groupID(l.all.rows[row].group)
	case groupsMembers:
		return l.member(row).GUID
	}
	return uint64(row)
}

// group returns the group whose tree and members are shown.
func (l *groups) group() *groupRow {
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

func (l *groups) switchesText(row int) string {
	if n := l.all.rows[row].switches; n >= 0 {
		return prose.Thousands(n)
	}
	return "?"
}

func (l *groups) look(row int) draw.Style {
	switch g := &l.all.rows[row]; {
	case len(g.faults) > 0:
		return l.Theme.Bad
	case g.switches <= 0:
		return l.Theme.Dim
	}
	return l.Theme.Good
}

func (l *groups) pkey(row int) string {
	if g := l.all.rows[row].group; g.PKey != 0 {
		return fmt.Sprintf("0x%04x", g.PKey)
	}
	return ""
}

func (l *groups) Collect() {
	all, err := l.mcast.Value, l.mcast.Err
	var drawn *groupTree
	var treeErr error
	if key, ok := l.treeKey(); ok && l.drawing.Of == any(key) {
		drawn, treeErr = l.drawing.Value, l.drawing.Err
	}
	if l.all == all && l.err == err && l.drawn == drawn && l.treeErr == treeErr {
		return
	}
	l.KeepRow()
	l.all, l.err, l.drawn, l.treeErr = all, err, drawn, treeErr
	l.Renew()
}

func (l *groups) Renew() {
	l.KeepRow()
	g := l.group()
	switch {
	case g == nil || l.all.key.pic != l.Scene.Picture:
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

// Leaving remembers the selected group.
func (l *groups) Leaving() {
	if row, ok := l.Selected(); ok && l.Kind == groupsAll {
		if id := l.rowID(row); id != l.chosen {
			l.chosen, l.from = id, 0
		}
	}
}

// Escape returns from a group to the list.
func (l *groups) Escape(bool) (func() tea.Msg, string) {
	if l.Kind == groupsAll {
		return nil, ""
	}
	return func() tea.Msg { return pane.ShowKind{Kind: groupsAll, Row: l.chosen} }, "groups"
}

func (l *groups) WhyNotSort() string {
	if l.Kind == groupsTree {
		return "a tree cannot be sorted"
	}
	return l.List.WhyNotSort()
}

func (l *groups) Title() string {
	if g := l.group(); g != nil && l.Kind != groupsAll {
		return fmt.Sprintf("%s of 0x%04x", l.Kinds[l.Kind], g.group.MLID)
	}
	return ""
}

func (l *groups) StateBadge() *draw.Badge { return l.SceneBadge(l.all != nil) }

func (l *groups) Figure() string {
	switch {
	case l.Size == 0:
		return ""
	case l.Kind == groupsTree:
		return l.drawn.figure
	case l.Kind == groupsMembers:
		return prose.Count(l.Size, "member")
	}
	return prose.Count(l.Size, "group") + " from " + l.all.origin
}

func (l *groups) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case len(l.Scene.Picture.Fabric.Nodes) == 0:
		return l.Scene.WhyNoSubnet()
	case l.mcast.Progress() != "":
		return "tracing the packets of the members: " + l.mcast.Progress()
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

// Hidden reports whether no group is known.
func (l *groups) Hidden() bool {
	if l.Scene == nil {
		return true
	}
	t := l.Scene.Picture.Tables
	return l.N == 0 && l.Scene.State.Groups == nil && (t == nil || t.MFT == nil)
}

func (l *groups) Subject() pane.Subject {
	row, ok := l.Selected()
	if !ok || l.Kind == groupsAll {
		return pane.Nothing
	}
	s := pane.Nothing
	s.Fabric = l.Scene.Picture.Fabric
	if l.Kind == groupsMembers {
		if s.Port = l.memberPort(row); s.Port != fabric.None {
			s.Node = s.Fabric.Ports[s.Port].Node
		}
		return s
	}
	r := &l.drawn.rows[row]
	s.Node, s.Port, s.Link = r.node, r.end, r.link
	return s
}

// Enter draws the tree of the selected group, or the tree for packets from the selected member.
func (l *groups) Enter() (func() tea.Msg, string) {
	row, ok := l.Selected()
	if !ok {
		return nil, "nothing is selected"
	}
	s := l.Subject()
	switch {
	case l.Kind == groupsAll:
		return func() tea.Msg { return pane.ShowKind{Kind: groupsTree} }, ""
	case l.Kind == groupsMembers && s.Node == fabric.None:
		return nil, "this member is not in the subnet"
	case l.Kind == groupsMembers:
		return func() tea.Msg {
			l.from = l.member(row).GUID
			return pane.ShowKind{Kind: groupsTree}
		}, ""
	}
	return l.GoTo(s, "", "nothing to open here")
}

// groupsKey is the input from which the list of groups is computed.
type groupsKey struct {
	pic    *session.Picture
	groups session.GroupsKey
}

func (l *groups) key() groupsKey {
	return groupsKey{l.Scene.Picture, l.Scene.State.GroupsKey(l.Scene.Picture)}
}

func (l *groups) member(row int) *fabric.Member { return &l.group().group.Members[row] }

func (l *groups) memberPort(row int) fabric.PortIndex {
	return l.Scene.Picture.Fabric.PortByGUID(l.member(row).GUID)
}

func (l *groups) memberName(row int) string {
	if p := l.memberPort(row); p != fabric.None {
		return l.Scene.Picture.Fabric.PortName(p)
	}
	return "not in the subnet"
}

func (l *groups) memberLook(row int) draw.Style {
	return prose.When(l.memberPort(row) == fabric.None, l.Theme.Warn, "")
}

func (l *groups) memberSwitch(row int) string {
	f := l.Scene.Picture.Fabric
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
