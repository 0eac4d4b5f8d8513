// SPDX-License-Identifier: Apache-2.0

// Package adaptive simulates adaptive routing and shows the port groups of switches.
package adaptive

import (
	"cmp"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const help = "An adaptive switch sends a packet to any port of a group. A simulated group has all ports on shortest " +
	"up/down paths (as\nar_updn), or on shortest paths if the fabric has no roots. With simulated groups, the " +
	"commands trace, check and who\nfollow the paths over every port of a group. Until adaptive off, route also adds " +
	"groups to the tables that it computes.\nWith an engine of NVIDIA's OpenSM (engine ar_updn, or engine " +
	"from=FILE), the groups are those of the engine. Groups are\nnever written to a switch."

// Feature is the commands adaptive.
var Feature = feature.Feature{Name: "adaptive", Commands: []feature.Command{
	{Path: "adaptive", Group: feature.GroupSimulate, Summary: "Simulate adaptive routing, or show its groups of ports",
		Help: help},
	{
		Path: "adaptive on", Summary: "Simulate groups of ports for the tables", Help: help,
		Examples: []string{
			"adaptive on",
			"adaptive on; check reach",
		},
		Answers: []answer.Declared{&onDecl},
		Run:     on,
	},
	{
		Path: "adaptive off", Summary: "Remove the simulated groups of ports",
		Examples: []string{
			"adaptive on; adaptive off",
			"adaptive on; route; adaptive off; route",
		},
		Answers: []answer.Declared{offDecl},
		Run:     off,
	},
	{
		Path: "adaptive show", Summary: "Show which switches route adaptively, and their groups",
		Options: []lang.Option{feature.OfOption()},
		Examples: []string{
			"adaptive on; adaptive show",
			"adaptive on; route; adaptive show of=staged",
		},
		Answers: []answer.Declared{&showDecl},
		Run:     show,
	},
}}

// simulated is the answer of the command "adaptive on". It describes the port groups that are simulated for the staged
// tables.
type simulated struct {
	By       string       `key:"hops_of" help:"engine whose hops determine the groups"`
	Why      answer.Value `key:"why" kind:"text" help:"why they are not those of up/down routing"`
	Switches int          `key:"switches"`
	Groups   int          `key:"groups"`
}

var onDecl = answer.Decl[simulated]{
	Command: "adaptive on", Help: "the simulated groups of ports", Action: true,
	Title: "adaptive: {switches|switch} of {of} have {groups|group} of ports, by the hops of {hops_of}",
	Facts: answer.Fields[simulated](),
	Layout: []answer.Item[simulated]{
		{Line: "{?why}  not of up/down routing: {why}"},
		{Line: "  simulated: no group is ever written to a switch"},
	},
}

func on(c *feature.Call) error {
	rep, err := c.Session.Adapt(c.Ctx)
	if err != nil {
		return err
	}
	st := c.Session.State()
	return c.Answer(onDecl.Answer(st.Basis(st.Staged, session.NeedTables),
		simulated{rep.By, answer.Optional(rep.Why), rep.Switches, rep.Groups}))
}

// removed is the answer of adaptive off.
type removed struct {
	Off bool `key:"off"`
}

var offDecl = feature.OneLine[removed]("adaptive off", "that no groups are simulated", "adaptive: no simulated groups")

func off(c *feature.Call) error {
	c.Session.Unadapt()
	st := c.Session.State()
	return c.Answer(offDecl.Answer(st.Basis(st.Live, 0), removed{true}))
}

// routing describes how the switches of a state route adaptively.
type routing struct {
	Switches int    `key:"switch_count" help:"switches with groups of ports"`
	Groups   int    `key:"group_count"`
	Live     bool   `key:"live" help:"the groups were read from the switches"`
	Line     string `name:"line"`
	switches []switching
	groups   []group
}

// switching describes how one switch routes adaptively.
type switching struct {
	Switch  answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	On      string       `name:"on" help:"whether adaptive routing is enabled"`
	Enabled bool         `key:"enabled" name:"ON" help:"whether adaptive routing is enabled"`
	Reroute bool         `key:"fast_reroute" name:"FAST REROUTE" help:"replaces a static port that is down"`
	SLs     string       `key:"sls" name:"SLS" help:"service levels that are routed adaptively, as bits"`
	Groups  int          `key:"groups" name:"PORT GROUPS" help:"number of groups of ports"`
	Tables  int          `key:"tables" name:"LFTS" help:"adaptive forwarding tables"`
	Free    int          `key:"free" name:"FREE" help:"LIDs whose packets take any port of the group"`
	Bounded int          `key:"bounded" name:"BOUNDED" help:"LIDs whose packets take any port within bounds"`
	Hash    int          `key:"hash" name:"HASH" help:"LIDs whose packets take a port by hash"`
	Static  int          `key:"static" name:"STATIC" help:"LIDs that follow the forwarding table"`
	answer.Lead
}

// group is a group of ports of a switch.
type group struct {
	Switch  answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	Group   int          `key:"group" name:"GROUP" help:"number of the group on the switch"`
	Ports   answer.Value `key:"ports" kind:"list" help:"ports by sub-group, in order of preference"`
	InGroup string       `name:"IN GROUP" help:"ports of the group; ports after \"then\" replace the first ones"`
	Down    answer.Value `key:"down" kind:"list" help:"ports of the group without a link"`
	IsDown  string       `name:"DOWN"`
	LIDs    int          `key:"lids" name:"LIDS" help:"LIDs that are sent to the group"`
	answer.Lead
}

var (
	switchTable = answer.Table[switching]{
		Key: "switches", Title: "switches", Stream: true, Fields: answer.Fields[switching](), MaxRows: 20,
		Row: "  {switch}: {on}, {groups|group}, LIDs: {free} free, {bounded} bounded, {hash} hash, {static} static",
	}
	groupTable = answer.Table[group]{
		Key: "groups", Title: "groups", Stream: true, Fields: answer.Fields[group](),
	}
)

var showDecl = answer.Decl[*routing]{
	Command: "adaptive show", Help: "which switches route adaptively, and their groups of ports",
	Title: "adaptive of {of}: {line}",
	Facts: answer.Fields[*routing](),
	Layout: []answer.Item[*routing]{
		{Line: "{?live}read by attributes that were never tested on a switch; they agree with the forwarding tables"},
		{Table: answer.Show(&switchTable, func(r *routing) answer.Rows[switching] { return answer.Slice(r.switches) })},
		{When: answer.Hidden[*routing], Table: answer.Show(&groupTable, func(r *routing) answer.Rows[group] {
			return answer.Slice(r.groups)
		})},
	},
}

func show(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	t := p.Tables
	r := &routing{Line: "no switch is known to have groups of ports; hint: run 'sweep full adaptive' or 'adaptive on'"}
	if t.Adaptive != nil {
		for s := range p.Fabric.NumSwitches() {
			r.add(t, s)
		}
	}
	r.Switches, r.Groups = len(r.switches), len(r.groups)
	if r.Switches > 0 {
		r.Line = prose.Count(r.Switches, "switch") + " with " + prose.Count(r.Groups, "group")
		r.Live = t.Origin == fabric.LiveOrigin && st.Live.Tables != nil && t.Adaptive == st.Live.Tables.Adaptive
	}
	return c.Answer(showDecl.Answer(st.Basis(p, session.NeedTables), r))
}

// add adds a switch with groups.
func (r *routing) add(t *fabric.Tables, s fabric.SwitchIndex) {
	f, sw := t.Fabric, &t.Adaptive.Switches[s]
	if len(sw.Tables) == 0 {
		return
	}
	node := f.Switches[s]
	row := switching{
		Switch: answer.Node(f, node), On: prose.When(sw.Enabled, "on", "OFF"), Enabled: sw.Enabled,
		Reroute: sw.FastReroute,
		SLs:     fmt.Sprintf("%#04x", sw.SLs), Tables: len(sw.Tables), Lead: feature.ToNode(f, node),
	}
	lids := make([]int, len(sw.Groups))
	for lid := uint16(1); lid <= t.LFT.MaxLID && lid != 0; lid++ {
		if f.PortByLID(lid) == fabric.None {
			continue
		}
		_, e := sw.Entry(0, lid, 0)
		*[]*int{fabric.StateStatic: &row.Static, fabric.StateFree: &row.Free, fabric.StateBounded: &row.Bounded,
			fabric.StateHash: &row.Hash}[e.State()]++
		if e.State() != fabric.StateStatic && e.Group() < len(lids) {
			lids[e.Group()]++
		}
	}
	text := func(ports []uint8) string { return feature.PortRanges(f, node, ports) }
	for i, subGroups := range sw.Groups {
		ports := sw.Ports(i)
		if len(ports) == 0 {
			continue
		}
		row.Groups++
		var sub []answer.Value
		for _, ports := range subGroups {
			sub = append(sub, answer.Ints(ports))
		}
		var down []uint8
		for _, p := range ports {
			if at := f.PortAt(node, int(p)); at == fabric.None || !f.Ports[at].Linked() {
				down = append(down, p)
			}
		}
		r.groups = append(r.groups, group{
			Switch: row.Switch, Group: i, Ports: answer.List(sub),
			InGroup: strings.Join(prose.Words(subGroups, text), " then "),
			Down:    answer.Ints(down), IsDown: cmp.Or(text(down), "-"), LIDs: lids[i],
			Lead: feature.ToPort(f, f.Port(node, ports[0])),
		})
	}
	r.switches = append(r.switches, row)
}
