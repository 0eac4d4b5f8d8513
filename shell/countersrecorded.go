// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell/lang"
)

func recordedCommands() []Spec {
	since := lang.Option{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "from then on; " + whenHelp}
	until := lang.Option{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "up to then; now"}
	return []Spec{{Name: "counters", Summary: "what ports counted in the past, of what was recorded (show counters reads them now)", Subcommands: []Spec{
		{Name: "history", Summary: "of a port, one sample after the other, the finest that there are; the last hour", Run: runCountersHistory,
			Args: []lang.Arg{{Name: "NODE/PORT", Kind: lang.KindPlace}},
			Options: []lang.Option{since, until,
				{Name: "all", Kind: lang.KindFlag, Summary: "samples in which nothing was counted, too"}}},
		{Name: "worst", Summary: "the ports that counted most, how fast and since when; the last day", Run: runCountersWorst,
			Options: []lang.Option{since, until,
				{Name: "by", Kind: lang.KindText, Value: strings.Join(worstWords, "|"), Words: worstWords, Summary: "what counts; errors"},
				{Name: "limit", Kind: lang.KindInt, Summary: "how many to list; 20"}}},
	}}}
}

// worstWords are what ports can be the worst by.
var worstWords = []string{"errors", "waits", "discards", "traffic"}

// worstBy are the counters of a word.
func worstBy(word string) (what counters.Set, known bool) {
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

// spanOf is the time that since= and until= give.
func (c *call) spanOf(otherwise string) (since, until time.Time, err error) {
	return c.feature().Span(otherwise)
}

// countedRow is what a port counted in one sample.
type countedRow struct {
	From     string             `json:"from"`
	Until    string             `json:"until"`
	Seconds  float64            `json:"seconds"`
	Counters map[string]uint64  `json:"counters"`
	PerSec   map[string]float64 `json:"per_second,omitempty"`
	// AtLeast are counters of which no more is known than the least that they can have grown by: they were cleared, or
	// stand at their greatest value.
	AtLeast []string `json:"at_least,omitempty"`
	Stopped []string `json:"stopped,omitempty"`
	Cleared []string `json:"cleared,omitempty"`
	Wrapped []string `json:"wrapped,omitempty"`
	began   time.Time
	until   time.Time
	text    string
}

func (r *countedRow) Cells() []any {
	return []any{r.began.Format(time.DateTime), r.until.Format(time.TimeOnly), r.text}
}

func counterNames(s counters.Set) (names []string) {
	for c := range s.All() {
		names = append(names, c.String())
	}
	return names
}

func countedRowOf(x *records.Sample) *countedRow {
	began := x.Until.Add(-time.Duration(x.Seconds * float64(time.Second)))
	r := &countedRow{
		From: began.Format(time.RFC3339), Until: x.Until.Format(time.RFC3339), Seconds: x.Seconds, Counters: map[string]uint64{},
		AtLeast: counterNames(x.AtLeast()), Stopped: counterNames(x.Stopped), Cleared: counterNames(x.Cleared), Wrapped: counterNames(x.Wrapped),
		began: began, until: x.Until,
	}
	var words []string
	for c := range x.Has.All() {
		n := x.Increase[c]
		r.Counters[c.String()] = n
		if n == 0 && !x.AtLeast().Has(c) {
			continue
		}
		words = append(words, growthText(c, n, x.PerSecond(c), x.Cleared.Has(c), x.Stopped.Has(c)))
		if x.Seconds > 0 {
			if r.PerSec == nil {
				r.PerSec = map[string]float64{}
			}
			r.PerSec[c.String()] = x.PerSecond(c)
		}
	}
	r.text = cmp.Or(strings.Join(words, ", "), "nothing")
	return r
}

// growthText says by how much a counter grew.
func growthText(c counters.Counter, n uint64, perSecond float64, cleared, stopped bool) string {
	least := ""
	if cleared || stopped {
		least = "at least "
	}
	text := fmt.Sprintf("%v %s%d", c, least, n)
	switch c {
	case counters.XmitData, counters.RcvData: // in words of four bytes
		text = fmt.Sprintf("%v %s%s/s", c, least, bytesText(4*perSecond))
	case counters.XmitPackets, counters.RcvPackets:
		text = fmt.Sprintf("%v %s%.3g/s", c, least, perSecond)
	}
	switch {
	case stopped:
		text += " (at its greatest value; clear counters to see more)"
	case cleared:
		text += " (cleared meanwhile)"
	}
	return text
}

func bytesText(n float64) string {
	for _, unit := range []string{"B", "kB", "MB"} {
		if n < 1000 {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3g GB", n)
}

func runCountersHistory(c *call) error {
	since, until, err := c.spanOf("1h")
	if err != nil {
		return err
	}
	f := c.session.State().Live.Fabric
	p, err := places.Resolve(f, c.Arg(0))
	if err != nil {
		return err
	}
	if p.Port == fabric.None || !p.PortNamed && f.Nodes[p.Node].IsSwitch() {
		return c.Misused("%s is no port, expected NODE/PORT", c.Arg(0))
	}
	store, err := c.session.Records(c.ctx)
	if err != nil {
		return err
	}
	all, err := store.Port(c.ctx, c.session.Subnet(), counters.KeyOf(f, p.Port), since, until)
	if errors.Is(err, records.ErrNoPort) {
		return fmt.Errorf("%s: %w", f.PortName(p.Port), err)
	}
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s: nothing was recorded of it from %s to %s", f.PortName(p.Port), since.Format(time.DateTime), until.Format(time.DateTime))
	}
	var rows []*countedRow
	for i := range all {
		if r := countedRowOf(&all[i]); r.text != "nothing" || c.Flag("all") {
			rows = append(rows, r)
		}
	}
	if err := c.out.Answer(&List{Columns: []string{"FROM", "UNTIL", "COUNTED"}, Rows: eachRow(rows), Empty: "nothing was counted in that time"}); err != nil {
		return err
	}
	a := recordedOf(nil, &records.Recorded{Since: since, Until: until, Spans: records.SpansOf(all, since, until)}, len(rows))
	a.Ports, a.Samples = 1, len(all)
	return c.out.Answer(a)
}

// worstRow is a port with what it counted in some time.
type worstRow struct {
	leads
	Port     string             `json:"port"`
	To       string             `json:"to,omitempty"`
	Counters map[string]uint64  `json:"counters"`
	PerHour  map[string]float64 `json:"per_hour"`
	AtLeast  []string           `json:"at_least,omitempty"`
	First    string             `json:"first,omitempty"` // by when it had grown for the first time
	Last     string             `json:"last,omitempty"`
	sum      uint64
	rate     float64
	first    time.Time
	last     time.Time
	text     string
}

func (r *worstRow) Cells() []any {
	first, last := "-", "-"
	if !r.first.IsZero() {
		first, last = r.first.Format(time.DateTime), r.last.Format(time.DateTime)
	}
	return []any{r.Port, orDash(r.To), r.text, fmt.Sprintf("%.3g", r.rate), first, last}
}

func worstRowOf(f *fabric.Fabric, x *records.Total) *worstRow {
	r := &worstRow{Port: fabric.Escape(x.Name), Counters: map[string]uint64{}, PerHour: map[string]float64{}}
	if port := x.Key.In(f); port != fabric.None {
		r.leads, r.Port = leads{toPort(f, port)}, f.PortName(port)
		if peer := f.Ports[port].Peer; peer != fabric.None {
			r.To = f.PortName(peer)
		}
	}
	var words []string
	for _, n := range x.Counts {
		name := n.Counter.String()
		r.Counters[name], r.PerHour[name] = n.Increase, n.PerSecond()*3600
		r.sum += n.Increase
		r.rate += n.PerSecond() * 3600
		if n.AtLeast {
			r.AtLeast = append(r.AtLeast, name)
		}
		if n.Increase > 0 && (r.first.IsZero() || n.First.Before(r.first)) {
			r.first = n.First
		}
		if n.Increase > 0 && n.Last.After(r.last) {
			r.last = n.Last
		}
		words = append(words, growthText(n.Counter, n.Increase, n.PerSecond(), false, false))
		if n.AtLeast {
			words[len(words)-1] += " at least"
		}
	}
	if !r.first.IsZero() {
		r.First, r.Last = r.first.Format(time.RFC3339), r.last.Format(time.RFC3339)
	}
	r.text = strings.Join(words, ", ")
	return r
}

func runCountersWorst(c *call) error {
	since, until, err := c.spanOf("24h")
	if err != nil {
		return err
	}
	what, known := worstBy(c.Option("by", "errors"))
	if !known {
		return c.Misused("by=%q, expected %s", c.Option("by", ""), strings.Join(worstWords, ", "))
	}
	limit, err := c.atLeast("limit", maxListed, 1)
	if err != nil {
		return err
	}
	recorded, err := c.session.Recorded(c.ctx, what, since, until)
	if err != nil {
		return err
	}
	st := c.session.State()
	rows := worstRows(st.Live.Fabric, recorded.Totals)
	shown := rows[:min(limit, len(rows))]
	if err := c.out.Answer(&List{
		Columns: []string{"PORT", "TO", "COUNTED", "AN HOUR", "FIRST BY", "LAST BY"}, Rows: eachRow(shown),
		Empty: "no port counted any",
	}); err != nil {
		return err
	}
	return c.out.Answer(recordedOf(&st, &recorded, len(shown)))
}

// worstRows are ports with what they counted, the most first.
func worstRows(f *fabric.Fabric, all []records.Total) []*worstRow {
	rows := make([]*worstRow, 0, len(all))
	for i := range all {
		rows = append(rows, worstRowOf(f, &all[i]))
	}
	slices.SortStableFunc(rows, func(a, b *worstRow) int { return cmp.Compare(b.sum, a.sum) })
	return rows
}
