// SPDX-License-Identifier: Apache-2.0

// Package lft lists linear forwarding tables.
package lft

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature is the command show lft.
var Feature = feature.Feature{Name: "lft", Keys: []feature.Key{
	{Name: "pane-3", Keys: "3", Pane: "LFT", Nouns: "tables entries",
		Help: "the forwarding table of the selected switch"},
}, Commands: []feature.Command{{
	Path:    "show lft",
	Summary: "List the forwarding table of a switch",
	Args:    []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}},
	Examples: []string{
		"show lft leaf-01",
		"fail link leaf-01 36; route; show lft leaf-01 of=staged",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// contents is the forwarding table of a switch, without LIDs that have no port.
type contents struct {
	f       *fabric.Fabric
	sw      fabric.NodeIndex
	entries []hop
}

// hop is an entry of a forwarding table: the output port of a switch for a LID.
type hop struct {
	lid  uint16
	port uint8
}

// entry is a hop of a table.
type entry struct {
	f  *fabric.Fabric
	sw fabric.NodeIndex
	hop
}

func (e entry) destination() fabric.PortIndex { return e.f.PortByLID(e.lid) }

var table = answer.Table[entry]{
	Key: "entries", Title: "entries", Stream: true,
	Fields: []answer.Field[entry]{
		answer.LIDField("lid", "LID", "LID of the destination", func(e entry) uint16 { return e.lid }),
		{Key: "port", Name: "PORT", Kind: answer.KindInt, Help: "output port; 0 is the switch itself",
			Value: func(e entry) answer.Value { return answer.NumberAt(e.f, e.sw, e.port) }},
		{Key: "label", Kind: answer.KindText, Help: "printed at the output port", Value: func(e entry) answer.Value {
			return answer.PortLabel(e.f, e.f.PortAt(e.sw, int(e.port)))
		}},
		answer.PlaceField("next_hop", "NEXT HOP", "port at the other end of the link", next),
		answer.PlaceField("destination", "DESTINATION", "port with the LID", func(e entry) answer.Value {
			return answer.Port(e.f, e.destination())
		}),
	},
	Lead: func(e entry) answer.Lead { return feature.ToPort(e.f, e.destination()) },
	ID:   func(e entry) uint64 { return uint64(e.lid) },
}

var decl = answer.Decl[contents]{
	Command: "show lft", Help: "the forwarding table of a switch",
	Title: "forwarding table of {switch}, {of}",
	Facts: []answer.Field[contents]{
		answer.PlaceField("switch", "switch", "", func(c contents) answer.Value { return answer.Node(c.f, c.sw) }),
	},
	Layout: []answer.Item[contents]{{Table: answer.Show(&table, func(c contents) answer.Rows[entry] {
		return answer.Lazy(len(c.entries), func(i int) entry { return entry{c.f, c.sw, c.entries[i]} })
	})}},
}

func run(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	f := p.Fabric
	sw, err := places.ResolveSwitch(f, c.Arg(0))
	if err != nil {
		return err
	}
	if !p.Tables.Known[sw] {
		return fmt.Errorf("the table of %s is unknown in %s", f.NodeName(f.Switches[sw]), st.Title(p))
	}
	all := contents{f: f, sw: f.Switches[sw]}
	for lid := 1; lid <= int(p.Tables.Top[sw]); lid++ {
		if out := p.Tables.Port(sw, uint16(lid)); out != fabric.NoPath {
			all.entries = append(all.entries, hop{uint16(lid), out})
		}
	}
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks), all))
}

// The function next returns the port at the other end of the link at the output port.
func next(e entry) answer.Value {
	out := e.f.PortAt(e.sw, int(e.port))
	if e.port == 0 || out == fabric.None || !e.f.Ports[out].Linked() {
		return answer.None()
	}
	return answer.Port(e.f, e.f.Ports[out].Peer)
}
