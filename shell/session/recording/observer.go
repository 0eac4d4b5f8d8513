// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/limits"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/survey"
)

// The faults of the recorder itself that raise alerts.
var (
	NoSweep    = problems.AlertKind("no sweep")
	NoCounters = problems.AlertKind("no counters")
	NotWritten = problems.AlertKind("record not written")
)

// A recorder is blind after missed intervals without a sweep or a reading, but not before shortestBlind.
const (
	missed        = 3
	shortestBlind = 30 * time.Second
)

// observer stores the outages and problems that each round of a recording finds, and raises alerts.
type observer struct {
	session *session.Session
	links   linkObserver
	alerts  *limits.Tracker // nil before the first round
	every   time.Duration   // between two readings
	read    time.Time       // when counters were last read
	last    time.Time       // when it last observed, zero before
	failed  error           // why the results of the last round were not stored
	hosts   func(context.Context) ([]records.HostSet, error)
	unread  string // why sets of hosts could not be read in the last round
}

// observe stores the outages, the problems and the alerts after a round.
func (o *observer) observe(ctx context.Context, store *records.Store, now time.Time, round *Outcome) error {
	step := clockStep(o.last, now)
	if max(step, -step) >= time.Second {
		o.session.Publish(session.ChangeLive, func(st *session.State) {
			st.Note("record: the clock was set %s by %v; earlier events have the time of the old clock",
				prose.When(step > 0, "forward", "back"), max(step, -step).Round(time.Second))
		})
	}
	failed := errors.Join(store.SetClock(ctx, o.session.Subnet(), now, step),
		o.links.observe(ctx, store, now), o.observeSets(ctx, store, now))
	o.last = now
	lately, err := store.Recorded(ctx, o.session.Subnet(), counters.Errors, now.Add(-recorded.Lately), now)
	if err != nil {
		return errors.Join(failed, err)
	}
	active, err := o.updateAlerts(ctx, store, now, round, &lately)
	if err != nil {
		return errors.Join(failed, err)
	}
	found, err := survey.Problems(ctx, o.session, survey.Options{Unfiltered: true, Recorded: &lately})
	if err != nil {
		return errors.Join(failed, err)
	}
	found.DropRising(active)
	all := slices.DeleteFunc(found.Problems, func(p problems.Problem) bool { return p.Kind.IsAlert() })
	_, _, err = store.Observe(ctx, o.session.Subnet(), now, append(all, active...), func(p *problems.Problem) bool {
		// Errors of a port that was not read may rise further.
		return p.Kind != problems.Rising || lately.Read[counters.Key{GUID: p.At.GUID, Num: uint8(p.At.Port)}]
	})
	o.failed = errors.Join(failed, err)
	return o.failed
}

// observeSets stores the sets of hosts. If they cannot be read, the last ones stay as they were last seen.
func (o *observer) observeSets(ctx context.Context, store *records.Store, now time.Time) error {
	var all []records.HostSet
	if o.hosts != nil {
		var err error
		all, err = o.hosts(ctx)
		was := o.unread
		if o.unread = ""; err != nil {
			if o.unread = err.Error(); o.unread != was {
				o.session.Publish(session.ChangeLive, func(st *session.State) { st.Note("record: %v", err) })
			}
			return nil
		}
	}
	st := o.session.State()
	for i := range st.Sets {
		x := records.HostSet{Name: st.Sets[i].Name, Hosts: st.Sets[i].List()}
		if !slices.ContainsFunc(all, func(h records.HostSet) bool { return h.Name == x.Name }) {
			all = append(all, x)
		}
	}
	return store.ObserveSets(ctx, o.session.Subnet(), now, all)
}

// updateAlerts adds events for the alerts that a round starts and ends. It returns the active alerts.
func (o *observer) updateAlerts(ctx context.Context, store *records.Store, now time.Time, round *Outcome,
	lately *records.Recorded) ([]problems.Problem, error) {
	if o.alerts == nil {
		open, _, err := store.Problems(ctx, o.session.Subnet(), now, now)
		if err != nil {
			return nil, err
		}
		var alerts []limits.Open
		for _, e := range open {
			if e.Closed.IsZero() && e.Kind.IsAlert() {
				alerts = append(alerts, limits.Open{Problem: e.Problem, Seen: e.Seen})
			}
		}
		o.alerts = limits.NewTracker(o.session.Options().AlertRules(), alerts)
	}
	figures, err := figuresOf(ctx, store, o.session.Subnet(), o.alerts.Rules(), o.every, round, lately)
	if err != nil {
		return nil, err
	}
	st := o.session.State()
	f := st.Live.Fabric
	if round.Reading != nil {
		f = round.Reading.Fabric
	}
	started, ended := o.alerts.Update(now, f, figures, o.conditions(&st, now, round))
	for _, a := range ended {
		o.publish(now, describeAlert(a, "ended"), a)
	}
	running := sync.OnceValues(func() (*joblinks.Jobs, error) { // sacct runs once per round
		return joblinks.List(ctx, o.session, now.Add(-usedWithin), now)
	})
	for _, a := range started {
		x := describeAlert(a, "started")
		o.findHit(ctx, x, a, now, running)
		o.publish(now, x, a)
	}
	var all []problems.Problem
	for _, a := range o.alerts.Active() {
		all = append(all, a.Problem)
	}
	return all, ctx.Err()
}

// figuresOf returns the increases in the period of each rule, up to the end of lately. If the period is not longer than
// the interval between readings, it returns the rates of the last round.
func figuresOf(ctx context.Context, store *records.Store, subnet string, rules []limits.Rule, every time.Duration,
	round *Outcome, lately *records.Recorded) ([]limits.Figures, error) {
	var all []limits.Figures
	recent := map[time.Duration]*records.Recorded{recorded.Lately: lately}
	for _, r := range rules {
		x := limits.Figures{Of: map[counters.Key]float64{}, Read: map[counters.Key]bool{}}
		if r.Period <= every {
			for i := range round.Grown {
				d := &round.Grown[i]
				if k := counters.KeyOf(round.Reading.Fabric, d.Port); d.Has.Has(r.Counter) && d.Seconds > 0 {
					x.Read[k] = true
					x.Of[k] = float64(d.Increase[r.Counter]) * r.Period.Seconds() / d.Seconds
				}
			}
			all = append(all, x)
			continue
		}
		got := recent[r.Period]
		if got == nil {
			read, err := store.Recorded(ctx, subnet, counters.Errors, lately.Until.Add(-r.Period), lately.Until)
			if err != nil {
				return nil, err
			}
			got = &read
			recent[r.Period] = got
		}
		if round.Reading != nil { // without a reading it is unknown whether the counter still increases
			x.Read = got.Read
		}
		for i := range got.Totals {
			for _, n := range got.Totals[i].Counts {
				if n.Counter == r.Counter {
					x.Of[got.Totals[i].Key] = float64(n.Increase) * min(1, r.Period.Seconds()/max(1, n.Seconds))
				}
			}
		}
		all = append(all, x)
	}
	return all, nil
}

// conditions returns the faults of the recorder itself: that it does not sweep, read counters, or store them.
func (o *observer) conditions(st *session.State, now time.Time, round *Outcome) []limits.Condition {
	if round.Reading != nil && len(round.Reading.Ports) > 0 {
		o.read = now
	}
	late := func(since time.Time, every time.Duration) bool {
		return every > 0 && now.Sub(since) > max(missed*every, shortestBlind)
	}
	because := func(why string) string { return prose.When(why == "", "", ": "+why) }
	text := func(err error) string {
		if err == nil {
			return ""
		}
		return fabric.Escape(oneLine(err))
	}
	unwritten := errors.Join(round.KeepFailed, o.failed)
	return []limits.Condition{
		{Kind: NoSweep, Bad: late(st.Live.When, st.Every), What: "the recorder has not swept the subnet since " +
			when.Text(st.Live.When) + because(cmp.Or(st.Lost, st.WatchFailed))},
		{Kind: NoCounters, Bad: late(o.read, o.every), What: "the recorder has read no counters since " +
			when.Text(o.read) + because(text(round.ReadFailed))},
		{Kind: NotWritten, Bad: unwritten != nil, What: "the recorder cannot store what it reads" +
			because(text(unwritten))},
	}
}

// oneLine returns joined errors as one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// describeAlert returns the detail of the event of an alert.
func describeAlert(a *limits.Alert, state string) *session.Alert {
	x := &session.Alert{ID: a.ID(), State: state, Severity: a.Severity.String(), Kind: a.Kind, What: a.What,
		Since: a.Since}
	if r := a.Rule; r != nil {
		x.Counter, x.Limit, x.Seconds, x.Value, x.Source = r.Counter.String(), &r.Limit, r.Period.Seconds(), a.Value,
			r.Source
		x.At = &a.At
	}
	if a.Peer.GUID != 0 {
		peer := problems.Place(a.Peer)
		x.Peer = &peer
	}
	return x
}

// usedWithin is the time before an alert in which pairs and jobs used the link.
const usedWithin = 5 * time.Minute

// findHit adds the pairs and jobs that use the link or node of an alert. The function running lists the jobs that ran
// within the time [usedWithin] before now.
func (o *observer) findHit(ctx context.Context, x *session.Alert, a *limits.Alert, now time.Time,
	running func() (*joblinks.Jobs, error)) {
	if x.At == nil {
		x.JobsUnknown = "the alert is about the recorder"
		return
	}
	since := now.Add(-usedWithin)
	all, err := running()
	if n, known, err := all.Pairs(ctx, a.At, since, now); err == nil && known {
		x.Pairs = &n
	}
	if err != nil {
		x.JobsUnknown = err.Error()
		return
	}
	found, err := all.On(ctx, a.At, since, now)
	if err != nil {
		x.JobsUnknown = err.Error()
		return
	}
	x.Jobs = []string{}
	for i := range found.Uses {
		x.Jobs = append(x.Jobs, found.Uses[i].ID)
	}
}

// mostJobs is the number of jobs that the text of an event lists.
const mostJobs = 5

// publish adds the event of an alert.
func (o *observer) publish(now time.Time, x *session.Alert, a *limits.Alert) {
	text := fmt.Sprintf("alert %s: %s", x.State, x.What)
	if x.Pairs != nil {
		text += "; used by " + prose.Count(*x.Pairs, "pair")
	}
	if len(x.Jobs) > 0 {
		text += ", jobs " + fabric.Escape(prose.List(x.Jobs, mostJobs))
	}
	o.session.Publish(session.ChangeLive, func(st *session.State) {
		st.Add(session.Event{When: now, What: history.WhatAlert, Text: text, GUID: a.At.GUID, Port: max(a.At.Port, 0),
			Alert: x})
	})
}
