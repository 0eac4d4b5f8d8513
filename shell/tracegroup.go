// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

type groupTrace struct {
	Of    string `json:"of"`
	Stale bool   `json:"stale,omitempty"`
	Src   string `json:"src"`
	MLID  string `json:"mlid"`
	// Copies is how many of the packet end ports get.
	Copies  int      `json:"copies"`
	Circles bool     `json:"circles"`
	Twice   []string `json:"twice,omitempty"`
	// Missed are members that get none. Where the packet meets a switch whose table was not read, they are Unknown.
	Missed  []string  `json:"missed,omitempty"`
	Unknown []string  `json:"unknown,omitempty"`
	Tree    *groupHop `json:"tree,omitempty"`
}

type groupHop struct {
	Switch string      `json:"switch"`
	In     uint8       `json:"in"`
	Fate   string      `json:"fate,omitempty"`
	Copies []groupCopy `json:"copies,omitempty"`
}

type groupCopy struct {
	Out  uint8     `json:"out"`
	Next *groupHop `json:"next,omitempty"`
	// End is the end port that keeps the copy, Member how it is in the group.
	End    string `json:"end,omitempty"`
	Member string `json:"member,omitempty"`
	// Dead says that the port leads nowhere.
	Dead bool `json:"dead,omitempty"`
}

// traceGroup draws where a packet to a multicast LID goes.
func (c *call) traceGroup(st *session.State, p *session.Picture, from, to string) error {
	mlid, err := feature.ParseMLID(to)
	if err != nil {
		return err
	}
	f := p.Fabric
	src, err := places.Resolve(f, from)
	if err != nil {
		return err
	}
	end := f.EndPortOf(src.Port)
	tree, err := mcast.Trace(p.Tables, end, mlid)
	if err != nil {
		return err
	}
	d := drawer{f: f, join: map[fabric.PortIndex]fabric.JoinState{}, got: map[fabric.PortIndex]bool{}}
	if known, err := st.GroupsOf(p); err == nil {
		for _, l := range mcast.ByLID(f, known.List) {
			for _, m := range l.Members {
				if l.MLID == mlid {
					d.join[m.End] = m.Join
				}
			}
		}
	}
	a := groupTrace{Of: st.Title(p), Stale: st.IsStale(p), Src: f.PortName(end), MLID: feature.MLIDText(mlid), Copies: tree.Delivered, Circles: tree.Circles}
	if tree.First != nil {
		a.Tree = d.hop(tree.First)
	}
	for _, e := range tree.Twice {
		a.Twice = append(a.Twice, f.PortName(e))
	}
	for _, e := range f.EndPorts {
		if d.join[e].Receives() && e != end && !d.got[e] {
			a.Missed = append(a.Missed, f.PortName(e))
		}
	}
	if d.unread {
		a.Missed, a.Unknown = nil, a.Missed
	}
	if err := c.out.Answer(&a); err != nil {
		return err
	}
	wrong := fmt.Sprintf("%s -> %s: not every member gets it once", a.Src, a.MLID)
	unknown := fmt.Sprintf("%s -> %s: unknown: the packet meets a switch whose table was not read", a.Src, a.MLID)
	return c.judge(verdict.Of(a.Circles || len(a.Twice)+len(a.Missed) > 0, d.unread), wrong, unknown)
}

type drawer struct {
	f    *fabric.Fabric
	join map[fabric.PortIndex]fabric.JoinState
	got  map[fabric.PortIndex]bool
	// unread says that the packet meets a switch whose table was not read.
	unread bool
}

func (d *drawer) hop(h *mcast.Hop) *groupHop {
	t := &groupHop{Switch: d.f.NodeName(d.f.Switches[h.Switch]), In: h.In}
	if h.Fate != mcast.Passed {
		t.Fate = h.Fate.String()
	}
	d.unread = d.unread || h.Fate == mcast.Unread
	for _, c := range h.Copies {
		out := groupCopy{Out: c.Out}
		switch {
		case c.Next != nil:
			out.Next = d.hop(c.Next)
		case c.End == fabric.None:
			out.Dead = true
		default:
			d.got[c.End] = true
			out.End, out.Member = d.f.PortName(c.End), "none"
			if join, in := d.join[c.End]; in {
				out.Member = join.String()
			}
		}
		t.Copies = append(t.Copies, out)
	}
	return t
}

func (a *groupTrace) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s -> multicast %s, in %s: %s", a.Src, a.MLID, a.Of, copiesText(a.Copies))
	if a.Circles {
		_, _ = fmt.Fprint(w, ", and the packet CIRCLES")
	}
	_, _ = fmt.Fprintln(w)
	if a.Tree == nil {
		_, _ = fmt.Fprintln(w, "  it is attached to no switch")
	} else {
		_, _ = fmt.Fprintf(w, "  %s\n", a.Tree.line())
		a.Tree.branches(w, "  ")
	}
	list(w, "gets it twice", a.Twice)
	list(w, "does not get it", a.Missed)
	list(w, "unknown", a.Unknown)
}

func copiesText(n int) string {
	switch n {
	case 0:
		return "nobody gets it"
	case 1:
		return "1 port gets it"
	}
	return fmt.Sprintf("%d ports get it", n)
}

func (h *groupHop) line() string {
	line := fmt.Sprintf("%s (in by %d)", h.Switch, h.In)
	switch h.Fate {
	case "":
	case mcast.Circling.String():
		line += "  CIRCLES: it was here before"
	case mcast.Again.String():
		line += "  AGAIN: another copy came in here"
	case mcast.Dropped.String():
		line += "  DROPPED: no entry for the LID"
	case mcast.Unread.String():
		line += "  its table was not read"
	}
	return line
}

func (h *groupHop) branches(w io.Writer, indent string) {
	for i, c := range h.Copies {
		mark, more := "+-", "|  "
		if i == len(h.Copies)-1 {
			mark, more = "`-", "   "
		}
		switch {
		case c.Next != nil:
			_, _ = fmt.Fprintf(w, "%s%s %d: %s\n", indent, mark, c.Out, c.Next.line())
			c.Next.branches(w, indent+more)
		case c.Dead:
			_, _ = fmt.Fprintf(w, "%s%s %d: NO LINK\n", indent, mark, c.Out)
		case c.Member == "full":
			_, _ = fmt.Fprintf(w, "%s%s %d: %s\n", indent, mark, c.Out, c.End)
		case c.Member == "none":
			_, _ = fmt.Fprintf(w, "%s%s %d: %s  NOT IN THE GROUP\n", indent, mark, c.Out, c.End)
		default:
			_, _ = fmt.Fprintf(w, "%s%s %d: %s (%s)\n", indent, mark, c.Out, c.End, c.Member)
		}
	}
}
