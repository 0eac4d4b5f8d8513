// SPDX-License-Identifier: Apache-2.0

// Package sl2vl shows the tables that map service levels to virtual lanes.
package sl2vl

import (
	"errors"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature has the command show sl2vl.
var Feature = feature.Feature{Name: "sl2vl", Commands: []feature.Command{{
	Path:     "show sl2vl",
	Summary:  "List the SL2VL tables of a node",
	Help:     "Equal tables of one output port are listed together. sweep full sl2vl reads the tables.",
	Args:     []lang.Arg{{Name: "NODE", Kind: lang.KindNode}},
	Examples: []string{"sweep full sl2vl; show sl2vl leaf-01", "engine dfsssp; route; show sl2vl node-0001"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

var errNotRead = errors.New("the SL2VL tables were neither computed nor read; hint: run 'sweep full sl2vl'")

// mapping is a row of the table: the SL2VL tables of one output port that are equal, for several input ports.
type mapping struct {
	f       *fabric.Fabric
	outPort fabric.PortIndex
	out     uint8
	in      []int
	vls     fabric.VLs
}

// tables holds the tables of a node.
type tables struct {
	f    *fabric.Fabric
	node fabric.NodeIndex
	all  []mapping
}

var table = answer.Table[mapping]{
	Key: "tables", Title: "SL2VL tables", Stream: true,
	Fields: []answer.Field[mapping]{
		{Key: "out", Name: "OUT", Kind: answer.KindInt, Help: "the port through which packets leave",
			Value: func(m mapping) answer.Value { return answer.PortNumber(m.f, m.outPort) }},
		{Name: "IN", Kind: answer.KindText, Help: "the ports through which packets enter",
			Value: func(m mapping) answer.Value {
				return answer.Text(feature.PortRanges(m.f, m.f.Ports[m.outPort].Node, m.in))
			}},
		{Key: "in", Kind: answer.KindList, Help: "the ports through which packets enter",
			Value: func(m mapping) answer.Value {
				return answer.Ints(m.in)
			}},
		{Name: "VL OF SL 0 TO 15", Kind: answer.KindText, Help: "the VL of each service level",
			Value: func(m mapping) answer.Value {
				return answer.Text(strings.ReplaceAll(answer.Ints(m.vls[:]).String(), ",", ""))
			}},
		{Key: "vls", Kind: answer.KindList, Help: "the VL of each service level", Value: func(m mapping) answer.Value {
			return answer.Ints(m.vls[:])
		}},
	},
	Lead: func(m mapping) answer.Lead { return feature.ToPort(m.f, m.outPort) },
}

var decl = answer.Decl[tables]{
	Command: "show sl2vl", Help: "the SL2VL tables of a node", Title: "SL2VL tables of {node}, {of}",
	Facts: []answer.Field[tables]{{Key: "node", Name: "node", Kind: answer.KindPlace,
		Value: func(t tables) answer.Value { return answer.Node(t.f, t.node) }}},
	Layout: []answer.Item[tables]{
		{Table: answer.Show(&table, func(t tables) answer.Rows[mapping] { return answer.Slice(t.all) })},
	},
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
	case p.Tables.SL2VL == nil:
		return errNotRead
	}
	t := tables{f: f, node: node}
	var missing []fabric.PortIndex
	for out := range int(f.Nodes[node].NumPorts) + 1 {
		port := f.PortAt(node, out)
		if port == fabric.None {
			continue
		}
		mappings := equal(f, p.Tables.SL2VL, node, port)
		if len(mappings) == 0 && p.Kind == session.Live && f.Ports[port].Linked() {
			missing = append(missing, port)
		}
		t.all = append(t.all, mappings...)
	}
	b := st.Basis(p, session.NeedLinks)
	feature.NotRead(&b, f, "SL2VL table", feature.NoTable, missing)
	return c.Answer(decl.Answer(b, t))
}

// The function equal returns the SL2VL tables of an output port. Input ports with equal tables form one row.
func equal(f *fabric.Fabric, t *fabric.SL2VL, node fabric.NodeIndex, port fabric.PortIndex) (mappings []mapping) {
	n, out := &f.Nodes[node], f.Ports[port].Num
	ins := 1
	if n.IsSwitch() {
		ins = int(n.NumPorts) + 1
	}
	for in := range ins {
		if !t.Has(node, uint8(in), out) {
			continue
		}
		vls := t.VLs(node, uint8(in), out)
		i := slices.IndexFunc(mappings, func(m mapping) bool { return m.vls == vls })
		if i < 0 {
			i = len(mappings)
			mappings = append(mappings, mapping{f: f, outPort: port, out: out, vls: vls})
		}
		mappings[i].in = append(mappings[i].in, in)
	}
	return mappings
}
