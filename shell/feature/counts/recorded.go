// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/recorded"
)

// timeRecorded describes the part of a time span for which counters were recorded.
type timeRecorded struct {
	Since   time.Time    `key:"since"`
	Until   time.Time    `key:"until"`
	Seconds float64      `key:"recorded_seconds" unit:"s"`
	Took    string       `name:"took"`
	Asked   string       `name:"asked"`
	Gaps    answer.Value `name:"gaps" kind:"text"`
	Ports   int          `key:"ports_read" help:"ports with samples"`
	Samples answer.Value `key:"samples" kind:"int" help:"of one port"`
	Shown   int          `key:"shown" help:"rows that are listed"`
	Read    string       `name:"read"`
	of      *records.Recorded
}

func describeTime(r *records.Recorded, samples, shown int) timeRecorded {
	took := records.TotalTime(r.Spans)
	a := timeRecorded{
		Since: r.Since, Until: r.Until, Seconds: took.Seconds(), Took: took.Round(time.Second).String(),
		Asked: r.Until.Sub(r.Since).Round(time.Second).String(), Ports: len(r.Read), Shown: shown, of: r,
	}
	a.Read = prose.Count(a.Ports, "port") + " read"
	if samples > 0 {
		a.Samples, a.Read = answer.Int(samples), prose.Count(samples, "sample")
	}
	if gaps := r.Gaps(); gaps != nil {
		a.Gaps = answer.Text(feature.SpansText(gaps))
	}
	return a
}

// span is a time span.
type span struct {
	From  time.Time `key:"from" name:"FROM"`
	Until time.Time `key:"until" name:"UNTIL"`
}

func spans(all []records.Span) answer.Rows[span] {
	return answer.Lazy(len(all), func(i int) span { return span{all[i].Since, all[i].Until} })
}

// timeItems returns the lines and tables of a recorded time span.
func timeItems[T any](of func(T) timeRecorded) []answer.Item[T] {
	table := func(key, title string, rows func(*records.Recorded) []records.Span) answer.Item[T] {
		t := &answer.Table[span]{Key: key, Title: title, Fields: answer.Fields[span]()}
		show := answer.Show(t, func(v T) answer.Rows[span] { return spans(rows(of(v).of)) })
		return answer.Item[T]{When: answer.Hidden[T], Table: show}
	}
	return []answer.Item[T]{
		{Line: "{read}, {shown} shown; recorded {took} of {asked}"},
		{Line: "{?gaps}not recorded: {gaps}"},
		table("recorded", "recorded times", func(r *records.Recorded) []records.Span { return r.Spans }),
		table("not_recorded", "times that were not recorded", (*records.Recorded).Gaps),
	}
}

// sample is the growth of the counters of a port between two readings.
type sample struct {
	From     time.Time    `key:"from" name:"FROM"`
	Until    time.Time    `key:"until"`
	Clock    string       `name:"UNTIL"`
	Text     string       `name:"COUNTED"`
	Seconds  float64      `key:"seconds" unit:"s"`
	Counters answer.Value `key:"counters" kind:"map" help:"increase of the counters"`
	PerSec   answer.Value `key:"per_second" kind:"map"`
	AtLeast  []string     `key:"at_least" help:"counters that were cleared or reached their maximum"`
	Stopped  []string     `key:"stopped" help:"counters at their maximum"`
	Cleared  []string     `key:"cleared" help:"counters that were cleared between the readings"`
	Wrapped  []string     `key:"wrapped" help:"counters that wrapped around"`
}

// history holds the samples of a port.
type history struct {
	timeRecorded `prefix:""`
	Port         answer.Value `key:"port" kind:"place"`
	rows         []sample
}

var sampleTable = answer.Table[sample]{
	Key: "counted", Title: "samples", Stream: true, Fields: answer.Fields[sample](),
	Empty: "nothing was counted in that time",
}

var historyDecl = answer.Decl[history]{
	Command: "counters history", Help: "recorded samples of a port",
	Title: "counters of {port} as recorded, {of}", Facts: answer.Fields[history](),
	Layout: append([]answer.Item[history]{
		{Table: answer.Show(&sampleTable, func(h history) answer.Rows[sample] { return answer.Slice(h.rows) })},
	}, timeItems(func(h history) timeRecorded { return h.timeRecorded })...),
}

func runHistory(c *feature.Call) error {
	since, until, err := c.Span("1h")
	if err != nil {
		return err
	}
	st := c.Session.State()
	f := st.Live.Fabric
	p, err := places.Resolve(f, c.Arg(0))
	if err != nil {
		return err
	}
	if p.Port == fabric.None || !p.PortNamed && f.Nodes[p.Node].IsSwitch() {
		return c.Misused("%s is not a port, expected NODE/PORT", c.Arg(0))
	}
	store, err := c.Session.Recorded().Store(c.Ctx)
	if err != nil {
		return err
	}
	all, err := store.Port(c.Ctx, c.Session.Subnet(), counters.KeyOf(f, p.Port), since, until)
	switch {
	case errors.Is(err, records.ErrNoPort):
		return fmt.Errorf("%s: %w", f.PortName(p.Port), err)
	case err != nil:
		return err
	case len(all) == 0:
		return fmt.Errorf("%s: nothing was recorded from %s to %s", f.PortName(p.Port),
			when.Text(since), when.Text(until))
	}
	h := history{Port: answer.Port(f, p.Port)}
	for i := range all {
		if s := describeSample(&all[i]); s.Text != nothing || c.Flag("all") {
			h.rows = append(h.rows, s)
		}
	}
	h.timeRecorded = describeTime(&records.Recorded{
		Since: since, Until: until, Spans: records.SpansOf(all, since, until),
	}, len(all), len(h.rows))
	h.Ports = 1
	return c.Answer(historyDecl.Answer(st.Basis(st.Live, 0), h))
}

// nothing is the text of a sample in which no counter grew.
const nothing = "nothing"

func describeSample(x *records.Sample) sample {
	s := sample{
		From: x.Until.Add(-time.Duration(x.Seconds * float64(time.Second))), Until: x.Until,
		Clock: when.Clock(x.Until), Text: nothing,
		Seconds: x.Seconds, AtLeast: names(x.AtLeast()), Stopped: names(x.Stopped), Cleared: names(x.Cleared),
		Wrapped: names(x.Wrapped),
	}
	var words []string
	var values, rates []answer.Named
	for c := range x.Has.All() {
		n := x.Increase[c]
		values = append(values, answer.Named{Name: c.String(), Value: answer.Int(int64(n))})
		if n == 0 && !x.AtLeast().Has(c) {
			continue
		}
		words = append(words, feature.GrowthText(c, n, x.PerSecond(c), x.Cleared.Has(c), x.Stopped.Has(c)))
		if x.Seconds > 0 {
			rates = append(rates, answer.Named{Name: c.String(), Value: answer.Float(x.PerSecond(c), 3)})
		}
	}
	if words != nil {
		s.Text = strings.Join(words, ", ")
	}
	s.Counters, s.PerSec = answer.Map(values), optional(rates)
	return s
}

func names(s counters.Set) []string {
	out := []string{}
	for c := range s.All() {
		out = append(out, c.String())
	}
	return out
}

// worstWords are the values of the option "by".
var worstWords = []string{"errors", "waits", "discards", "traffic"}

// countersOf returns the counters that a value of the option "by" selects.
func countersOf(word string) (what counters.Set, known bool) {
	switch word {
	case "errors":
		return counters.Faults, true
	case "waits":
		return counters.Of(counters.XmitWait), true
	case "discards":
		return counters.Of(counters.XmitDiscards), true
	case "traffic":
		return counters.Of(counters.XmitData), true
	}
	return 0, false
}

// worst holds the ports that counted most.
type worst struct {
	timeRecorded `prefix:""`
	rows         []feature.GrowthRow
}

var worstTable = answer.Table[feature.GrowthRow]{
	Key: "ports", Title: "ports", Stream: true, Fields: answer.Fields[feature.GrowthRow](),
	Empty: "no port counted anything",
}

var worstDecl = answer.Decl[worst]{
	Command: "counters worst", Help: "the ports that counted most", Facts: answer.Fields[worst](),
	Layout: append([]answer.Item[worst]{
		{Table: answer.Show(&worstTable, func(w worst) answer.Rows[feature.GrowthRow] { return answer.Slice(w.rows) })},
	}, timeItems(func(w worst) timeRecorded { return w.timeRecorded })...),
}

func runWorst(c *feature.Call) error {
	since, until, err := c.Span("24h")
	if err != nil {
		return err
	}
	what, known := countersOf(c.Option("by", "errors"))
	if !known {
		return c.Misused("by=%q, expected %s", c.Option("by", ""), strings.Join(worstWords, ", "))
	}
	limit, err := c.AtLeast("limit", 20, 1)
	if err != nil {
		return err
	}
	got, err := c.Session.Recorded().Between(c.Ctx, what, since, until)
	if err != nil {
		return err
	}
	st := c.Session.State()
	f := st.Live.Fabric
	all := feature.RankedGrowth(f, got.Totals)
	var w worst
	for _, x := range all[:min(limit, len(all))] {
		w.rows = append(w.rows, feature.GrowthRowOf(f, &x))
	}
	w.timeRecorded = describeTime(&got, 0, len(w.rows))
	b := st.Basis(st.Live, 0)
	feature.NotRead(&b, f, "port record", "nothing was recorded", recorded.NotRead(st.Live.Fabric, &got))
	return c.Answer(worstDecl.Answer(b, w))
}
