// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// group is the answer with the tree of a multicast packet: all its copies on their way to the end ports.
type group struct {
	Src     answer.Value `key:"src" name:"src" kind:"place"`
	MLID    string       `key:"mlid"`
	Copies  int          `key:"copies" help:"copies that end ports receive"`
	Text    string       `name:"text"`
	Circles bool         `key:"circles" help:"the packet returns to a switch"`
	Twice   answer.Value `key:"twice" kind:"list" help:"end ports that receive it more than once"`
	Missed  answer.Value `key:"missed" kind:"list" help:"members that do not receive it"`
	Unknown answer.Value `key:"unknown" kind:"list" help:"members for which this is unknown, as a table was not read"`

	f                      *fabric.Fabric
	root                   *mcast.Hop
	join                   map[fabric.PortIndex]fabric.JoinState
	rows                   []groupStep
	twice, missed, unknown []fabric.PortIndex
	meetsUnread            bool
}

// groupStep is a row of the table: a copy of the packet that a switch sends to another switch or to an end port. The
// first row is the packet of the source.
type groupStep struct {
	Depth  int          `key:"depth" help:"number of switches before"`
	From   answer.Value `key:"from" name:"FROM" kind:"place" help:"the switch that makes the copy"`
	Out    answer.Value `key:"out" name:"OUT" kind:"int" help:"the port through which it leaves"`
	Switch answer.Value `key:"switch" name:"SWITCH" kind:"place" help:"the switch that receives it"`
	In     answer.Value `key:"in" name:"IN" kind:"int" help:"the port through which it enters"`
	Fate   answer.Value `key:"fate" name:"FATE" kind:"text" help:"why the switch does not forward it"`
	End    answer.Value `key:"end" name:"END" kind:"place" help:"the end port that receives it"`
	Member answer.Value `key:"member" name:"MEMBER" kind:"text" help:"membership of the end port"`
	Dead   bool         `key:"dead" help:"the port has no link"`
	lead   answer.Lead
}

var stepTable = answer.Table[groupStep]{
	Key: "tree", Title: "tree", Help: "the copies of the packet, each before its own copies",
	Fields: answer.Fields[groupStep](),
	Lead:   func(s groupStep) answer.Lead { return s.lead },
}

var groupDecl = answer.Decl[*group]{
	Command: "trace", Help: "the tree of a packet to a multicast LID",
	Title: "{src} -> multicast {mlid}, in {of}: {text}", Facts: answer.Fields[*group](),
	Layout: []answer.Item[*group]{
		{Table: answer.Show(&stepTable, func(g *group) answer.Rows[groupStep] { return answer.Slice(g.rows) })},
	},
	Verdict: (*group).verdict, Fails: answer.Always,
	Draw: func(c *answer.Canvas, _ answer.Basis, g *group) { g.draw(c) },
}

func (g *group) verdict() (answer.Verdict, string) {
	switch v := verdict.Of(g.Circles || len(g.twice)+len(g.missed) > 0, g.meetsUnread); v {
	case answer.Found:
		return v, fmt.Sprintf("%s -> %s: not every member receives it exactly once", g.Src, g.MLID)
	case answer.Unknown:
		return v, fmt.Sprintf("%s -> %s: unknown, as the table of a switch was not read", g.Src, g.MLID)
	}
	return answer.OK, ""
}

// traceGroup answers with the tree of a packet from a source to a multicast LID.
func traceGroup(c *feature.Call, st *session.State, s *session.Picture, from, to string) error {
	mlid, err := feature.ParseMLID(to)
	if err != nil {
		return err
	}
	f := s.Fabric
	src, err := places.Resolve(f, from)
	if err != nil {
		return err
	}
	end := f.EndPortOf(src.Port)
	tree, err := mcast.Trace(s.Tables, end, mlid)
	if err != nil {
		return err
	}
	g := &group{
		Src: answer.Port(f, end), MLID: feature.MLIDText(mlid), Copies: tree.Delivered,
		Text: copiesText(tree.Delivered), Circles: tree.Circles,
		f: f, root: tree.First, join: map[fabric.PortIndex]fabric.JoinState{}, twice: tree.Twice,
	}
	if tree.Circles {
		g.Text += ", and the packet CIRCLES"
	}
	if known, err := st.GroupsOf(s); err == nil {
		for _, l := range mcast.ByLID(f, known.List) {
			for _, m := range l.Members {
				if l.MLID == mlid {
					g.join[m.End] = m.Join
				}
			}
		}
	}
	b := st.Basis(s, 0)
	got := map[fabric.PortIndex]bool{}
	if g.root != nil {
		g.unfold(&b, got, g.root, 0, groupStep{})
	}
	for _, e := range f.EndPorts {
		if g.join[e].Receives() && e != end && !got[e] {
			g.missed = append(g.missed, e)
		}
	}
	if g.meetsUnread {
		g.missed, g.unknown = nil, g.missed
	}
	g.Twice, g.Missed, g.Unknown = feature.Ports(f, g.twice), feature.Ports(f, g.missed), feature.Ports(f, g.unknown)
	return c.Answer(groupDecl.Answer(b, g))
}

// unfold adds rows for the copies that a switch makes, and recursively for the copies of the next switches.
func (g *group) unfold(b *answer.Basis, got map[fabric.PortIndex]bool, h *mcast.Hop, depth int, step groupStep) {
	node := g.f.Switches[h.Switch]
	step.Depth, step.Switch, step.In, step.lead = depth, answer.Node(g.f, node), portNumber(g.f, node, int(h.In)),
		feature.ToNode(g.f, node)
	if h.Fate != mcast.Passed {
		step.Fate = answer.Text(h.Fate.String())
	}
	g.rows = append(g.rows, step)
	if h.Fate == mcast.Unread {
		g.meetsUnread = true
		place, _ := step.Switch.Place()
		b.Unread.Note("multicast table", "", 1, place)
	}
	for _, c := range h.Copies {
		copied := groupStep{From: answer.Node(g.f, node), Out: portNumber(g.f, node, int(c.Out))}
		switch {
		case c.Next != nil:
			g.unfold(b, got, c.Next, depth+1, copied)
			continue
		case c.End == fabric.None:
			copied.Dead = true
		default:
			got[c.End] = true
			copied.End, copied.Member, copied.lead = answer.Port(g.f, c.End), answer.Text(g.member(c.End)),
				feature.ToPort(g.f, c.End)
		}
		copied.Depth = depth + 1
		g.rows = append(g.rows, copied)
	}
}

// notMember is the membership of an end port that is not in the group.
const notMember = "none"

// member returns the membership of an end port in the group.
func (g *group) member(end fabric.PortIndex) string {
	if join, in := g.join[end]; in {
		return join.String()
	}
	return notMember
}

func (g *group) draw(c *answer.Canvas) {
	if g.root == nil {
		c.Line("  the source is attached to no switch")
	} else {
		c.Line("  %s", g.line(g.root))
		g.branches(c, g.root, "  ")
	}
	for _, list := range []struct {
		label string
		ports []fabric.PortIndex
	}{{"receives it twice", g.twice}, {"does not receive it", g.missed}, {"unknown", g.unknown}} {
		shown, more := prose.Cut(prose.Words(list.ports, g.f.PortName), maxListed)
		for _, port := range shown {
			c.Line("  %s: %s", list.label, port)
		}
		if more != "" {
			c.Line("  %s: %s", list.label, more)
		}
	}
}

func copiesText(n int) string {
	if n == 0 {
		return "no port receives it"
	}
	return prose.Verb(n, "port", "receives", "receive") + " it"
}

func (g *group) line(h *mcast.Hop) string {
	line := fmt.Sprintf("%s (in by %d)", g.f.NodeName(g.f.Switches[h.Switch]), h.In)
	switch h.Fate {
	case mcast.Circling:
		line += "  CIRCLES: the packet was here before"
	case mcast.Again:
		line += "  AGAIN: another copy came here too"
	case mcast.Dropped:
		line += "  DROPPED: no entry for the LID"
	case mcast.Unread:
		line += "  its table was not read"
	}
	return line
}

func (g *group) branches(c *answer.Canvas, h *mcast.Hop, indent string) {
	for i, x := range h.Copies {
		mark, more := "+-", "|  "
		if i == len(h.Copies)-1 {
			mark, more = "`-", "   "
		}
		switch {
		case x.Next != nil:
			c.Line("%s%s %d: %s", indent, mark, x.Out, g.line(x.Next))
			g.branches(c, x.Next, indent+more)
			continue
		case x.End == fabric.None:
			c.Line("%s%s %d: NO LINK", indent, mark, x.Out)
			continue
		}
		note := ""
		switch member := g.member(x.End); member {
		case fabric.JoinFull.String():
		case notMember:
			note = "  NOT IN THE GROUP"
		default:
			note = " (" + member + ")"
		}
		c.Line("%s%s %d: %s%s", indent, mark, x.Out, g.f.PortName(x.End), note)
	}
}
