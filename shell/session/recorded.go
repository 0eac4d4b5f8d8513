// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
)

// NotRecordedError is the error of [Session.Recorded] for a time of which nothing was recorded. It is an [ErrNoRecords].
type NotRecordedError struct {
	Since, Until time.Time
	// From and To are from when to when the subnet was recorded, zero where it never was.
	From, To time.Time
}

func (e *NotRecordedError) Error() string {
	if e.From.IsZero() {
		return "nothing was recorded of this subnet (record start)"
	}
	text := func(t time.Time) string { return t.Local().Format(time.DateTime) }
	return fmt.Sprintf("nothing was recorded from %s to %s; this subnet was recorded from %s to %s", text(e.Since), text(e.Until), text(e.From), text(e.To))
}

// Is reports whether the error is an [ErrNoRecords].
func (e *NotRecordedError) Is(target error) bool { return target == ErrNoRecords } //nolint:errorlint // a sentinel

// Recorded returns what was recorded of some counters from since to until. The error is [ErrNoRecords] where nothing was.
func (s *Session) Recorded(ctx context.Context, what counters.Set, since, until time.Time) (records.Recorded, error) {
	store, err := s.Records(ctx)
	if err != nil {
		return records.Recorded{}, err
	}
	r, err := store.Recorded(ctx, s.Subnet(), what, since, until)
	if err != nil || r.Spans != nil {
		return r, err
	}
	e := &NotRecordedError{Since: since, Until: until}
	from, to, found, err := store.Span(ctx, s.Subnet())
	if err != nil {
		return r, err
	}
	if found {
		e.From, e.To = from, to
	}
	return r, e
}

// NotRead returns the ports of the live fabric of which a time has no samples, though some of other ports.
func (st *State) NotRead(r *records.Recorded) []fabric.PortIndex {
	var ports []fabric.PortIndex
	for _, p := range counters.AllPorts(st.Live.Fabric) {
		if !r.Read[counters.KeyOf(st.Live.Fabric, p)] {
			ports = append(ports, p)
		}
	}
	return ports
}

// lately is how far back problems and the causes of events look into what was recorded.
const lately = time.Hour

// latelyHolds is how long an answer of [Session.RecordedLately] is given again.
const latelyHolds = 5 * time.Second

// RecordedLately returns what was recorded of errors in the last hour, by this session or by another process of the
// machine, nil where nothing was or it cannot be read.
func (s *Session) RecordedLately(ctx context.Context) *records.Recorded {
	now := time.Now()
	s.recorded.mu.Lock()
	had, of := s.recorded.lately, s.recorded.latelyOf
	s.recorded.mu.Unlock()
	if subnet := s.Subnet(); had != nil && of == subnet && now.Sub(had.Until) < latelyHolds {
		return had
	}
	r, err := s.Recorded(ctx, counters.Errors, now.Add(-lately), now)
	if err != nil {
		return nil
	}
	s.recorded.mu.Lock()
	s.recorded.lately, s.recorded.latelyOf = &r, s.Subnet()
	s.recorded.mu.Unlock()
	return &r
}

// deltasOf returns what ports of a fabric counted by records.
func deltasOf(f *fabric.Fabric, r *records.Recorded) []counters.Delta {
	var deltas []counters.Delta
	for i := range r.Totals {
		x := &r.Totals[i]
		d := counters.Delta{Port: x.Key.In(f)}
		if d.Port == fabric.None {
			continue
		}
		for _, n := range x.Counts {
			d.Increase[n.Counter] = n.Increase
			d.Has |= counters.Of(n.Counter)
			d.Seconds = max(d.Seconds, n.Seconds)
		}
		deltas = append(deltas, d)
	}
	return deltas
}
