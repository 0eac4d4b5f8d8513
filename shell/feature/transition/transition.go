// SPDX-License-Identifier: Apache-2.0

// Package transition shows in which steps the staged tables can replace the tables of the base.
package transition

import (
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature is the command show transition.
var Feature = feature.Feature{Name: "transition", Commands: []feature.Command{{
	Path: "show transition", Summary: "Show steps from base to staged without a credit loop",
	Help: "While tables change, packets meet old and new entries. The steps avoid credit loops that neither the base " +
		"nor the staged\ntables have alone, and lose no packet between ports that both connect. The methods, in the " +
		"order in which they are tried:\nany order; from the destination outwards; single entries with settling " +
		"between steps; a spanning tree in between; the\nother LIDs of the same ports; a drain of some destinations. " +
		"To settle is to wait until no packet is left that met earlier\nentries. OpenSM writes block by block to all " +
		"switches and does not settle. Multicast packets count. Where multicast trees\nchange and this matters, old " +
		"branches are removed in the first step and new ones added in the last.",
	Options: []lang.Option{{
		Name: "seconds", Kind: lang.KindInt, Summary: "limit for the search (default 60)",
	}},
	Examples: []string{
		"fail link leaf-01 36; route; show transition",
		"engine updn; route; show transition seconds=10",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// plan is the answer.
type plan struct {
	Entries  int          `key:"entries" name:"entries" help:"entries of forwarding tables that change"`
	Method   string       `key:"method" name:"method"`
	Order    string       `key:"order" name:"order" help:"result of the search for an order of single entries"`
	Steps    int          `key:"step_count" name:"steps"`
	Settles  int          `key:"settles" name:"settles" help:"waits between steps"`
	Longest  int          `key:"longest_path" name:"longest path" help:"upper limit for the switches of a path"`
	Settle   answer.Value `key:"settle_seconds" kind:"duration" help:"duration of each wait"`
	Each     string       `name:"settle time"`
	Why      answer.Value `key:"no_settle_time" kind:"text" help:"why there is no duration"`
	Root     answer.Value `key:"root" name:"root" kind:"place" help:"root of the spanning tree"`
	Drained  answer.Value `key:"drained" name:"drained" kind:"list" help:"ports without a path meanwhile"`
	Hosts    int          `key:"drained_hosts" name:"drained hosts"`
	OpenSM   bool         `key:"opensm_loop" name:"opensm loop" help:"OpenSM's order has a credit loop of its own"`
	Ring     int          `key:"opensm_loop_links" name:"opensm links"`
	Loops    int          `key:"opensm_lossy" name:"opensm lossy" help:"LIDs to which packets may loop or be lost"`
	Old      int          `key:"base_loop_links" name:"base loop" help:"links of a loop of the base"`
	Assumed  string       `key:"assumed" name:"assumed" help:"tables of the base that were not read"`
	New      int          `key:"staged_loop_links" name:"staged loop" help:"links of a loop of the staged tables"`
	steps    []step
	together []hop
	old, new []hop
	none     bool
}

// step is a row of the table of steps.
type step struct {
	Number   int    `key:"step" name:"STEP"`
	Entries  int    `key:"entries" name:"ENTRIES"`
	Switches int    `key:"switches" name:"SWITCHES"`
	Blocks   int    `key:"blocks" name:"BLOCKS" help:"blocks of forwarding tables to write"`
	SL2VL    bool   `key:"sl2vl" name:"SL2VL" help:"whether the SL2VL tables change"`
	MFT      string `key:"mft" name:"MFT" help:"the branches of multicast trees that change"`
	Settle   bool   `key:"settle" name:"SETTLE" help:"whether the writer waits before the next step"`
	Text     string `name:"then"`
}

// hop is a link of a credit loop.
type hop struct {
	From answer.Value `key:"from" name:"FROM" kind:"place"`
	To   answer.Value `key:"to" name:"TO" kind:"place"`
	VL   uint8        `key:"vl" name:"VL"`
	answer.Lead
}

func ringTable(key, title string) answer.Table[hop] {
	return answer.Table[hop]{
		Key: key, Title: title, Help: "links that wait for one another", Fields: answer.Fields[hop](),
		Row: "    {from} -> {to} VL {vl|#}",
	}
}

var (
	stepTable = answer.Table[step]{Key: "steps", Title: "steps", Fields: answer.Fields[step]()}
	mixTable  = ringTable("opensm_ring", "a credit loop of OpenSM's order")
	oldTable  = ringTable("base_ring", "a credit loop of the base")
	newTable  = ringTable("staged_ring", "a credit loop of the staged tables")
)

var decl = answer.Decl[*plan]{
	Command: "show transition", Help: "the steps from the base to the staged tables",
	Title: "transition of {of}: {entries|changed entry}", Facts: answer.Fields[*plan](),
	Layout: []answer.Item[*plan]{
		{Line: "  no entry changes", When: func(p *plan) bool { return p.Entries == 0 }},
		{Line: "  not read       the {assumed} of the base; the steps hold only if they equal the staged ones; hint: " +
			"run 'sweep full sl2vl'", When: func(p *plan) bool { return p.Assumed != "" }},
		{Line: "  method         {method}, {step_count|step}", When: func(p *plan) bool { return p.Steps > 0 }},
		{Line: "  method         none", When: func(p *plan) bool { return p.Entries > 0 && p.Steps == 0 }},
		{Line: "  order          of single entries without loss: {order}", When: func(p *plan) bool { return p.none }},
		{Line: "{?root}  tree           the root is {root}"},
		{Line: "  settle         {settles|time}, {settle time} each: {longest_path|switch} of the longest path times " +
			"the packet life time", When: func(p *plan) bool { return p.Settles > 0 && p.Each != "" }},
		{Line: "  settle         {settles|time}, but it is unknown for how long: {no_settle_time}",
			When: func(p *plan) bool { return p.Settles > 0 && p.Each == "" }},
		{Line: "  drain          {drained_hosts|port} unreachable meanwhile: {drained}",
			When: func(p *plan) bool { return p.Hosts > 0 }},
		{Table: answer.Show(&stepTable, func(p *plan) answer.Rows[step] { return answer.Slice(p.steps) }),
			When: func(p *plan) bool { return p.Steps > 0 }},
		{Line: "  OpenSM's order a credit loop of {opensm_loop_links|link} that neither table has alone:",
			When: func(p *plan) bool { return p.OpenSM }},
		{Table: answer.Show(&mixTable, func(p *plan) answer.Rows[hop] { return answer.Slice(p.together) })},
		{Line: "  OpenSM's order no credit loop that neither table has alone",
			When: func(p *plan) bool { return p.Entries > 0 && !p.OpenSM }},
		{Line: "  OpenSM's order packets to {opensm_lossy|LID} may loop or be lost",
			When: func(p *plan) bool { return p.Loops > 0 }},
		{Line: "  base           a credit loop of {base_loop_links|link}, which does not count:",
			When: func(p *plan) bool { return p.Old > 0 }},
		{Table: answer.Show(&oldTable, func(p *plan) answer.Rows[hop] { return answer.Slice(p.old) })},
		{Line: "  staged         a credit loop of {staged_loop_links|link}, which does not count:",
			When: func(p *plan) bool { return p.New > 0 }},
		{Table: answer.Show(&newTable, func(p *plan) answer.Rows[hop] { return answer.Slice(p.new) })},
	},
}

func run(c *feature.Call) error {
	if of := c.Option("of", ""); of != "" && of != string(session.Staged) {
		return c.Misused("of=%s: the steps are from the base to the staged tables", of)
	}
	st := c.Session.State()
	base, err := st.TablesOf(session.Base)
	if err != nil {
		return err
	}
	if _, err := st.Of(session.Staged); err != nil {
		return err
	}
	staged, err := st.FreshTablesOf("") // the staged tables, unless they are stale
	if err != nil {
		return err
	}
	seconds, err := c.AtLeast("seconds", 60, 1)
	if err != nil {
		return err
	}
	before := transition.Assumed(base.Tables, staged.Tables)
	p, err := transition.Make(c.Ctx, before, staged.Tables, transition.Options{
		Limit: time.Duration(seconds) * time.Second, GroupSL: st.GroupSL(staged.Tables),
	})
	switch {
	case errors.Is(err, transition.ErrOtherSubnet) || errors.Is(err, transition.ErrOtherLIDs):
		return fmt.Errorf("%w; hint: 'commit' shows the plan", err)
	case err != nil:
		return err
	}
	x := planOf(before, p)
	x.Assumed = assumed(base.Tables, staged.Tables)
	return c.Answer(decl.Answer(st.Basis(staged, session.NeedLinks|session.NeedTables|session.NeedSLs), x))
}

// assumed returns the tables of the base that were not read although the steps depend on them, or "".
func assumed(base, staged *fabric.Tables) string {
	if staged.SL2VL != nil && staged.SL2VL.HighestVL() > 0 && (base.SL2VL == nil || base.Unread.SL2VL) {
		return "SL2VL tables"
	}
	return ""
}

func planOf(t *fabric.Tables, p *transition.Plan) *plan {
	f := t.Fabric
	x := &plan{
		Entries: p.Entries, Method: p.Method.String(), Order: p.Order.String(), Steps: len(p.Steps),
		Settles: p.Settles(),
		Longest: p.Longest, OpenSM: p.Together != nil, Ring: len(p.Together), Loops: p.Loops, Old: len(p.Old),
		New: len(p.New), Hosts: len(p.Drained), none: p.Order != transition.Found,
		together: hops(f, p.Together), old: hops(f, p.Old), new: hops(f, p.New),
	}
	if p.Entries == 0 {
		x.Steps = 0
	}
	if p.Method == transition.Tree {
		x.Root = answer.Node(f, f.Switches[p.Root])
	}
	settle, err := p.SettleTime(t)
	switch {
	case errors.Is(err, transition.ErrNoLifeTimes):
		x.Settle, x.Why = answer.NotRead(), answer.Text(err.Error())
	case err != nil:
		x.Why = answer.Text(err.Error())
	default:
		x.Settle, x.Each = answer.Duration(settle), settle.String()
	}
	var drained []answer.Value
	for _, lid := range p.Drained {
		drained = append(drained, answer.Port(f, f.PortByLID(lid)))
	}
	x.Drained = answer.List(drained)
	for i := range x.Steps {
		x.steps = append(x.steps, stepOf(i, &p.Steps[i]))
	}
	return x
}

func stepOf(i int, s *transition.Step) step {
	type block struct {
		sw  fabric.SwitchIndex
		num uint16
	}
	switches, blocks := map[fabric.SwitchIndex]bool{}, map[block]bool{}
	for _, e := range s.Entries {
		switches[e.Switch], blocks[block{e.Switch, e.LID / fabric.BlockSize}] = true, true
	}
	return step{
		Number: i + 1, Entries: len(s.Entries), Switches: len(switches), Blocks: len(blocks), SL2VL: s.SL2VL,
		MFT:    [...]string{"", "all", "remove", "add"}[s.MFT],
		Settle: s.Settle, Text: prose.When(s.Settle, "settle", ""),
	}
}

func hops(f *fabric.Fabric, ring []credits.Channel) (all []hop) {
	for _, c := range ring {
		all = append(all, hop{
			answer.Port(f, c.Port), answer.Port(f, f.Ports[c.Port].Peer), c.VL, feature.ToPort(f, c.Port),
		})
	}
	return all
}
