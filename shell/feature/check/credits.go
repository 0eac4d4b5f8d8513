// SPDX-License-Identifier: Apache-2.0

package check

import (
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// loopFacts are the facts of the answer of the command "check credits".
type loopFacts struct {
	Loop    answer.Value `key:"loop" name:"credit loop" kind:"bool" help:"null if it is unknown"`
	Why     answer.Value `key:"why" kind:"text" help:"why it is unknown whether there is a loop"`
	Try     answer.Value `key:"try" kind:"text" help:"commands that read the missing data"`
	Unknown answer.Value `name:"unknown loop" kind:"text"`

	verdict credits.Verdict
	links   int
}

func loopFactsOf(st *session.State, r *credits.Result) loopFacts {
	l := loopFacts{Loop: answer.Bool(r.Verdict == credits.Loop), verdict: r.Verdict, links: len(r.Ring)}
	if r.Verdict == credits.Unknown {
		why, try := st.UnknownLoop(r.Unread, r.Partial)
		l.Loop, l.Why, l.Try = answer.NotRead(), answer.Text(why), answer.Optional(try)
		l.Unknown = answer.Text(feature.UnknownLoopText(why, try))
	}
	return l
}

// judge returns the verdict and the finding.
func (l *loopFacts) judge() (answer.Verdict, string) {
	switch l.verdict {
	case credits.Loop:
		return answer.Found, "a credit loop of " + prose.Count(l.links, "link")
	case credits.Unknown:
		return answer.Unknown, "whether there is a credit loop is unknown: " + l.Why.String()
	}
	return answer.OK, ""
}

// hop is a link of a credit loop, with packets that occupy its buffers while they wait for the next link.
type hop struct {
	From answer.Value `key:"from" name:"FROM" kind:"place"`
	To   answer.Value `key:"to" name:"TO" kind:"place"`
	VL   uint8        `key:"vl" name:"VL"`
	Src  answer.Value `key:"src" name:"HELD BY" kind:"place" help:"sender of packets that hold the link"`
	Dst  answer.Value `key:"dst" kind:"place" help:"their destination; no key for multicast packets"`
	For  string       `name:"TO"`
	LID  uint16       `key:"lid" name:"LID" kind:"lid"`
	SL   uint8        `key:"sl"`
	SLs  string       `key:"sls" name:"SL" help:"all levels that a record may have, as 0 to 2"`
	answer.Lead
}

var ringTable = answer.Table[hop]{
	Key: "ring", Title: "a credit loop", Help: "the links of a shortest credit loop", Fields: answer.Fields[hop](),
	Row: "    {from} -> {to} VL {vl|#}   waits for the next with {src} -> {TO} (LID {lid|#}) SL {sls}",
}

func hopsOf(f *fabric.Fabric, ring []credits.Dependency) []hop {
	var hops []hop
	for _, d := range ring {
		h := hop{
			answer.Port(f, d.From.Port), answer.Port(f, f.Ports[d.From.Port].Peer), d.From.VL, answer.Port(f, d.Src),
			answer.Port(f, d.Dst), "multicast", d.LID, d.SL, d.SLs.String(), feature.ToPort(f, d.From.Port),
		}
		if d.Dst != fabric.None {
			h.For = f.PortName(d.Dst)
		}
		hops = append(hops, h)
	}
	return hops
}

// creditCheck is the answer of the command "check credits".
type creditCheck struct {
	Loop         loopFacts     `prefix:""`
	Channels     int           `key:"channels" name:"channels" help:"links and VLs that packets take between switches"`
	VLs          answer.Value  `key:"vls" name:"VLs" kind:"int"`
	OnVLs        string        `name:"on VLs"`
	Dependencies int           `key:"dependencies" name:"dependencies"`
	Cyclic       int           `key:"channels_in_loops" name:"channels in loops"`
	Rings        int           `key:"groups_of_loops" name:"groups of loops"`
	Cure         answer.Value  `key:"cure" kind:"text" help:"commands that compute routes without a loop"`
	Took         time.Duration `key:"seconds"`

	ring []hop
}

var creditsDecl = answer.Decl[*creditCheck]{
	Command: "check credits", Help: "whether links can wait for each other in a cycle",
	Title: "credits of {of}: {channels|channel} between switches on {on VLs}, {dependencies|dependency}",
	Facts: answer.Fields[*creditCheck](),
	Layout: []answer.Item[*creditCheck]{
		{Line: "  no credit loop", When: func(c *creditCheck) bool { return c.Loop.verdict == credits.None }},
		{Line: "{?unknown loop}  {unknown loop}"},
		{Line: "  {channels_in_loops|channel} on credit loops; a shortest one:", When: func(c *creditCheck) bool {
			return c.Loop.verdict == credits.Loop
		}},
		{Table: answer.Show(&ringTable, func(c *creditCheck) answer.Rows[hop] { return answer.Slice(c.ring) })},
		{Line: "{?cure}  SLs and VLs avoid the loop; hint: run '{cure}'"},
	},
	Verdict: func(c *creditCheck) (answer.Verdict, string) { return c.Loop.judge() }, Fails: answer.Always,
}

func creditLoops(c *feature.Call, st *session.State, p *session.Picture) error {
	start := time.Now()
	tables, opt := p.Tables, credits.Options{Switches: c.Flag("switches")}
	g, err := c.Grants(st, p)
	if err != nil {
		return err
	}
	if g != nil { // the selected paths exclude multicast packets
		unicast := *p.Tables
		unicast.MFT = nil
		tables, opt.Paths = &unicast, g
	}
	opt.GroupSL = st.GroupSL(tables)
	r, err := c.Session.Analysis().Credits(c.Ctx, tables, opt)
	if err != nil {
		return err
	}
	x := creditCheck{
		Loop: loopFactsOf(st, r), Channels: r.Channels, VLs: answer.Int(r.VLs), OnVLs: prose.Count(r.VLs, "VL"),
		Dependencies: r.Dependencies, Cyclic: r.Cyclic, Rings: r.Rings, ring: hopsOf(p.Fabric, r.Ring),
		Took: time.Since(start),
	}
	if r.Unread.Any() {
		x.VLs, x.OnVLs = answer.NotRead(), "unknown VLs"
	}
	if r.Verdict == credits.Loop && p.Tables.Origin == "dor" {
		x.Cure = answer.Text("engine dor vls=yes; route")
	}
	b := basis(st, p)
	if p.UnsetVLs != "" {
		b.Warnings = append(b.Warnings, p.UnsetVLs)
	}
	return c.Answer(creditsDecl.Answer(b, &x))
}
