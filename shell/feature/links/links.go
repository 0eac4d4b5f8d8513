// SPDX-License-Identifier: Apache-2.0

// Package links lists links.
package links

import (
	"cmp"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature is the command show links.
var Feature = feature.Feature{Name: "links", Commands: []feature.Command{{
	Path:    "show links",
	Summary: "List the links, or the links of one node",
	Help: "Each link is listed once, with the port of the lower GUID first, in the order of GUIDs and port numbers.\n" +
		"With NODE the port of the node is first.",
	Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode, Optional: true}},
	Examples: []string{
		"show links",
		"show links leaf-01",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// list holds links of a fabric.
type list struct {
	f           *fabric.Fabric
	picture     *session.Picture
	links       []fabric.Link // A is the port that is shown first
	unreachable map[fabric.NodeIndex]bool
}

// link is a link of a list.
type link struct {
	*list
	fabric.Link
}

var table = answer.Table[link]{
	Key: "links", Title: "links", Stream: true,
	Fields: []answer.Field[link]{
		answer.PlaceField("a", "PORT", "", func(l link) answer.Value { return answer.Port(l.f, l.A) }),
		answer.PlaceField("b", "PORT", "port at the other end", func(l link) answer.Value {
			return answer.Port(l.f, l.B)
		}),
		answer.FieldOf(answer.KindText, "", "LINK", "width and speed", func(l link) answer.Value {
			return feature.WidthSpeed(l.f, l.A)
		}),
		answer.FieldOf(answer.KindText, "width", "", "", func(l link) answer.Value { return feature.Width(l.f, l.A) }),
		answer.FieldOf(answer.KindText, "speed", "", "", func(l link) answer.Value { return feature.Speed(l.f, l.A) }),
		gbps,
		answer.FieldOf(answer.KindText, "state", "STATE", "logical state of the first port, or unreachable", state),
	},
	Lead: func(l link) answer.Lead { return feature.ToPort(l.f, l.A) },
	ID:   func(l link) uint64 { return uint64(uint32(l.A)) },
}

var gbps = answer.Field[link]{
	Key: "gbps", Kind: answer.KindFloat, Unit: "Gbit/s", Help: "data rate, without the overhead of line coding",
	Value: func(l link) answer.Value {
		rate := l.f.Ports[l.A].DataRate()
		if rate == 0 {
			return answer.NotRead()
		}
		return answer.Float(math.Round(rate*8/1e3)/1e6, 2)
	},
}

var decl = answer.Decl[*list]{
	Command: "show links", Help: "the links of a state",
	Layout: []answer.Item[*list]{{Table: answer.Show(&table, func(l *list) answer.Rows[link] {
		return answer.Lazy(len(l.links), func(i int) link { return link{l, l.links[i]} })
	})}},
}

func run(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	f := p.Fabric
	only, err := c.NodeArg(f)
	if err != nil {
		return err
	}
	l := &list{f: f, picture: p, links: f.SubnetLinks(), unreachable: f.UnreachableNodes()}
	if only != fabric.None {
		l.links = f.Links() // the node may be outside the subnet
		l.links = slices.DeleteFunc(l.links, func(l fabric.Link) bool {
			return f.Ports[l.A].Node != only && f.Ports[l.B].Node != only
		})
	}
	for i, x := range l.links {
		of := func(end fabric.PortIndex) bool { return f.Ports[end].Node == only }
		if of(x.B) && !of(x.A) || of(x.A) == of(x.B) && compareEnds(f, x.B, x.A) < 0 {
			l.links[i] = fabric.Link{A: x.B, B: x.A}
		}
	}
	slices.SortFunc(l.links, func(a, b fabric.Link) int { return compareEnds(f, a.A, b.A) })
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks|session.NeedFile), l))
}

// compareEnds orders ports by the GUID of their node, then by port number.
func compareEnds(f *fabric.Fabric, a, b fabric.PortIndex) int {
	x, y := &f.Ports[a], &f.Ports[b]
	return cmp.Or(cmp.Compare(f.Nodes[x.Node].GUID, f.Nodes[y.Node].GUID), cmp.Compare(x.Num, y.Num), cmp.Compare(a, b))
}

func state(l link) answer.Value {
	if l.f.IsUnreachable(l.Link, l.unreachable) {
		return answer.Text("unreachable")
	}
	return feature.PortState(l.picture, l.A)
}
