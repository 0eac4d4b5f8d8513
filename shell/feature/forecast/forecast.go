// SPDX-License-Identifier: Apache-2.0

// Package forecast predicts when values of links cross their limits.
package forecast

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/fabric/trend"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recorded"
)

// Feature is the command forecast.
var Feature = feature.Feature{Name: "forecast", Commands: []feature.Command{{
	Path:    "forecast",
	Group:   feature.GroupRecord,
	Summary: "Find links that will cross a limit, and when",
	Help: "With folders of ibdiagnet, the command examines bit error rates, module temperatures, received optical " +
		"powers, symbol\nerrors and link-error recoveries of all links. Without folders, it examines the recorded " +
		"symbol errors and recoveries:\na subnet that is asked live does not report the other values.\n" +
		fmt.Sprintf("A forecast needs at least %d readings, each at least %.0f minutes after link up, that move "+
			"consistently towards the limit\n(Mann-Kendall test), and it reaches at most as far ahead as three times "+
			"the time of the readings. EARLIEST and LATEST are\nthe bounds for 95 %% confidence. IN counts from "+
			"now. A forecast is overdue if the time is past: no later reading shows whether the\nvalue has crossed "+
			"its limit. ", trend.LeastReadings, trend.Settled.Minutes()) +
		"The limits have their sources in docs/ibdiagnet.md; the line \"limit\" of the\nconfiguration changes them. " +
		"The time of link up is known from LinkDownedCounter, so the first folder never counts.",
	Args: []lang.Arg{{Name: "FOLDER", Kind: lang.KindFile, Repeat: true, Optional: true}},
	Options: []lang.Option{
		{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "readings from this time on; " + when.Help,
			Default: "30d"},
		{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "up to this time (default now)"},
	},
	Examples: []string{"forecast", "forecast since=7d", "forecast /var/diag since=2026-11-01"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// forecasts is the answer.
type forecasts struct {
	Series  int       `key:"series" help:"examined series: one for each quantity of a port"`
	Crosses int       `key:"crossing" help:"series that cross their limit"`
	Overdue int       `key:"overdue" help:"those of them whose time is past; no later reading shows the value"`
	Beyond  int       `key:"beyond" help:"series whose last value is beyond the limit"`
	TooFew  int       `key:"too_few" help:"series with fewer readings than a forecast needs"`
	NoTrend int       `key:"no_trend" help:"series without a consistent trend, or far from the limit"`
	Since   time.Time `key:"since"`
	Until   time.Time `key:"until"`
	Folders bool      `key:"from_folders" help:"the readings come from ibdiagnet folders"`

	f    *fabric.Fabric
	now  time.Time
	list []trend.Expected
}

// row is a row of the table.
type row struct {
	Port     answer.Value `key:"port" name:"PORT" kind:"place"`
	Peer     answer.Value `key:"peer" name:"TO" kind:"place" help:"port at the other end"`
	What     string       `key:"quantity" name:"QUANTITY"`
	State    string       `key:"state" name:"FORECAST" help:"crosses the limit, overdue (time past), or beyond it"`
	When     answer.Value `name:"IN" kind:"text" help:"time from now until it crosses the limit"`
	Expected answer.Value `key:"expected" name:"EXPECTED" kind:"time" help:"when it crosses the limit"`
	In       answer.Value `key:"in_seconds" kind:"duration" help:"time from the last reading to the limit"`
	Earliest answer.Value `key:"earliest" name:"EARLIEST" kind:"time" help:"at 95 % confidence"`
	Latest   answer.Value `key:"latest" name:"LATEST" kind:"time" help:"at 95 % confidence; none if it may never cross"`
	First    answer.Value `key:"first" name:"FIRST" kind:"text" help:"first reading"`
	Last     answer.Value `key:"last" name:"LAST" kind:"text" help:"last reading"`
	Limit    string       `key:"limit" name:"LIMIT"`
	Readings int          `key:"readings" name:"READINGS"`
	Chance   answer.Value `key:"chance" name:"CHANCE" kind:"float" help:"probability that such a trend is noise"`
	Source   string       `key:"source" help:"where the limit comes from"`
	answer.Lead
}

var decl = answer.Decl[*forecasts]{
	Command: "forecast", Help: "links that will cross a limit", Facts: answer.Fields[*forecasts](),
	Title: "forecast from readings of {since} to {until}",
	Layout: []answer.Item[*forecasts]{
		{Table: answer.Show(&answer.Table[row]{
			Key: "forecasts", Title: "forecasts", Stream: true, Fields: answer.Fields[row](),
			Empty: "no link is expected to cross a limit",
		}, func(f *forecasts) answer.Rows[row] { return answer.Lazy(len(f.list), f.row) })},
		{Line: "{series} series: {crossing} cross[ ({overdue} overdue)], {beyond} beyond their limit, {too_few} with " +
			"too few readings, {no_trend} without a trend"},
	},
	Verdict: (*forecasts).verdict, Fails: answer.Asked,
}

func (f *forecasts) verdict() (answer.Verdict, string) {
	switch n := f.Crosses + f.Beyond; {
	case n > 0:
		return answer.Found, fmt.Sprintf("%d values of links cross their limit, or are beyond it", n)
	case f.TooFew > 0 || f.Series == 0:
		return answer.Unknown, "too few readings for a forecast"
	}
	return answer.OK, "no link is expected to cross a limit"
}

func (f *forecasts) row(i int) row {
	x := &f.list[i]
	at := problems.Place{GUID: x.Key.GUID, Port: int(x.Key.Num), Name: x.Port.Name}
	points := x.Points[x.Quantity]
	value := func(p trend.Point) answer.Value { return answer.Text(x.Quantity.Text(x.Quantity.Value(p.Value))) }
	r := row{Port: feature.PlaceOf(f.f, at), Peer: answer.None(), What: x.Quantity.String(), State: "beyond",
		When: answer.None(), In: answer.None(), Expected: answer.None(), Earliest: answer.None(),
		Latest: answer.None(), Chance: answer.None(), First: value(points[0]), Last: value(points[len(points)-1]),
		Limit:    x.Quantity.Text(x.Limit.Value),
		Readings: len(points), Source: x.Limit.Source, Lead: answer.Lead{GUID: x.Key.GUID, Port: x.Key.Num}}
	if p := x.Key.In(f.f); p != fabric.None && f.f.Ports[p].Linked() {
		r.Peer = answer.Port(f.f, f.f.Ports[p].Peer)
	}
	if x.Outcome != trend.Crosses {
		return r
	}
	last := points[len(points)-1].At
	expected := last.Add(x.In)
	r.State, r.When, r.In = "crosses", answer.Text(text(expected.Sub(f.now))), answer.Duration(x.In)
	if f.isOverdue(x) {
		r.State, r.When = "overdue", answer.Text(text(f.now.Sub(expected))+" ago")
	}
	r.Expected = answer.Time(expected)
	r.Earliest, r.Chance = answer.Time(last.Add(x.Earliest)), answer.Float(x.Chance, 4)
	if x.Latest > 0 {
		r.Latest = answer.Time(last.Add(x.Latest))
	}
	return r
}

// isOverdue reports whether the time at which a value was expected to cross its limit is past.
func (f *forecasts) isOverdue(x *trend.Expected) bool {
	points := x.Points[x.Quantity]
	return x.Outcome == trend.Crosses && points[len(points)-1].At.Add(x.In).Before(f.now)
}

// text returns a duration in days, or in hours below two days.
func text(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}

func run(c *feature.Call) error {
	since, until, err := c.Span("30d")
	if err != nil {
		return err
	}
	st := c.Session.State()
	v := &forecasts{f: st.Live.Fabric, now: time.Now(), Since: since, Until: until, Folders: len(c.Args) > 0}
	var h *trend.History
	var basis answer.Basis
	if v.Folders {
		h, basis, err = v.fromFolders(c)
	} else {
		basis = st.Basis(st.Live, 0)
		h, err = fromRecord(c, since, until)
	}
	if err != nil {
		return err
	}
	var outcomes [trend.Beyond + 1]int
	v.list, outcomes = h.Expect(c.Session.Options().TrendLimits())
	for _, n := range outcomes {
		v.Series += n
	}
	v.Crosses, v.Beyond, v.TooFew = outcomes[trend.Crosses], outcomes[trend.Beyond], outcomes[trend.TooFew]
	v.NoTrend = outcomes[trend.NoTrend] + outcomes[trend.Distant]
	for i := range v.list {
		if v.isOverdue(&v.list[i]) {
			v.Overdue++
		}
	}
	if !v.Folders {
		basis.Unread.Note("kind of value", "bit error rates, temperatures and powers: only ibdiagnet folders have them",
			1, answer.Place{})
	}
	return c.Answer(decl.Answer(basis, v))
}

// fromFolders reads the folders of the arguments.
func (f *forecasts) fromFolders(c *feature.Call) (*trend.History, answer.Basis, error) {
	var from time.Time
	if c.Options["since"] != "" {
		from = f.Since
	}
	s, err := c.ReadFolders(from)
	if err != nil {
		return nil, answer.Basis{}, err
	}
	h := &trend.History{}
	last := s.First.When
	for _, r := range s.Readings {
		if !r.When.After(f.Until) {
			h.AddReading(r)
			last = r.When
		}
	}
	f.f, f.Since, f.Until = s.Last.Fabric, s.First.When, last
	return h, s.Basis(), nil
}

// mostPoints is the maximum number of points of a recorded series.
const mostPoints = 60

// fromRecord reads the recorded error counters.
func fromRecord(c *feature.Call, since, until time.Time) (*trend.History, error) {
	what := counters.Of(counters.SymbolErrors, counters.LinkErrorRecovery)
	got, err := c.Session.Recorded().Between(c.Ctx, what, since, until)
	if err != nil {
		if errors.Is(err, recorded.ErrNone) {
			err = fmt.Errorf("%w, or name folders of ibdiagnet", err)
		}
		return nil, err
	}
	store, err := c.Session.Recorded().Store(c.Ctx)
	if err != nil {
		return nil, err
	}
	outages, err := store.Outages(c.Ctx, c.Session.Subnet(), since, until)
	if err != nil {
		return nil, err
	}
	ups := map[counters.Key][]time.Time{}
	for i := range outages {
		o := &outages[i]
		for _, e := range []fabric.End{o.A, o.B} {
			if !o.Up.IsZero() {
				ups[counters.KeyOfEnd(e)] = append(ups[counters.KeyOfEnd(e)], o.Up)
			}
		}
	}
	st := c.Session.State()
	h := &trend.History{}
	for i := range got.Totals {
		if err := addRecorded(c, store, h, &st, &got.Totals[i], ups, since, until); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// addRecorded adds the series of a port with errors.
func addRecorded(c *feature.Call, store *records.Store, h *trend.History, st *session.State, total *records.Total,
	ups map[counters.Key][]time.Time, since, until time.Time) error {
	samples, err := store.Port(c.Ctx, c.Session.Subnet(), total.Key, since, until)
	if err != nil {
		return err
	}
	deltas, ends := make([]counters.Delta, len(samples)), make([]time.Time, len(samples))
	for i := range samples {
		deltas[i], ends[i] = samples[i].Delta, samples[i].Until
	}
	p := h.Port(total.Key)
	p.Name = strings.Clone(total.Name)
	if at := total.Key.In(st.Live.Fabric); at != fabric.None {
		p.Name, p.Link.Speed = st.Live.Fabric.PortName(at), st.Live.Fabric.Ports[at].Speed
	}
	p.AddSamples(deltas, ends, ups[total.Key])
	for q := range trend.NumQuantities {
		p.Thin(q, mostPoints)
	}
	return nil
}
