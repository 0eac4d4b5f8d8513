// SPDX-License-Identifier: Apache-2.0

package groups

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session/administration"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// grouping holds the multicast groups of a state, and the faults of their trees.
type grouping struct {
	key    groupsKey
	origin string
	rows   []groupRow
	why    string // why the trees were not traced, "" if they were
}

// groupRow is a row: a group. The field switches is the number of switches with a table entry for the group, or -1 if
// the tables are unknown.
type groupRow struct {
	group           *fabric.Group
	gone, switches  int
	faults          []mcast.Fault
	mgid, mtu, rate string // as text, "" if unknown
}

// verdict returns a text that states whether all members receive the packets of all members.
func (g *groupRow) verdict(all *grouping) string {
	switch {
	case all.why != "":
		return all.why
	case len(g.faults) > 0:
		var kinds []string
		for i := range g.faults {
			if k := string(g.faults[i].Kind); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		return strings.Join(kinds, ", ")
	case g.switches == 0:
		return "too few members"
	}
	return "complete"
}

// newGrouping traces the packets of the members of all groups, as the command "check mcast" does.
func newGrouping(ctx context.Context, sc *pane.Scene, key groupsKey, progress func(done, total int)) (*grouping,
	error) {
	known, err := sc.State.GroupsOf(key.pic)
	if err != nil {
		return nil, err
	}
	all := &grouping{key: key, origin: known.Origin, rows: make([]groupRow, len(known.List))}
	f, t := key.pic.Fabric, key.pic.Tables
	faults := map[uint16][]mcast.Fault{}
	if t == nil || t.MFT == nil {
		all.why = "unknown: no multicast tables"
	} else {
		report, err := mcast.Check(ctx, t, known.List, progress)
		if err != nil {
			return nil, err
		}
		for _, x := range report.Faults {
			faults[x.MLID] = append(faults[x.MLID], x)
		}
	}
	for i := range known.List {
		g := &known.List[i]
		row := groupRow{group: g, switches: -1, faults: faults[g.MLID]}
		for _, m := range g.Members {
			row.gone += draw.Btoi(f.PortByGUID(m.GUID) == fabric.None)
		}
		if all.why == "" {
			row.switches = 0
			for s := range f.Switches {
				row.switches += draw.Btoi(t.MFT.Any(fabric.SwitchIndex(s), g.MLID))
			}
		}
		row.mgid, row.mtu, row.rate = administration.GroupText(g)
		all.rows[i] = row
	}
	return all, ctx.Err()
}

// groupTree is the tree of a member's packets. It has a row for each copy of the packet.
type groupTree struct {
	mlid   uint16
	rows   []copyRow
	figure string
}

// copyRow is a row: a switch or an end port that receives a copy, or a remark.
type copyRow struct {
	// lead states for each higher level whether further rows of that level follow. The field last is set for the last
	// row of its level.
	lead []bool
	last bool
	name string
	word string
	// node is the switch or node that receives the copy, end the end port, and link the port that sends the copy. Each
	// may be None.
	node      fabric.NodeIndex
	end, link fabric.PortIndex
	bad       bool
}

func (r *copyRow) text(t *draw.Theme) string {
	if r.lead == nil {
		return r.name
	}
	tee, corner, bar := "├─", "└─", "│ "
	if t.ASCII {
		tee, corner, bar = "|-", "`-", "| "
	}
	var b strings.Builder
	for _, more := range r.lead[1:] {
		b.WriteString(prose.When(more, bar, "  "))
	}
	b.WriteString(prose.When(r.last, corner, tee))
	b.WriteString(" " + r.name)
	return b.String()
}

func (r *copyRow) look(t *draw.Theme) draw.Style {
	switch {
	case r.bad:
		return t.Bad
	case r.end != fabric.None:
		return ""
	}
	return t.Title
}

// treeDrawer creates the rows of a tree. (The tree of lipgloss is a single text that would have to be split into rows.)
type treeDrawer struct {
	f    *fabric.Fabric
	join map[fabric.PortIndex]fabric.JoinState
	got  map[fabric.PortIndex]bool
	rows []copyRow
}

func (d *treeDrawer) remark(bad bool, format string, args ...any) {
	d.rows = append(d.rows, copyRow{name: fmt.Sprintf(format, args...), node: fabric.None, end: fabric.None,
		link: fabric.None, bad: bad})
}

// newGroupTree returns the tree for packets of the member with a given port GUID. If there is no such member, it uses
// the root of the tree with torus-2QoS, and the first member in the subnet with other engines. It returns nil if the
// group has no member in the subnet.
func newGroupTree(t *fabric.Tables, g *groupRow, from uint64) (*groupTree, error) {
	f := t.Fabric
	d := &treeDrawer{f: f, join: map[fabric.PortIndex]fabric.JoinState{}, got: map[fabric.PortIndex]bool{}}
	var src fabric.PortIndex = fabric.None
	chosen := false
	for _, m := range g.group.Members {
		p := f.PortByGUID(m.GUID)
		if p == fabric.None {
			continue
		}
		d.join[p] |= m.Join
		if chosen = chosen || m.GUID == from; src == fabric.None || m.GUID == from {
			src = p
		}
	}
	if src == fabric.None {
		return nil, nil
	}
	grid, rooted := torus.Of(t)
	rooted = rooted && !chosen
	var tree *mcast.Tree
	var err error
	if rooted {
		src = fabric.None
		tree, err = mcast.TraceRoot(t, grid.MasterTree().Root, g.group.MLID)
	} else {
		tree, err = mcast.Trace(t, src, g.group.MLID)
	}
	if err != nil {
		return nil, err
	}
	for i := range g.faults {
		d.fault(&g.faults[i])
	}
	first := len(d.rows)
	if !rooted {
		d.rows = append(d.rows, copyRow{name: f.PortName(src), word: "sends", node: f.Ports[src].Node, end: src,
			link: fabric.None})
	}
	switch {
	case rooted:
		d.hop(tree.First, nil, true, 0, fabric.None)
		d.rows[first].word = "root"
	case tree.First == nil:
		d.remark(true, "not attached to a switch")
	default:
		d.hop(tree.First, []bool{false}, true, 0, fabric.None)
	}
	missed := 0
	for _, m := range f.EndPorts {
		if d.join[m].Receives() && m != src && !d.got[m] {
			d.rows = append(d.rows, copyRow{name: f.PortName(m), word: "RECEIVES NOTHING", node: f.Ports[m].Node,
				end:  m,
				link: fabric.None, bad: true})
			missed++
		}
	}
	figure := fmt.Sprintf("%s arrive, %s missed", prose.Thousands(tree.Delivered), prose.Thousands(missed))
	return &groupTree{g.group.MLID, d.rows, figure}, nil
}

func (d *treeDrawer) hop(h *mcast.Hop, lead []bool, last bool, out uint8, link fabric.PortIndex) {
	node := d.f.Switches[h.Switch]
	name := d.f.NodeName(node)
	if link != fabric.None {
		name = fmt.Sprintf("%d: %s", out, name)
	}
	r := copyRow{lead: lead, last: last, name: name, node: node, end: fabric.None, link: link}
	if h.Fate != mcast.Passed {
		r.word, r.bad = strings.ToUpper(h.Fate.String()), true
	}
	d.rows = append(d.rows, r)
	below := append(slices.Clip(lead), !last)
	for i, c := range h.Copies {
		end := i == len(h.Copies)-1
		at := d.f.Port(node, c.Out)
		switch {
		case c.Next != nil:
			d.hop(c.Next, below, end, c.Out, at)
		case c.End == fabric.None:
			d.rows = append(d.rows, copyRow{lead: below, last: end, name: fmt.Sprintf("%d:", c.Out), word: "NO LINK",
				node: node, end: fabric.None, link: at, bad: true})
		default:
			d.end(c, below, end)
		}
	}
}

// end adds a copy that an end port keeps.
func (d *treeDrawer) end(c mcast.Copy, lead []bool, last bool) {
	r := copyRow{
		lead: lead, last: last, name: fmt.Sprintf("%d: %s", c.Out, d.f.PortName(c.End)), node: d.f.Ports[c.End].Node,
		end: c.End, link: fabric.None,
	}
	join, in := d.join[c.End]
	switch {
	case d.got[c.End]:
		r.word, r.bad = "DUPLICATE", true
	case !in:
		r.word, r.bad = "NOT IN THE GROUP", true
	case join != fabric.JoinFull:
		r.word = join.String()
	}
	d.got[c.End] = true
	d.rows = append(d.rows, r)
}

func (d *treeDrawer) fault(x *mcast.Fault) {
	words := []string{string(x.Kind)}
	for i, p := range [2]fabric.PortIndex{x.Src, x.Dst} {
		if p != fabric.None {
			words = append(words, [2]string{"from ", "to "}[i]+d.f.PortName(p))
		}
	}
	for _, p := range x.Ports {
		words = append(words, "at "+d.f.PortName(p))
	}
	d.remark(true, "%s", strings.Join(words, ", "))
}

// treeKey identifies a tree by a group and the member that sends.
type treeKey struct {
	all  *grouping
	id   uint64
	from uint64
}

func (l *groups) treeKey() (key treeKey, ok bool) {
	g := l.group()
	if l.Kind != groupsTree || g == nil || l.all.key != l.key() {
		return key, false
	}
	return treeKey{l.all, groupID(g.group), l.from}, true
}

// Seek computes the groups, and the tree of the selected group.
func (l *groups) Seek(s pane.Stage) tea.Cmd {
	if !s.Visible {
		return nil
	}
	key, sc := l.key(), l.Scene
	groups := l.mcast.Start(l.Common, key, func(ctx context.Context, progress func(int, int)) (*grouping, error) {
		return newGrouping(ctx, sc, key, progress)
	})
	of, ok := l.treeKey()
	if !ok {
		return groups
	}
	g, t, from := l.group(), l.Scene.Picture.Tables, l.from
	return tea.Batch(groups, l.drawing.Start(l.Common, of, func(context.Context, func(int, int)) (*groupTree, error) {
		if t == nil {
			return nil, mcast.ErrNoTables
		}
		return newGroupTree(t, g, from)
	}))
}
