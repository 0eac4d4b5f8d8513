// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/shell/session"
)

// Recent holds the errors and the utilization of ports in the hour before a time. It is immutable.
type Recent struct {
	errors map[counters.Key]uint64
	use    map[counters.Key]float64
	read   map[counters.Key]bool
}

// recentCounters are the counters from which [Recent] is computed. XmitWait does not count as an error.
var recentCounters = counters.Errors&^counters.Of(counters.XmitWait) | counters.Of(counters.XmitData)

// NewRecent returns the errors and the utilization of ports from recorded increases. It returns nil if g is nil.
func NewRecent(g *Growth) *Recent {
	if g == nil {
		return nil
	}
	r := &Recent{errors: map[counters.Key]uint64{}, use: map[counters.Key]float64{}, read: g.Read}
	for i := range g.Ports {
		p := &g.Ports[i]
		r.use[p.Key] = p.Use
		for _, n := range p.Counts {
			if n.Counter != counters.XmitData {
				r.errors[p.Key] += n.Increase
			}
		}
	}
	return r
}

// Errors returns the errors that a port counted; ok is false if the port was not read.
func (r *Recent) Errors(port counters.Key) (n uint64, ok bool) { return r.errors[port], r.read[port] }

// Use returns the utilization of the link of a port in send direction, from 0 to 1. It is negative if unknown.
func (r *Recent) Use(port counters.Key) float64 {
	if use, ok := r.use[port]; ok {
		return use
	}
	return -1
}

// IsRead reports whether a port was read.
func (r *Recent) IsRead(port counters.Key) bool { return r.read[port] }

var recentSlot = session.NewSlot[*Recent]()

// RecentOf returns the last result of [ReadRecent], or nil if nothing was recorded in that hour.
func RecentOf(st *session.State) *Recent { return recentSlot.Of(st) }

// PutRecent puts a result into a state.
func PutRecent(st *session.State, r *Recent) { recentSlot.Put(st, r) }

// ReadRecent reads the records of the hour before a time, and stores the result in the state of the session.
func ReadRecent(ctx context.Context, s *session.Session, until time.Time) error {
	g, err := Grown(ctx, s, recentCounters, until.Add(-time.Hour), until, 1)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.Publish(session.ChangeLive, func(st *session.State) { PutRecent(st, NewRecent(g)) })
	return err
}
