// SPDX-License-Identifier: Apache-2.0

// Package vlarb shows VL arbitration tables: how ports share their links among VLs.
package vlarb

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature has the command show vlarb.
var Feature = feature.Feature{Name: "vlarb", Commands: []feature.Command{{
	Path:     "show vlarb",
	Summary:  "List the VL arbitration tables of a node",
	Help:     "sweep full vlarb reads the tables from the subnet.",
	Args:     []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace}},
	Examples: []string{"sweep full vlarb; show vlarb leaf-01/36", "sweep full vlarb; show vlarb node-0001"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// errNotRead is returned if no VL arbitration tables were read.
var errNotRead = errors.New("the VL arbitration tables were not read; hint: run 'sweep full vlarb'")

// entries is a row of the table: a VL arbitration table of a port.
type entries struct {
	f       *fabric.Fabric
	port    fabric.PortIndex
	name    string // low or high
	entries []mad.VLWeight
}

var table = answer.Table[entries]{
	Key: "tables", Title: "VL arbitration", Stream: true,
	Fields: []answer.Field[entries]{
		{Key: "port", Name: "PORT", Kind: answer.KindPlace, Value: func(e entries) answer.Value {
			return answer.Port(e.f, e.port)
		}},
		answer.TextField("table", "TABLE", "low or high priority", func(e entries) string { return e.name }),
		{Name: "VL:WEIGHT", Kind: answer.KindText, Value: func(e entries) answer.Value {
			return answer.Text(e.text())
		}},
		{Key: "vls", Kind: answer.KindList, Help: "the VL of each entry",
			Value: func(e entries) answer.Value { return e.list(func(w mad.VLWeight) uint8 { return w.VL }) }},
		{Key: "weights", Kind: answer.KindList, Help: "the weight of each entry, in units of 64 bytes; 0 skips " +
			"the entry",
			Value: func(e entries) answer.Value { return e.list(func(w mad.VLWeight) uint8 { return w.Weight }) }},
	},
	Lead: func(e entries) answer.Lead { return feature.ToPort(e.f, e.port) },
}

var decl = answer.Decl[[]entries]{
	Command: "show vlarb", Help: "the VL arbitration tables as last read",
	Layout: []answer.Item[[]entries]{
		{Table: answer.Show(&table, func(e []entries) answer.Rows[entries] { return answer.Slice(e) })},
	},
}

func run(c *feature.Call) error {
	st := c.Session.State()
	live := st.Live
	ports, err := c.PortArg(live.Fabric)
	switch {
	case err != nil:
		return err
	case live.VLArb == nil:
		return errNotRead
	}
	b := st.Basis(live, session.NeedLinks)
	var missing []fabric.PortIndex
	var rows []entries
	for _, p := range ports {
		switch tables := live.VLArb[p]; {
		case !live.Fabric.Ports[p].Linked():
		case tables == nil:
			missing = append(missing, p)
		default:
			rows = append(rows, entries{live.Fabric, p, "low", tables.Low},
				entries{live.Fabric, p, "high", tables.High})
		}
	}
	feature.NotRead(&b, live.Fabric, "VL arbitration table", feature.NoTable, missing)
	return c.Answer(decl.Answer(b, rows))
}

// text returns the entries as VL:weight, such as "0:4 1:64". It skips entries of weight 0, as ports do.
func (e entries) text() string {
	var words []string
	for _, w := range e.entries {
		if w.Weight > 0 {
			words = append(words, fmt.Sprintf("%d:%d", w.VL, w.Weight))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}

func (e entries) list(value func(mad.VLWeight) uint8) answer.Value {
	values := make([]answer.Value, len(e.entries))
	for i, w := range e.entries {
		values[i] = answer.Int(value(w))
	}
	return answer.List(values)
}
