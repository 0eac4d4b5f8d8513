// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/report"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/survey"
)

// gatherer collects the data of a morning report: a report on the changes since a time, such as the evening before.
type gatherer struct{ *feature.Call }

// gather collects the data of a morning report on the time from since to until.
func (c gatherer) gather(since, until time.Time) (*report.Morning, error) {
	m := &report.Morning{
		Subnet: fabric.Escape(c.Session.Subnet()), Since: since, Until: until,
		New: []report.MorningProblem{}, Open: []report.MorningProblem{}, Gone: []report.MorningProblem{},
		Reroutes: []report.MorningEvent{}, Commits: []report.MorningEvent{},
		Flaps: []report.MorningFlap{}, Others: []report.MorningEvent{}, Worse: []report.MorningPort{},
		Load: []report.MorningLoad{}, Hours: []report.MorningHour{},
	}
	line, err := c.Session.Timeline(c.Ctx, since, until)
	if err != nil {
		return nil, err
	}
	if line.Unread != nil {
		m.Unread = line.Unread.Error()
	}
	morningEvents(m, line)
	if line.Why != nil && len(line.Moments) == 0 {
		m.Unknown = append(m.Unknown, fmt.Sprintf("events: %v", line.Why))
		m.Reroutes, m.Commits, m.Flaps, m.Others = nil, nil, nil, nil
	}
	if err := errors.Join(c.outages(m), c.morningProblems(m, line), c.morningMoved(m, line)); err != nil {
		return nil, err
	}
	err = c.morningCounters(m)
	if errors.Is(err, recorded.ErrNone) {
		m.Unknown = append(m.Unknown, fmt.Sprintf("counters: %v", err))
		m.Worse, m.Load, err = nil, nil, nil
	}
	return m, err
}

// morningEvents sorts the events into the lists of the report, by subject.
func morningEvents(m *report.Morning, line *session.Timeline) {
	type place struct {
		guid uint64
		port int
	}
	flaps := map[place]*report.MorningFlap{}
	var order []place
	for i := range line.Moments {
		x := &line.Moments[i]
		e := report.MorningEvent{When: x.When, Text: x.Text, Who: x.Who, Before: x.Before, After: x.After}
		switch x.What {
		case history.WhatTables:
			m.Reroutes = append(m.Reroutes, e)
		case history.WhatCommit:
			m.Commits = append(m.Commits, e)
		default:
			m.Others = append(m.Others, e)
		}
		if x.What != history.WhatLink || x.Planned != "" {
			continue
		}
		at := place{x.GUID, x.Port}
		if flaps[at] == nil {
			flaps[at] = &report.MorningFlap{Link: x.Text, First: x.When}
			order = append(order, at)
		}
		flaps[at].Events++
		flaps[at].Last = x.When
	}
	for _, at := range order {
		if flaps[at].Events > 1 {
			m.Flaps = append(m.Flaps, *flaps[at])
		}
	}
}

// morningProblems compares the problems at the beginning of the time span with those at its end.
func (c gatherer) morningProblems(m *report.Morning, line *session.Timeline) error {
	if line.Before == nil {
		m.Unknown = append(m.Unknown, fmt.Sprintf("new and solved problems: %v", line.Why))
		m.New, m.Open, m.Gone, m.Down = nil, nil, nil, -1
		return nil
	}
	st := c.Session.State()
	before, err := st.Of(session.EntryKind(line.Before.Entry))
	if err != nil {
		return err
	}
	after := st.Live
	if line.After != nil {
		if after, err = st.Of(session.EntryKind(line.After.Entry)); err != nil {
			return err
		}
	}
	if line.Before.Began.After(m.Since) {
		m.Unknown = append(m.Unknown, fmt.Sprintf("the subnet before %s: it was not read",
			when.Text(line.Before.Began)))
	}
	type known struct {
		kind problems.Kind
		at   problems.Place
		what string
	}
	keys := func(r *problems.Report) map[known]bool {
		out := map[known]bool{}
		r.Problems = slices.DeleteFunc(r.Problems, func(p problems.Problem) bool { return p.Severity == problems.Note })
		for _, p := range r.Problems {
			out[known{p.Kind, p.At, p.What}] = true
		}
		return out
	}
	was, is := survey.Shown(&st, before, c.Session.Analysis()), survey.Shown(&st, after, c.Session.Analysis())
	for _, u := range is.Unchecked {
		m.Unknown = append(m.Unknown, fmt.Sprintf("%s at the end: %s", u.What, u.Why))
	}
	m.Down = -1
	if after == st.Live {
		m.Down = st.Down()
	} else if after.Entry != nil && after.Entry.Seen != nil {
		m.Down = after.Entry.Seen.Lost.Links()
	}
	had, has := keys(was), keys(is)
	add := func(list *[]report.MorningProblem, p *problems.Problem) {
		*list = append(*list, report.MorningProblem{Severity: p.Severity.String(), Kind: string(p.Kind),
			Where: p.At.Name, What: p.What, Try: p.Try, Since: p.Since})
	}
	for _, p := range c.missing(&st, before, after) {
		add(&m.New, &p)
	}
	for _, p := range is.Problems {
		if had[known{p.Kind, p.At, p.What}] {
			m.Still++
			if p.Severity == problems.Error {
				add(&m.Open, &p)
			}
		} else {
			add(&m.New, &p)
		}
	}
	for _, p := range was.Problems {
		if !has[known{p.Kind, p.At, p.What}] {
			add(&m.Gone, &p)
		}
	}
	return nil
}

// missing returns the problems of nodes and links that the earlier state has and the later state does not have. It
// omits nodes and links that are already known as lost.
func (c gatherer) missing(st *session.State, before, after *session.Picture) []problems.Problem {
	r := survey.Missing(after, before)
	r.DropLost(0, st.LostIn(after))
	return r.Problems
}

// morningMoved counts the paths that the latest reroutes changed: by each reroute, and by all of them together.
func (c gatherer) morningMoved(m *report.Morning, line *session.Timeline) error {
	moved := func(from, to session.Kind) *report.MorningMoved {
		r, err := comparison.Diff(c.Ctx, c.Session, from, to, 1)
		if err != nil {
			m.Unknown = append(m.Unknown, fmt.Sprintf("paths changed from entry %s to %s: %v", from, to, err))
			return nil
		}
		p := &r.Pairs
		return &report.MorningMoved{Pairs: p.Total, Changed: p.Changed, Lost: p.Lost, Connected: p.Connected,
			Entries: r.Entries.Changed}
	}
	entry := func(id int64) session.Kind { return session.Kind(strconv.FormatInt(id, 10)) }
	if len(m.Reroutes) > 0 && line.Before != nil && line.After != nil {
		m.Moved = moved(session.EntryKind(line.Before.Entry), session.EntryKind(line.After.Entry))
	}
	f := c.Session.State().Live.Fabric
	skipped := max(0, len(m.Reroutes)-max(1, min(mostCompared, entriesCompared/max(1, len(f.Switches)*int(f.MaxLID)))))
	for i := range m.Reroutes[skipped:] {
		if e := &m.Reroutes[skipped+i]; e.Before != 0 && e.After != 0 && e.Before != e.After {
			e.Moved = moved(entry(e.Before), entry(e.After))
		}
	}
	if skipped > 0 {
		m.Unknown = append(m.Unknown,
			fmt.Sprintf("paths changed by each of the first %d of %d reroutes; hint: 'diff A B' shows them", skipped,
				len(m.Reroutes)))
	}
	return c.Ctx.Err()
}

// Limits of a morning report.
const (
	mostMorning = 20 // rows of a list
	// At most mostCompared reroutes are compared one by one, and only up to entriesCompared table entries in total.
	mostCompared    = 12
	entriesCompared = 200_000_000
	changedLoad     = 0.05 // the least change of a listed link, as part of its rate
)

// morningCounters compares the recorded counters with those of the preceding time span of the same length.
func (c gatherer) morningCounters(m *report.Morning) error {
	errs, sent := counters.Faults, counters.Of(counters.XmitData)
	now, err := c.Session.Recorded().Between(c.Ctx, errs, m.Since, m.Until)
	if err != nil {
		return err
	}
	if gaps := feature.NotRecorded(&now); gaps != "" {
		m.Unknown = append(m.Unknown, "counters: "+gaps)
	}
	st := c.Session.State()
	if n := len(recorded.NotRead(st.Live.Fabric, &now)); n > 0 {
		m.Unknown = append(m.Unknown, "counters of "+prose.Count(n, "port")+": not read")
	}
	earlier := m.Since.Add(m.Since.Sub(m.Until))
	f := st.Live.Fabric
	recorded := func(what counters.Set, from, to time.Time) *records.Recorded {
		r := records.Recorded{}
		if err == nil {
			if r, err = c.Session.Recorded().Between(c.Ctx, what, from, to); errors.Is(err, recorded.ErrNone) {
				err = nil
			}
		}
		return &r
	}
	was, before := recorded(errs, earlier, m.Since), map[counters.Key]float64{}
	if was.Spans == nil {
		m.Unknown = append(m.Unknown, "ports that got worse: nothing was recorded in the equally long time before; "+
			"all ports with errors are listed")
	}
	for _, x := range was.Totals {
		before[x.Key] = feature.PortGrowthOf(f, &x).PerHour
	}
	for _, x := range now.Totals {
		if r := feature.PortGrowthOf(f, &x); r.PerHour > 2*before[x.Key] && r.Sum > 0 {
			p := report.MorningPort{Port: r.Name, To: r.To(f), Counted: r.Text, PerHour: r.PerHour, Since: r.First}
			if rate := before[x.Key]; was.Read[x.Key] {
				p.Before = &rate
			}
			m.Worse = append(m.Worse, p)
		}
	}
	slices.SortStableFunc(m.Worse, func(a, b report.MorningPort) int { return cmp.Compare(b.PerHour, a.PerHour) })
	m.Worse = m.Worse[:min(len(m.Worse), mostMorning)]
	morningLoad(m, f, recorded(sent, earlier, m.Since), recorded(sent, m.Since, m.Until))
	step := max(time.Hour, m.Until.Sub(m.Since)/24).Round(time.Minute)
	for from := m.Since; from.Before(m.Until) && err == nil; from = from.Add(step) {
		h := report.MorningHour{From: from}
		to := from.Add(step)
		if to.After(m.Until) {
			to = m.Until
		}
		h.Errors, h.Bytes = sumOf(recorded(errs, from, to), 1), sumOf(recorded(sent, from, to), 4)
		m.Hours = append(m.Hours, h)
	}
	return err
}

// sumOf returns the sum of the increases of all counters, multiplied by the argument unit. It returns nil if nothing
// was recorded.
func sumOf(r *records.Recorded, unit uint64) *uint64 {
	if r.Spans == nil {
		return nil
	}
	sum := uint64(0)
	for _, x := range r.Totals {
		for _, n := range x.Counts {
			sum += unit * n.Increase
		}
	}
	return &sum
}

// morningLoad lists the links whose traffic changed. It considers only links that were read both earlier and now.
func morningLoad(m *report.Morning, f *fabric.Fabric, before, now *records.Recorded) {
	if before.Spans == nil || now.Spans == nil {
		m.Unknown = append(m.Unknown, "changed traffic: no traffic was recorded "+
			prose.When(now.Spans == nil, "in this time", "in the equally long time before"))
		m.Load = nil
		return
	}
	rates := map[counters.Key][2]float64{}
	for i, list := range [2][]records.Total{before.Totals, now.Totals} {
		for _, x := range list {
			r := rates[x.Key]
			r[i] = 4 * x.Counts[0].PerSecond()
			rates[x.Key] = r
		}
	}
	for k, r := range rates {
		if !before.Read[k] || !now.Read[k] {
			continue
		}
		port := k.In(f)
		if port == fabric.None || max(r[0]-r[1], r[1]-r[0])*8 < changedLoad*f.Ports[port].Gbps()*1e9 {
			continue
		}
		to := ""
		if peer := f.Ports[port].Peer; peer != fabric.None {
			to = f.PortName(peer)
		}
		m.Load = append(m.Load, report.MorningLoad{Port: f.PortName(port), To: to, Now: r[1] / 1e9, Before: r[0] / 1e9})
	}
	far := func(x *report.MorningLoad) float64 { return max(x.Now-x.Before, x.Before-x.Now) }
	slices.SortStableFunc(m.Load, func(a, b report.MorningLoad) int {
		return cmp.Or(cmp.Compare(far(&b), far(&a)), cmp.Compare(a.Port, b.Port))
	})
	m.Load = m.Load[:min(len(m.Load), mostMorning)]
}
