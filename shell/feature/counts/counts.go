// SPDX-License-Identifier: Apache-2.0

// Package counts shows and clears the counters of ports, and lists recorded counters.
package counts

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature provides the commands "show counters", "clear counters", "counters history", "counters worst" and
// "counters top".
var Feature = feature.Feature{Name: "counts", Keys: []feature.Key{
	{Name: "pane-K", Keys: "K", Pane: "Counters", Nouns: "errors",
		Help: "ports with most errors, XmitWait or traffic, with rates " +
			"and times"},
}, Commands: []feature.Command{
	{
		Path:    "show counters",
		Summary: "List the counters of ports and how fast they grow",
		Help: "Without NODE, show counters lists all ports with errors. The growth of counters is shown from the " +
			"second reading on.",
		Args:     []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
		Options:  []lang.Option{{Name: "all", Kind: lang.KindFlag, Summary: "all ports and counters"}},
		Examples: []string{"show counters leaf-01", "show counters"},
		Answers:  []answer.Declared{&readDecl},
		Run:      runShow,
	},
	{Path: "clear", Group: feature.GroupWrite, Summary: "Set counters to 0 in the subnet"},
	{
		Path:    "clear counters",
		Summary: "Set the error counters of ports to 0",
		Help:    "clear counters writes to the subnet.",
		Args:    []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
		Options: []lang.Option{{Name: "data", Kind: lang.KindFlag, Summary: "the counters of packets and data, too"}},
		Examples: []string{
			"write on; clear counters leaf-01/36",
			"write on; clear counters leaf-01 data",
		},
		Answers: []answer.Declared{&clearedDecl},
		Run:     runClear,
	},
	{Path: "counters", Group: feature.GroupRecord, Summary: "List recorded counters of ports"},
	{
		Path:    "counters history",
		Summary: "List the samples of a port (default: the last hour)",
		Args:    []lang.Arg{{Name: "NODE/PORT", Kind: lang.KindPlace}},
		Options: []lang.Option{sinceOption, untilOption,
			{Name: "all", Kind: lang.KindFlag, Summary: "samples in which nothing was counted, too"}},
		Examples: []string{"counters history leaf-01/36", "counters history leaf-01/36 since=03:00 all"},
		Answers:  []answer.Declared{&historyDecl},
		Run:      runHistory,
	},
	{
		Path:    "counters worst",
		Summary: "List the ports that counted most (default: the last day)",
		Options: []lang.Option{sinceOption, untilOption,
			{Name: "by", Kind: lang.KindText, Value: strings.Join(worstWords, "|"), Words: worstWords,
				Summary: "which counters (default errors)"},
			{Name: "limit", Kind: lang.KindInt, Summary: "number of listed ports (default 20)"}},
		Examples: []string{"counters worst", "counters worst since=2d by=waits"},
		Answers:  []answer.Declared{&worstDecl},
		Run:      runWorst,
	},
	topCommand,
}}

var (
	sinceOption = lang.Option{Name: "since", Kind: lang.KindText, Value: "TIME",
		Summary: "from this time on; " + when.Help}
	untilOption = lang.Option{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "use counters " +
		"recorded before this time (default now)"}
)

// port is a port with its counters.
type port struct {
	Port     answer.Value `key:"port" name:"PORT" kind:"place"`
	Peer     answer.Value `key:"peer" name:"TO" kind:"place" help:"port at the other end"`
	Text     string       `name:"COUNTERS" help:"counters that are not 0, and their rates"`
	Counters answer.Value `key:"counters" kind:"map" help:"values by the name of the counter"`
	PerSec   answer.Value `key:"per_second" kind:"map" help:"rates since the previous reading"`
	Stopped  answer.Value `key:"stopped" kind:"map" help:"counters at their maximum, and since when"`
	answer.Lead
}

// reading is a reading of counters.
type reading struct {
	When    time.Time `key:"when" help:"when they were read"`
	Ports   int       `key:"ports_read" help:"ports whose counters were read"`
	Shown   int       `key:"shown" help:"ports that are listed"`
	NotRead int       `key:"not_read" help:"ports whose counters could not be read"`
	rows    []port
}

var portTable = answer.Table[port]{
	Key: "ports", Title: "counters", Stream: true, Fields: answer.Fields[port](),
}

var readDecl = answer.Decl[reading]{
	Command: "show counters", Help: "what ports have counted", Facts: answer.Fields[reading](),
	Layout: []answer.Item[reading]{
		{Table: answer.Show(&portTable, func(r reading) answer.Rows[port] { return answer.Slice(r.rows) }),
			When: func(r reading) bool { return len(r.rows) > 0 }},
		{Line: "{ports_read|port} read, {shown} shown[, {not_read} not read]"},
	},
}

// runShow lists the ports with errors, or all counters of the given ports.
func runShow(c *feature.Call) error {
	f := c.Session.State().Live.Fabric
	ports, err := c.PortArg(f)
	if err != nil {
		return err
	}
	read, deltas, err := c.Session.Counters(c.Ctx, ports...)
	if err != nil {
		return err
	}
	grown := map[fabric.PortIndex]*counters.Delta{}
	for i := range deltas {
		grown[deltas[i].Port] = &deltas[i]
	}
	st := c.Session.State()
	r := reading{When: time.Now(), Ports: len(read.Ports)}
	everything := ports != nil || c.Flag("all")
	for i := range read.Ports {
		p := &read.Ports[i]
		which := p.Has
		if !everything {
			which = p.Beyond(&counters.Values{})
		}
		row := describe(f, p, which, grown[p.Port], st.Standing[counters.KeyOf(f, p.Port)])
		if everything {
			row.Text = cmp.Or(row.Text, "all 0")
		}
		if row.Text != "" {
			r.rows = append(r.rows, row)
		}
	}
	r.Shown = len(r.rows)
	b := st.Basis(st.Live, 0)
	for _, u := range read.Unanswered {
		r.NotRead += u.Count
		place, _ := answer.Port(f, u.Port).Place()
		if u.Whole {
			place, _ = answer.Node(f, f.Ports[u.Port].Node).Place()
		}
		b.Unread.Note("counter reading", u.Why().Error(), u.Count, place)
	}
	if err := c.Answer(readDecl.Answer(b, r)); err != nil {
		return err
	}
	return feature.ReadingError(read)
}

// describe returns the row of a port. The text of the row is "" if all counters are 0.
func describe(f *fabric.Fabric, p *counters.Port, which counters.Set, grown *counters.Delta,
	standing []counters.Standing) port {
	atMaximum := map[counters.Counter]time.Time{}
	var values, rates, stopped []answer.Named
	for _, x := range standing {
		atMaximum[x.Counter] = x.Since
		stopped = append(stopped, answer.Named{Name: x.Counter.String(), Value: answer.Time(x.Since)})
	}
	for k := range which.All() {
		values = append(values, answer.Named{Name: k.String(), Value: answer.Int(int64(p.Values[k]))})
		if feature.IsGrown(grown, k) {
			rates = append(rates, answer.Named{Name: k.String(), Value: answer.Float(grown.PerSecond(k), 3)})
		}
	}
	return port{
		Port: answer.Port(f, p.Port), Peer: answer.Port(f, f.Ports[p.Port].Peer), Lead: feature.ToPort(f, p.Port),
		Text:     strings.Join(feature.CounterTexts(p, which, grown, atMaximum), ", "),
		Counters: answer.Map(values), PerSec: optional(rates), Stopped: optional(stopped),
	}
}

// optional returns a map value, or None if the argument entries is nil.
func optional(entries []answer.Named) answer.Value {
	if entries == nil {
		return answer.None()
	}
	return answer.Map(entries)
}

// cleared is the result of clear counters.
type cleared struct {
	Cleared int `key:"cleared" help:"ports whose counters were cleared"`
	silent  []silent
}

// silent is a port that did not respond. If several ports of a node did not respond, it is the first port; Ports is
// their number.
type silent struct {
	Port  answer.Value `key:"port" name:"PORT" kind:"place"`
	Ports int          `key:"ports" name:"PORTS"`
	Why   string       `key:"why" name:"REASON"`
}

var silentTable = answer.Table[silent]{Key: "unanswered", Title: "unanswered", Fields: answer.Fields[silent](),
	Row: "  unanswered: {why}", MaxRows: 20}

var clearedDecl = answer.Decl[cleared]{
	Command: "clear counters", Help: "how many ports had their counters set to 0",
	Title: "counters of {cleared|port} cleared, {of}", Facts: answer.Fields[cleared](),
	Layout: []answer.Item[cleared]{
		{Table: answer.Show(&silentTable, func(c cleared) answer.Rows[silent] { return answer.Slice(c.silent) })},
	},
}

func runClear(c *feature.Call) error {
	st := c.Session.State()
	f := st.Live.Fabric
	ports, err := c.PortArg(f)
	if err != nil {
		return err
	}
	unanswered, err := clearPorts(c, ports)
	if err != nil {
		return err
	}
	a := cleared{Cleared: len(ports)}
	if ports == nil {
		a.Cleared = len(counters.AllPorts(f))
	}
	for _, u := range unanswered {
		a.Cleared -= u.Count
		a.silent = append(a.silent, silent{answer.Port(f, u.Port), u.Count, u.String()})
	}
	if err := c.Answer(clearedDecl.Answer(st.Basis(st.Live, session.NeedLinks), a)); err != nil || a.Cleared > 0 ||
		a.silent == nil {
		return err
	}
	return fmt.Errorf("no counters were cleared: %s", a.silent[0].Why)
}

// clearPorts sets the error counters of ports to 0. With the option data it clears all counters.
func clearPorts(c *feature.Call, ports []fabric.PortIndex) ([]counters.Unanswered, error) {
	op, err := c.Session.Begin(c.Ctx, "clear counters")
	if err != nil {
		return nil, err
	}
	defer op.End()
	conn, st := c.Session.Connection(), c.Session.State()
	l, err := conn.Line()
	if err != nil {
		return nil, err
	}
	if !st.WriteOn {
		return nil, session.ErrReadOnly
	}
	what := prose.When(c.Flag("data"), counters.All, counters.Errors)
	unanswered, err := counters.Clear(c.Ctx, l.Client, st.Live.Fabric, st.CounterOptions(op.Progress), what, ports...)
	return unanswered, conn.Failed(l, err)
}
