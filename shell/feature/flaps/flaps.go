// SPDX-License-Identifier: Apache-2.0

// Package flaps lists the cables that went down, over months.
package flaps

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/recorded"
)

// Feature is the command flaps.
var Feature = feature.Feature{Name: "flaps", Commands: []feature.Command{{
	Path:    "flaps",
	Group:   feature.GroupRecord,
	Summary: "List cables that went down, with their downtime",
	Help: "A recorder stores each outage of a link that its sweeps find, for 400 days. LinkDownedCounter also counts " +
		"outages\nbetween two sweeps; FLAPS is the larger number, and a lower bound if the counter was not " +
		"read all\nthe time. An outage that a commit caused (port disable, drain) is planned, and no flap. The " +
		"downtime lies between two\nbounds: a sweep finds the beginning and the end after the fact. PAIRS is the " +
		"number of pairs whose path used the link\nbefore an outage, summed over all outages. JOBS are the jobs of " +
		"Slurm (sacct) that ran during an outage and used the link\nbefore, by the tables of that time. Without " +
		"sacct, they are the sets of the command hosts.",
	Options: []lang.Option{
		{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "from this time on; " + when.Help, Default: "30d"},
		{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "up to this time (default now)"},
		{Name: "cables", Kind: lang.KindFile, Value: "FOLDER", Summary: "ibdiagnet folder with the serial numbers"},
		{Name: "limit", Kind: lang.KindInt, Summary: "number of listed links (default 20)"},
	},
	Examples: []string{"flaps", "flaps since=90d limit=5", "flaps since=2026-11-01 until=2026-11-15"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// ledger is the answer.
type ledger struct {
	Since   time.Time    `key:"since"`
	Until   time.Time    `key:"until"`
	Cables  int          `key:"cables" help:"cables that went down"`
	Flaps   int          `key:"flaps" help:"how often they went down"`
	AtLeast bool         `key:"flaps_at_least" help:"they may have gone down more often"`
	Times   string       `name:"times"`
	Planned int          `key:"planned" help:"outages that commits of a console caused; no flaps"`
	Watched answer.Value `key:"recorded_seconds" kind:"duration" help:"the part of the period with a recorder"`
	rows    []cable
}

// cable is a row: a link that went down.
type cable struct {
	A       answer.Value `key:"a" name:"PORT" kind:"place"`
	B       answer.Value `key:"b" name:"PORT" kind:"place" help:"port at the other end"`
	Flaps   int          `key:"flaps" help:"how often it went down"`
	More    bool         `key:"flaps_at_least" help:"LinkDownedCounter was not read all the time"`
	Times   string       `name:"FLAPS" help:"how often it went down"`
	Outages int          `key:"outages" help:"outages that sweeps found"`
	Planned int          `key:"planned" help:"outages that commits caused, such as port disable; no flaps"`
	Downed  answer.Value `key:"link_downed" kind:"int" help:"increase of LinkDownedCounter; the larger of both ports"`
	Down    string       `name:"DOWN" help:"the downtime"`
	AtLeast answer.Value `key:"down_at_least_seconds" kind:"duration" help:"lower bound of the downtime"`
	AtMost  answer.Value `key:"down_at_most_seconds" kind:"duration" help:"upper bound; none if unknown"`
	IsDown  bool         `key:"down" help:"it was down at the end of the period"`
	Last    answer.Value `key:"last" name:"LAST" kind:"time" help:"when it last went down, as found"`
	Pairs   answer.Value `key:"pairs" name:"PAIRS" kind:"int" help:"pairs that used it, over all outages"`
	Jobs    answer.Value `key:"jobs" name:"JOBS" kind:"texts" help:"jobs that ran during an outage and used it before"`
	Serial  answer.Value `key:"serial" name:"SERIAL" kind:"text" help:"serial number of the cable"`
	answer.Lead
}

var decl = answer.Decl[*ledger]{
	Command: "flaps", Help: "cables that went down, with their downtime", Facts: answer.Fields[*ledger](),
	Title: "cables that went down in {of} from {since} to {until}",
	Layout: []answer.Item[*ledger]{
		{Table: answer.Show(&answer.Table[cable]{
			Key: "links", Title: "flaps", Stream: true, Fields: answer.Fields[cable](), Empty: "no cable went down",
		}, func(l *ledger) answer.Rows[cable] { return answer.Slice(l.rows) })},
		{Line: "{cables|cable}, {times}[, {planned|planned outage}]"},
	},
}

// link is a link with its outages in the period.
type link struct {
	a, b    fabric.End
	outages []records.Outage
	planned int // outages that commits caused
	downed  uint64
	counted bool // LinkDowned was read at one end, for a part of the period
	missed  bool // it was not read for a part of the period
	last    time.Time
}

func run(c *feature.Call) error {
	since, until, err := c.Span("30d")
	if err != nil {
		return err
	}
	limit, err := c.AtLeast("limit", 20, 1)
	if err != nil {
		return err
	}
	serials, err := serialNumbers(c)
	if err != nil {
		return err
	}
	store, err := c.Session.Recorded().Store(c.Ctx)
	if err != nil {
		return err
	}
	outages, err := store.Outages(c.Ctx, c.Session.Subnet(), since, until)
	if err != nil {
		return err
	}
	counted, err := c.Session.Recorded().Between(c.Ctx, counters.Of(counters.LinkDowned), since, until)
	var none *recorded.NotRecordedError
	if err != nil && (!errors.As(err, &none) || len(outages) == 0) {
		return err
	}
	st := c.Session.State()
	f := st.Live.Fabric
	all := linksOf(f, outages, &counted)
	if err := findPlanned(c, all); err != nil {
		return err
	}
	b := st.Basis(st.Live, 0)
	if gaps := feature.NotRecorded(&counted); gaps != "" {
		b.Warnings = append(b.Warnings, gaps+": figures are lower bounds")
	}
	hit, err := findHit(c, &b, all, since, until)
	if err != nil {
		return err
	}
	l := &ledger{Since: since, Until: until, Watched: answer.Duration(records.TotalTime(counted.Spans))}
	for i := range all {
		x := all[i].row(f, since, until)
		x.Serial = answer.Optional(cmp.Or(serials[counters.KeyOfEnd(all[i].a)], serials[counters.KeyOfEnd(all[i].b)]))
		x.Jobs = answer.NotRead()
		if hit != nil {
			x.Jobs = answer.Texts(hit[i])
		}
		l.rows, l.Flaps, l.Planned = append(l.rows, x), l.Flaps+x.Flaps, l.Planned+x.Planned
	}
	l.AtLeast = counted.Gaps() != nil || len(recorded.NotRead(f, &counted)) > 0 ||
		slices.ContainsFunc(all, func(l link) bool { return l.missed })
	l.Times = prose.When(l.AtLeast, "at least ", "") + prose.Count(l.Flaps, "flap")
	l.Cables = len(l.rows)
	slices.SortStableFunc(l.rows, func(a, b cable) int { return cmp.Compare(b.Flaps, a.Flaps) })
	l.rows = l.rows[:min(limit, len(l.rows))]
	return c.Answer(decl.Answer(b, l))
}

// findPlanned counts the outages of links that commits caused.
func findPlanned(c *feature.Call, all []link) error {
	journal, err := c.Session.Journal().Known(c.Ctx)
	for i := range all {
		for _, o := range all[i].outages {
			if history.TookDown(journal, o.A, o.B, o.WasUp, o.Down) != nil {
				all[i].planned++
			}
		}
	}
	return err
}

// unreadPart is the part of a period, 1/unreadPart, that may lack readings if the counter counts as read all the time.
const unreadPart = 10

// linksOf returns the links that went down: those with outages, and those whose LinkDowned increased.
func linksOf(f *fabric.Fabric, outages []records.Outage, r *records.Recorded) []link {
	var all []link
	at := map[counters.Key]int{} // the latest link of a port
	period := r.Until.Sub(r.Since).Seconds()
	allowed := min(period/unreadPart, records.Unobserved.Seconds()) // the last reading may be that old
	add := func(a, b fabric.End) *link {
		i, known := at[counters.KeyOfEnd(a)]
		if !known || counters.KeyOfEnd(all[i].a) != counters.KeyOfEnd(b) &&
			counters.KeyOfEnd(all[i].b) != counters.KeyOfEnd(b) {
			i = len(all)
			read := max(r.Seconds[counters.KeyOfEnd(a)], r.Seconds[counters.KeyOfEnd(b)])
			all = append(all, link{a: a, b: b, counted: read > 0, missed: read < period-allowed})
		}
		at[counters.KeyOfEnd(a)], at[counters.KeyOfEnd(b)] = i, i
		return &all[i]
	}
	for _, o := range outages {
		x := add(o.A, o.B)
		x.outages, x.last = append(x.outages, o), o.Down
	}
	for i := range r.Totals {
		p := r.Totals[i].Key.In(f)
		for _, n := range r.Totals[i].Counts {
			was, known := at[r.Totals[i].Key]
			var x *link
			switch {
			case n.Increase == 0:
				continue
			case p != fabric.None && f.Ports[p].Linked():
				x = add(fabric.NamedEnd(f, p), fabric.NamedEnd(f, f.Ports[p].Peer))
			case known:
				x = &all[was]
			default: // a port without a link, whose outage was not seen
				continue
			}
			x.downed, x.missed = max(x.downed, n.Increase), x.missed || n.AtLeast
			if n.Last.After(x.last) {
				x.last = n.Last
			}
		}
	}
	return all
}

// row returns the row of a link, without its jobs and its serial number.
func (l *link) row(f *fabric.Fabric, since, until time.Time) cable {
	x := cable{
		A: feature.PlaceOf(f, problems.Place(l.a)), B: feature.PlaceOf(f, problems.Place(l.b)), Outages: len(l.outages),
		Flaps: max(len(l.outages), int(l.downed)) - l.planned, Planned: l.planned, More: l.missed,
		Downed: answer.NotRead(), Last: answer.Time(l.last), Pairs: answer.NotRead(), AtMost: answer.None(),
		Lead: answer.Lead{GUID: l.a.GUID, Port: uint8(l.a.Port)},
	}
	x.Times = prose.When(x.More, "at least ", "") + strconv.Itoa(x.Flaps) +
		prose.When(l.planned > 0, fmt.Sprintf(" (%d planned)", l.planned), "")
	if l.counted {
		x.Downed = answer.Int(int64(l.downed))
	}
	var least, most, pairs = time.Duration(0), time.Duration(0), int64(0)
	bounded, known := x.Flaps+l.planned == len(l.outages), len(l.outages) > 0
	for i := range l.outages {
		o := &l.outages[i]
		least += o.AtLeast(since, until)
		m, ok := o.AtMost(since, until)
		most, bounded = most+m, bounded && ok
		pairs, known = pairs+o.Pairs, known && o.Pairs >= 0
		x.IsDown = x.IsDown || o.Up.IsZero() || o.Up.After(until)
	}
	x.AtLeast, x.Down = answer.Duration(least), feature.Downtime(least, most, bounded)
	if bounded {
		x.AtMost = answer.Duration(most)
	}
	if known {
		x.Pairs = answer.Int(pairs)
	}
	return x
}

// serialNumbers returns the serial numbers of cables by port, from the ibdiagnet folder of the option or of the source.
func serialNumbers(c *feature.Call) (map[counters.Key]string, error) {
	live := c.Session.State().Live
	f, health := live.Fabric, live.Health
	if folder := c.Option("cables", ""); folder != "" {
		file, err := formats.Read(c.Ctx, folder)
		if err != nil {
			return nil, err
		}
		if f, health = file.Fabric, file.Health; len(health.Ports()) == 0 {
			return nil, fmt.Errorf("%s has no data of cables", fabric.Escape(folder))
		}
	}
	of := map[counters.Key]string{}
	for _, p := range health.Ports() {
		if x := health.At(p); x != nil && x.Cable != nil {
			of[counters.KeyOf(f, p)] = x.Cable.Serial
		}
	}
	return of, nil
}

// findHit returns the jobs that each link hit: those that used it before an outage and ran during the outage. The
// result is nil if no job could be listed, which the basis then notes.
func findHit(c *feature.Call, b *answer.Basis, all []link, since, until time.Time) ([][]string, error) {
	hit := make([][]string, len(all))
	for i := range hit {
		hit[i] = []string{}
	}
	if !slices.ContainsFunc(all, func(l link) bool { return len(l.outages) > 0 }) {
		return hit, nil
	}
	running, err := joblinks.List(c.Ctx, c.Session, since, until)
	if err != nil {
		b.Unread.Note("list of affected jobs", err.Error(), 1, answer.Place{})
		return nil, c.Ctx.Err()
	}
	if _, warning := running.Source(); warning != "" {
		b.Warnings = append(b.Warnings, warning)
	}
	assumed := 0
	for i := range all {
		for _, o := range all[i].outages {
			if !slices.ContainsFunc(running.Runs, func(r *joblinks.Run) bool { return r.Outage(&o, until) }) {
				continue
			}
			h, err := running.Hit(c.Ctx, problems.Place(all[i].a), o.WasUp, o.Down, o.End(until))
			if err != nil {
				return nil, err
			}
			assumed += prose.When(h.Assumed, 1, 0)
			for _, id := range h.Jobs {
				if !slices.Contains(hit[i], id) {
					hit[i] = append(hit[i], id)
				}
			}
		}
	}
	if assumed > 0 {
		b.Unread.Note("outage", "the tables of that time are not known; those of another time were used",
			assumed, answer.Place{})
	}
	return hit, nil
}
