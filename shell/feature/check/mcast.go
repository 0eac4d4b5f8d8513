// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// groupCheck is the result of check mcast.
type groupCheck struct {
	Groups    string        `key:"groups" name:"groups of" help:"source of the groups"`
	LIDs      int           `key:"lids" name:"multicast LIDs"`
	Alone     int           `key:"alone" help:"LIDs with fewer than two members and without entries"`
	Members   int           `key:"members" name:"members"`
	Lost      int           `key:"lost_members" help:"members that are unreachable or have no LID"`
	Gone      int           `key:"gone" help:"members that the subnet does not have"`
	Entries   int           `key:"entries"`
	Idle      int           `key:"idle" help:"switches on branches without members"`
	SendOnly  int           `key:"sendonly_entries" help:"ports to members that only send"`
	Pairs     int64         `key:"pairs" name:"pairs"`
	Missing   int64         `key:"missing" name:"pairs missing"`
	Double    int64         `key:"double" name:"pairs served twice"`
	Unknown   int64         `key:"unknown" name:"pairs over tables that were not read"`
	Echoes    int           `key:"echoes" name:"members that get back what they send"`
	Cycles    int           `key:"cycles" name:"LIDs with a cycle"`
	Strangers int           `key:"strangers" name:"ports to strangers"`
	DeadPorts int           `key:"dead_ports" name:"ports without a link"`
	OneWays   int           `key:"one_ways" name:"one-way branches"`
	Loop      loopFacts     `prefix:""`
	Mixed     bool          `key:"loop_needs_multicast" help:"unicast alone has no credit loop"`
	Took      time.Duration `key:"seconds"`

	verdict answer.Verdict
	faults  []fault
	ring    []hop
}

// fault is a fault of the tree of a group.
type fault struct {
	MLID  string       `key:"mlid" name:"MLID"`
	Kind  string       `key:"fault" name:"FAULT"`
	From  answer.Value `key:"from" name:"FROM" kind:"place"`
	To    answer.Value `key:"to" name:"TO" kind:"place"`
	Ports answer.Value `key:"ports" name:"PORTS" kind:"list"`
	Text  string       `name:"DETAILS"`
	answer.Lead
}

// faultCounts are the counts of faults of a group, each with the words that follow the number in text.
var faultCounts = []struct {
	key, what string
	count     func(*groupCheck) int64
}{
	{"missing", "pairs missing", func(g *groupCheck) int64 { return g.Missing }},
	{"double", "pairs served twice", func(g *groupCheck) int64 { return g.Double }},
	{"unknown", "pairs over tables that were not read", func(g *groupCheck) int64 { return g.Unknown }},
	{"echoes", "members that get back what they send", func(g *groupCheck) int64 { return int64(g.Echoes) }},
	{"cycles", "LIDs with a cycle", func(g *groupCheck) int64 { return int64(g.Cycles) }},
	{"strangers", "ports to strangers", func(g *groupCheck) int64 { return int64(g.Strangers) }},
	{"dead_ports", "ports without a link", func(g *groupCheck) int64 { return int64(g.DeadPorts) }},
	{"one_ways", "one-way branches", func(g *groupCheck) int64 { return int64(g.OneWays) }},
}

var faultTable = answer.Table[fault]{
	Key: "faults", Title: "multicast faults", Fields: answer.Fields[fault](), Row: "    {DETAILS}",
}

var mcastDecl = answer.Decl[*groupCheck]{
	Command: "check mcast", Help: "whether each member of a multicast group receives each packet once",
	Title:  "mcast of {of}: {lids|multicast LID} of {groups}, {members|member}, {pairs|pair}",
	Facts:  answer.Fields[*groupCheck](),
	Layout: groupLayout(), Verdict: (*groupCheck).judge, Fails: answer.Always,
}

func groupLayout() []answer.Item[*groupCheck] {
	layout := []answer.Item[*groupCheck]{
		{Line: "[  {lost_members|member} unreachable or without a LID]"},
		{Line: "[  {gone|member} not in the subnet]"},
		{Line: "[  {alone|LID} with fewer than two members, without entries]"},
		{Line: "[  {idle|switch} on branches without members]"},
		{Line: "[  {sendonly_entries|port} to members that only send, as in OpenSM]"},
		{Line: "  every member gets each packet once", When: func(g *groupCheck) bool {
			return g.verdict == answer.OK
		}},
	}
	for _, w := range faultCounts {
		layout = append(layout, answer.Item[*groupCheck]{Line: "[  {" + w.key + "} " + w.what + "]"})
	}
	loop := func(mixed bool) func(*groupCheck) bool {
		return func(g *groupCheck) bool { return g.Loop.verdict == credits.Loop && g.Mixed == mixed }
	}
	return append(layout, []answer.Item[*groupCheck]{
		{Table: answer.Show(&faultTable, func(g *groupCheck) answer.Rows[fault] { return answer.Slice(g.faults) })},
		{Line: "{?unknown loop}  {unknown loop}"},
		{Line: "  no credit loop of unicast and multicast together", When: func(g *groupCheck) bool {
			return g.Loop.verdict == credits.None
		}},
		{Line: "  a credit loop that unicast alone does not have:", When: loop(true)},
		{Line: "  a credit loop:", When: loop(false)},
		{Table: answer.Show(&ringTable, func(g *groupCheck) answer.Rows[hop] { return answer.Slice(g.ring) })},
	}...)
}

func (g *groupCheck) judge() (answer.Verdict, string) {
	v, loop := g.Loop.judge()
	var found []string
	if g.verdict != answer.OK {
		var words []string
		for _, w := range faultCounts {
			if n := w.count(g); n > 0 {
				words = append(words, fmt.Sprintf("%d %s", n, w.what))
			}
		}
		found = append(found, "multicast: "+prose.When(g.verdict == answer.Unknown, "unknown: ", "")+
			strings.Join(words, ", "))
	}
	if loop != "" {
		found = append(found, loop)
	}
	return verdict.Worst(g.verdict, v), strings.Join(found, "; ")
}

func multicast(c *feature.Call, st *session.State, p *session.Picture) error {
	known, err := st.GroupsOf(p)
	switch {
	case p.Tables.MFT == nil:
		return mcast.ErrNoTables
	case err != nil:
		return err
	}
	start := time.Now()
	r, err := mcast.Check(c.Ctx, p.Tables, known.List, nil)
	if err != nil {
		return err
	}
	n := &r.Counts
	g := groupCheck{
		Groups: known.Origin, LIDs: n.LIDs, Alone: n.Alone, Members: n.Members, Lost: n.Lost, Gone: n.NotInSubnet,
		Entries: n.Entries, Idle: n.Idle, SendOnly: n.SendOnly, Pairs: n.Pairs, Missing: n.Missing, Double: n.Double,
		Unknown: n.Unknown, Echoes: n.Echoes, Cycles: n.Cycles, Strangers: n.Strangers, DeadPorts: n.DeadPorts,
		OneWays: n.OneWays, verdict: r.Verdict(),
	}
	for i := range r.Faults {
		g.faults = append(g.faults, faultOf(p.Fabric, &r.Faults[i]))
	}
	if err := g.credits(c, st, p, known); err != nil {
		return err
	}
	g.Took = time.Since(start)
	return c.Answer(mcastDecl.Answer(basis(st, p), &g))
}

// credits finds credit loops that unicast and multicast paths form together.
func (g *groupCheck) credits(c *feature.Call, st *session.State, p *session.Picture, known *session.Groups) error {
	opt := credits.Options{GroupSL: fabric.GroupSLs(known.List)}
	r, err := c.Session.Analysis().Credits(c.Ctx, p.Tables, opt)
	if err != nil {
		return err
	}
	if g.Loop = loopFactsOf(st, r); r.Verdict != credits.Loop {
		return nil
	}
	g.ring = hopsOf(p.Fabric, r.Ring)
	unicast := *p.Tables
	unicast.MFT = nil
	r, err = c.Session.Analysis().Credits(c.Ctx, &unicast, opt)
	if err == nil {
		g.Mixed = r.Verdict == credits.None
	}
	return err
}

func faultOf(f *fabric.Fabric, m *mcast.Fault) fault {
	out := fault{
		MLID: feature.MLIDText(m.MLID), Kind: string(m.Kind), From: answer.Port(f, m.Src), To: answer.Port(f, m.Dst),
		Text: faultText(f, m), Lead: feature.ToPort(f, m.Src),
	}
	if m.Dst != fabric.None {
		out.Lead = feature.ToPort(f, m.Dst)
	}
	if len(m.Ports) > 0 {
		out.Lead = feature.ToPort(f, m.Ports[0])
		out.Ports = feature.Ports(f, m.Ports)
	}
	return out
}

func faultText(f *fabric.Fabric, m *mcast.Fault) string {
	ports := prose.Words(m.Ports, f.PortName)
	mlid, at := feature.MLIDText(m.MLID), strings.Join(ports, ", ")
	from, to := answer.Port(f, m.Src).String(), answer.Port(f, m.Dst).String()
	switch m.Kind {
	case mcast.Missing:
		return fmt.Sprintf("%s: %s does not receive packets of %s", mlid, to, from)
	case mcast.Double:
		return fmt.Sprintf("%s: %s receives packets of %s twice", mlid, to, from)
	case mcast.Echo:
		return fmt.Sprintf("%s: %s receives its own packets", mlid, from)
	case mcast.Cycle:
		return fmt.Sprintf("%s: packets circulate: %s", mlid, strings.Join(ports, " -> "))
	case mcast.Stranger:
		return fmt.Sprintf("%s: %s sends to %s, which is not in the group", mlid, at, to)
	case mcast.DeadPort:
		return fmt.Sprintf("%s: %s has no link", mlid, at)
	case mcast.OneWay:
		return fmt.Sprintf("%s: %s leads to a switch that does not send back", mlid, at)
	case mcast.NotRead:
		return fmt.Sprintf("%s: packets meet a switch behind %s whose table was not read", mlid, at)
	}
	return string(m.Kind)
}
