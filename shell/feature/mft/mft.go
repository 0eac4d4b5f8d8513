// SPDX-License-Identifier: Apache-2.0

// Package mft shows multicast forwarding tables.
package mft

import (
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature has the command show mft.
var Feature = feature.Feature{Name: "mft", Commands: []feature.Command{{
	Path:    "show mft",
	Summary: "List the multicast forwarding table of a switch",
	Help:    "sweep full mft reads the table from the switches.",
	Args:    []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}},
	Examples: []string{
		"sweep full mft; show mft leaf-01",
		"sweep full mft; show mft spine-01 of=live",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

var errNotRead = errors.New("the multicast tables were neither computed nor read; hint: run 'sweep full mft'")

// entry is an entry of a multicast forwarding table: the output ports of a switch for a multicast LID.
type entry struct {
	of    *contents
	mlid  uint16
	ports []int
}

// contents is the table of a switch.
type contents struct {
	f       *fabric.Fabric
	node    fabric.NodeIndex
	entries []entry
}

var table = answer.Table[entry]{
	Key: "entries", Title: "entries", Stream: true,
	Fields: []answer.Field[entry]{
		{Key: "mlid", Name: "MLID", Kind: answer.KindText, Help: "multicast LID",
			Value: func(e entry) answer.Value { return answer.Text(feature.MLIDText(e.mlid)) }},
		{Name: "PORTS", Kind: answer.KindText, Value: func(e entry) answer.Value {
			return answer.Text(feature.PortRanges(e.of.f, e.of.node, e.ports))
		}},
		{Key: "ports", Kind: answer.KindList, Value: func(e entry) answer.Value { return answer.Ints(e.ports) }},
	},
}

var decl = answer.Decl[contents]{
	Command: "show mft", Help: "the multicast forwarding table of a switch",
	Title: "multicast forwarding table of {switch}, {of}",
	Facts: []answer.Field[contents]{{Key: "switch", Name: "switch", Kind: answer.KindPlace,
		Value: func(c contents) answer.Value { return answer.Node(c.f, c.node) }}},
	Layout: []answer.Item[contents]{{
		Table: answer.Show(&table, func(c contents) answer.Rows[entry] { return answer.Slice(c.entries) }),
	}},
}

func run(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	f := p.Fabric
	node, err := places.ResolveNode(f, c.Arg(0))
	switch {
	case err != nil:
		return err
	case !f.Nodes[node].IsSwitch():
		return fmt.Errorf("%s is not a switch", f.NodeName(node))
	case p.Tables.MFT == nil:
		return errNotRead
	case !p.Tables.MulticastKnown(f.Nodes[node].Switch):
		return fmt.Errorf("the multicast table of %s was not read", f.NodeName(node))
	}
	all := &contents{f: f, node: node}
	for i := range p.Tables.MFT.LIDs() {
		mlid := uint16(fabric.FirstMLID + i)
		if ports := slices.Collect(p.Tables.MFT.Each(f.Nodes[node].Switch, mlid)); len(ports) > 0 {
			all.entries = append(all.entries, entry{all, mlid, ports})
		}
	}
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks), *all))
}
