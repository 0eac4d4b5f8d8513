// SPDX-License-Identifier: Apache-2.0

// Package states lists the states of the subnet that a session holds.
package states

import (
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// Feature is the command show states.
var Feature = feature.Feature{Name: "states", Keys: []feature.Key{
	{
		Name: "picture", Keys: "v", Help: "show another state: live, base, whatif, staged; with an event, " +
			"the state before or after it",
	},
}, Commands: []feature.Command{{
	Path:     "show states",
	Aliases:  []string{"pictures"},
	Summary:  "List the live, base, what-if and staged states",
	Examples: []string{"show states", "fail switch spine-02; route; show states"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// state is a row: a state of the subnet with its contents.
type state struct {
	Picture  string       `key:"picture" help:"live, base, whatif or staged"`
	Title    string       `key:"title" name:"STATE" help:"the state, and how it was made"`
	AsOf     time.Time    `key:"as_of" help:"when it was read or computed"`
	Clock    string       `name:"AS OF" help:"when it was read or computed"`
	Stale    bool         `key:"stale" help:"the what-if or the subnet changed after its tables were computed"`
	Nodes    int          `key:"nodes" name:"NODES" help:"nodes of the subnet"`
	Switches int          `key:"switches" name:"SWITCHES" help:"switches of the subnet"`
	Links    int          `key:"links" name:"LINKS" help:"links of the subnet"`
	Lost     int          `key:"unreachable" name:"UNREACHABLE" help:"nodes that failures separated from the subnet"`
	MaxLID   uint16       `key:"highest_lid" name:"HIGHEST LID" help:"highest unicast LID in use"`
	Entries  int          `key:"entries" name:"ENTRIES" help:"entries of forwarding tables on switches of the subnet"`
	Tables   answer.Value `key:"tables" name:"TABLES" kind:"text" help:"the engine or file that the tables are from"`
	VLs      string       `name:"SL2VL" help:"whether it has SL2VL tables"`
	SL2VL    bool         `key:"sl2vl" help:"whether it has SL2VL tables"`
	Groups   int          `key:"multicast_groups" name:"GROUPS" help:"multicast LIDs that switches have ports for"`
}

var table = answer.Table[state]{Key: "pictures", Title: "pictures", Fields: answer.Fields[state]()}

var decl = answer.Decl[[]state]{
	Command: "show states", Help: "the states of the subnet that the session holds",
	Title: "states of this session",
	Layout: []answer.Item[[]state]{
		{Table: answer.Show(&table, func(s []state) answer.Rows[state] { return answer.Slice(s) })},
	},
}

func run(c *feature.Call) error {
	st := c.Session.State()
	var all []state
	for _, p := range []*session.Picture{st.Live, st.Base, st.WhatIf, st.Staged} {
		if p != nil {
			all = append(all, describe(&st, p))
		}
	}
	return c.Answer(decl.Answer(st.Basis(st.Live, session.NeedLinks|session.NeedTables), all))
}

func describe(st *session.State, p *session.Picture) state {
	f, inv := p.Fabric, p.Fabric.Inventory()
	s := state{
		Picture: string(p.Kind), Title: st.Title(p), AsOf: p.When, Clock: clock(p.When, time.Now()),
		Stale: st.IsStale(p),
		Nodes: inv.InSubnet.Nodes, Switches: inv.InSubnet.Switches, Links: inv.InSubnet.Links,
		Lost: inv.Unreachable.Nodes, MaxLID: f.MaxLID, VLs: "-",
	}
	if p.Tables == nil {
		return s
	}
	s.Tables = answer.Optional(p.Tables.Origin)
	if s.SL2VL = p.Tables.SL2VL != nil; s.SL2VL {
		s.VLs = "yes"
	}
	for sw, n := range f.Switches {
		for lid := 1; f.Nodes[n].InSubnet && lid <= int(p.Tables.Top[sw]); lid++ {
			if p.Tables.Port(fabric.SwitchIndex(sw), uint16(lid)) != fabric.NoPath {
				s.Entries++
			}
		}
	}
	s.Groups = groups(p.Tables)
	return s
}

// clock returns the time of a moment. It includes the date if the moment is on another day than now.
func clock(t, now time.Time) string {
	if t.Local().Format(time.DateOnly) == now.Local().Format(time.DateOnly) {
		return when.Clock(t)
	}
	return when.Text(t)
}

// groups returns the number of multicast LIDs for which at least one switch has an output port.
func groups(t *fabric.Tables) (n int) {
	if t.MFT == nil {
		return 0
	}
	for i := range t.MFT.LIDs() {
		for sw := range t.Fabric.Switches {
			if t.MFT.Any(fabric.SwitchIndex(sw), uint16(fabric.FirstMLID+i)) {
				n++
				break
			}
		}
	}
	return n
}
