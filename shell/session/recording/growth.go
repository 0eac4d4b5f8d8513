// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"cmp"
	"context"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recorded"
)

// Growth holds the recorded increases of counters in a period.
type Growth struct {
	Since, Until time.Time
	Fabric       *fabric.Fabric
	// Ports are the ports with an increase, sorted by increase, the largest first.
	Ports []Growing
	// Spans are the parts of the period that were recorded. Read is the set of ports with samples. NotRead is the
	// number of other ports of the fabric.
	Spans   []records.Span
	Read    map[counters.Key]bool
	NotRead int
}

// Growing is a port with increases.
type Growing struct {
	records.Total
	Port fabric.PortIndex // of the live fabric, [fabric.None] if it lacks the port
	// Sum is the sum of the increases, and PerHour their rate. AtLeast is set if the actual increases may be larger.
	Sum     uint64
	PerHour float64
	AtLeast bool
	// First and Last are the times of the first and last increase. They are zero if counters were already at their
	// maximum.
	First, Last time.Time
	// Bins are the increases in each part of the period, in order.
	Bins []int64
	// Use is the utilization of the link in send direction, from 0 to 1, or -1 if unknown. Waits is the increase of
	// XmitWait per second: ticks in which the port had data to send but no credits.
	Use, Waits float64
}

// traffic are the counters needed to compute Use and Waits.
var traffic = counters.Of(counters.XmitData, counters.XmitWait)

// Grown returns the increases of a set of counters in a period. The period is divided into parts of equal length. If
// nothing was recorded, it returns [recorded.ErrNone]. It takes O(samples of the period) time.
func Grown(ctx context.Context, s *session.Session, what counters.Set, since, until time.Time,
	parts int) (*Growth, error) {
	got, err := s.Recorded().Between(ctx, what, since, until)
	if err != nil {
		return nil, err
	}
	store, err := s.Recorded().Store(ctx)
	if err != nil {
		return nil, err
	}
	st := s.State()
	g := &Growth{Since: since, Until: until, Fabric: st.Live.Fabric, Spans: got.Spans, Read: got.Read,
		NotRead: len(recorded.NotRead(st.Live.Fabric, &got))}
	of := map[counters.Key]*Growing{}
	for part := range parts {
		from := since.Add(until.Sub(since) * time.Duration(part) / time.Duration(parts))
		to := since.Add(until.Sub(since) * time.Duration(part+1) / time.Duration(parts))
		totals, err := store.Totals(ctx, s.Subnet(), what, from, to)
		if err != nil {
			return nil, err
		}
		for i := range totals {
			x := of[totals[i].Key]
			if x == nil {
				x = &Growing{
					Total: records.Total{Key: totals[i].Key, Name: totals[i].Name}, Bins: make([]int64, parts), Use: -1,
				}
				of[x.Key] = x
			}
			x.add(part, totals[i].Counts)
		}
	}
	sending, err := store.Totals(ctx, s.Subnet(), traffic, since, until)
	if err != nil {
		return nil, err
	}
	for i := range sending {
		if x := of[sending[i].Key]; x != nil {
			x.send(g.Fabric, sending[i].Counts)
		}
	}
	for _, x := range of {
		x.Port = x.Key.In(g.Fabric)
		for _, n := range x.Counts {
			x.PerHour += 3600 * n.PerSecond()
		}
		g.Ports = append(g.Ports, *x)
	}
	slices.SortStableFunc(g.Ports, func(a, b Growing) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), a.Key.Compare(b.Key))
	})
	return g, nil
}

// add adds the increases in a part of the period.
func (x *Growing) add(part int, counts []records.Count) {
	for _, n := range counts {
		x.Bins[part] += int64(n.Increase)
		x.Sum += n.Increase
		x.AtLeast = x.AtLeast || n.AtLeast
		if n.Increase > 0 && x.First.IsZero() {
			x.First = n.First
		}
		if n.Last.After(x.Last) {
			x.Last = n.Last
		}
		at := slices.IndexFunc(x.Counts, func(c records.Count) bool { return c.Counter == n.Counter })
		if at < 0 {
			x.Counts = append(x.Counts, n)
			continue
		}
		sum := &x.Counts[at]
		sum.Increase += n.Increase
		sum.Seconds += n.Seconds
		sum.AtLeast = sum.AtLeast || n.AtLeast
		sum.Last = n.Last
	}
}

// send sets Use and Waits from the recorded increases of XmitData and XmitWait.
func (x *Growing) send(f *fabric.Fabric, counts []records.Count) {
	for _, n := range counts {
		switch n.Counter {
		case counters.XmitWait:
			x.Waits = n.PerSecond()
		case counters.XmitData:
			if p := x.Key.In(f); p != fabric.None && f.Ports[p].DataRate() > 0 {
				x.Use = 4 * n.PerSecond() / f.Ports[p].DataRate()
			}
		}
	}
}
