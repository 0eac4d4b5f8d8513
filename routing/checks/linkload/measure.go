// SPDX-License-Identifier: Apache-2.0

package linkload

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
)

// Measured is the effect of a pattern of communication on the links.
type Measured struct {
	Loads
	// Worst is the maximum number of paths over one direction of any link.
	Worst int64
	// Share is the mean over the paths of 1/c, where c is the maximum number of paths over any link of the path. It is
	// 0 if the pattern has no paths.
	Share float64
}

// Measure counts the paths of the pairs. A pair that occurs twice counts twice. O(ports + pairs x hops).
func Measure(ctx context.Context, t *fabric.Tables, pairs []Pair) (*Measured, error) {
	w := newWalker(t, walk.NewWires(t))
	m := &Measured{Loads: Loads{Fabric: t.Fabric, Destinations: make([]int32, len(t.Fabric.Ports))}}
	if err := w.run(ctx, pairs); err != nil {
		return nil, fmt.Errorf("count the paths of %d pairs of %s: %w", len(pairs), t.Origin, err)
	}
	m.Worst, m.Share = w.measure()
	m.Delivered, m.Lost, m.Unknown = int64(len(w.ends)), w.lost, w.unknown
	m.Paths = slices.Clone(w.paths)
	m.note(t, w.open)
	w.destinations(pairs, m.Destinations)
	return m, nil
}

// PairsOn returns the first pairs whose paths leave by a port and arrive. The argument most is the maximum number of
// pairs. O(pairs x hops).
func PairsOn(t *fabric.Tables, pairs []Pair, port fabric.PortIndex, most int) []Pair {
	w := newWalker(t, walk.NewWires(t))
	var on []Pair
	for _, p := range pairs {
		if len(on) == most {
			break
		}
		w.ports = w.ports[:0]
		if w.follow(p) == walk.Reaches && slices.Contains(w.ports, port) {
			on = append(on, p)
		}
	}
	return on
}

// Over counts the pairs of a source and a destination whose paths arrive and leave by one of some ports. There is one
// pair for each LID of the destination, as in [Among]. It returns the error of ctx if ctx ends first. O(pairs x hops).
func Over(ctx context.Context, t *fabric.Tables, from, to []fabric.PortIndex,
	ports map[fabric.PortIndex]bool) (int64, error) {
	w := newWalker(t, walk.NewWires(t))
	f, n := t.Fabric, int64(0)
	for _, src := range from {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		for _, dst := range to {
			for k := range uint16(1) << f.Ports[dst].LMC {
				w.ports = w.ports[:0]
				if w.follow(Pair{Src: src, Dst: dst, LID: f.Ports[dst].LID + k}) == walk.Reaches &&
					slices.ContainsFunc(w.ports, func(p fabric.PortIndex) bool { return ports[p] }) {
					n++
				}
			}
		}
	}
	return n, nil
}

// Shifted is the result of shifts.
type Shifted struct {
	Hosts int
	// Shifts is the number of shifts that were measured.
	Shifts int
	// Worst is the shift figure: the maximum number of paths over a link in any shift. WorstBy is the first shift with
	// this maximum.
	Worst   int64
	WorstBy int
	// Mean is the mean over the shifts of the maximum number of paths over a link. Free counts the shifts without
	// contention.
	Mean float64
	Free int
	// Lost counts the paths of all shifts that do not arrive. Unknown counts the paths that use an unread table.
	Lost    int64
	Unknown int64
}

// Shifts measures n of the shifts of hosts by 1 to len(hosts)-1, evenly spaced. If n is 0 or exceeds the number of
// shifts, it measures all shifts. Hosts may have gaps, as for [Shift]. O(n x hosts x hops) on all processors.
func Shifts(ctx context.Context, t *fabric.Tables, hosts []fabric.PortIndex, n int,
	progress func(done, total int)) (*Shifted, error) {
	return newTrials(t).shifts(ctx, hosts, n, progress)
}

func (ts *trials) shifts(ctx context.Context, hosts []fabric.PortIndex, n int,
	progress func(done, total int)) (*Shifted, error) {
	all := max(0, len(hosts)-1)
	if n <= 0 || n > all {
		n = all
	}
	by := func(i int) int { return 1 + i*all/n }
	tried, err := ts.try(ctx, n, progress, func(i int) []Pair { return Shift(hosts, by(i)) })
	if err != nil {
		return nil, fmt.Errorf("shift %d hosts of %s: %w", len(hosts), ts.t.Origin, err)
	}
	s := &Shifted{Shifts: n}
	for _, h := range hosts {
		if h != fabric.None {
			s.Hosts++
		}
	}
	for i, r := range tried {
		if r.worst > s.Worst {
			s.Worst, s.WorstBy = r.worst, by(i)
		}
		if r.worst <= 1 {
			s.Free++
		}
		s.Mean += float64(r.worst)
		s.Lost += r.lost
		s.Unknown += r.unknown
	}
	s.Mean /= float64(max(1, n))
	return s, nil
}

// Bisected is the result of random bisections.
type Bisected struct {
	Hosts      int
	Bisections int
	Seed       uint64
	// Mean is the effective bisection bandwidth as a fraction of the full bisection bandwidth. Min, Max and StdDev are
	// the minimum, maximum and standard deviation of the means of single bisections.
	Mean   float64
	Min    float64
	Max    float64
	StdDev float64
	// Worst is the maximum number of paths over a link in any of the bisections.
	Worst int64
	// Lost counts the paths that do not arrive. Unknown counts the paths that use an unread table. The means do not
	// include these paths.
	Lost    int64
	Unknown int64
}

// Bisections measures n random bisections. With the same seed, the figures do not depend on the number of processors.
// O(n x hosts x hops) on all processors.
func Bisections(ctx context.Context, t *fabric.Tables, hosts []fabric.PortIndex, n int, seed uint64,
	progress func(done, total int)) (*Bisected, error) {
	return newTrials(t).bisections(ctx, hosts, n, seed, progress)
}

func (ts *trials) bisections(ctx context.Context, hosts []fabric.PortIndex, n int, seed uint64,
	progress func(done, total int)) (*Bisected, error) {
	tried, err := ts.try(ctx, n, progress, func(i int) []Pair {
		return Bisection(hosts, rand.New(rand.NewPCG(seed, uint64(i))))
	})
	if err != nil {
		return nil, fmt.Errorf("bisect %d hosts of %s: %w", len(hosts), ts.t.Origin, err)
	}
	b := &Bisected{Hosts: len(hosts), Bisections: n, Seed: seed}
	if n == 0 {
		return b, nil
	}
	b.Min = math.Inf(1)
	squares := 0.0
	for _, r := range tried {
		b.Mean += r.share
		squares += r.share * r.share
		b.Min, b.Max = min(b.Min, r.share), max(b.Max, r.share)
		b.Worst = max(b.Worst, r.worst)
		b.Lost += r.lost
		b.Unknown += r.unknown
	}
	b.Mean /= float64(n)
	b.StdDev = math.Sqrt(max(0, squares/float64(n)-b.Mean*b.Mean))
	return b, nil
}

// trial is the result of one pattern.
type trial struct {
	worst         int64
	share         float64
	lost, unknown int64
}

// trials measures many patterns on the same tables. Each goroutine has its own walker.
type trials struct {
	t       *fabric.Tables
	wires   walk.Wires
	walkers []*walker
}

func newTrials(t *fabric.Tables) *trials {
	return &trials{t: t, wires: walk.NewWires(t), walkers: make([]*walker, routing.Workers())}
}

// try measures n patterns.
func (ts *trials) try(ctx context.Context, n int, progress func(done, total int), pattern func(i int) []Pair) ([]trial,
	error) {
	tried := make([]trial, n)
	err := routing.ForEach(ctx, n, progress, func(worker, i int) {
		if ts.walkers[worker] == nil {
			ts.walkers[worker] = newWalker(ts.t, ts.wires)
		}
		w := ts.walkers[worker]
		if w.run(ctx, pattern(i)) != nil {
			return // ForEach stops for the same reason
		}
		tried[i].worst, tried[i].share = w.measure()
		tried[i].lost, tried[i].unknown = w.lost, w.unknown
	})
	return tried, err
}

// Quick holds the shift figure and the bisection bandwidth for as many patterns as can be measured quickly. Both are
// nil if the fabric has fewer than two hosts.
type Quick struct {
	Shifts     *Shifted
	Bisections *Bisected
}

const (
	// quickPaths is the number of paths that Estimate follows for each of the two measures.
	quickPaths = 500_000
	// SomeBisections is the default number of bisections.
	SomeBisections = 100
)

// Estimate measures some shifts and random bisections of hosts. The order of hosts may have gaps, as for [Shift].
func Estimate(ctx context.Context, t *fabric.Tables, hosts []fabric.PortIndex, seed uint64,
	progress func(done, total int)) (q Quick, err error) {
	there := WithoutGaps(hosts)
	if len(there) < 2 {
		return q, nil
	}
	ts := newTrials(t)
	if q.Shifts, err = ts.shifts(ctx, hosts, quickPaths/len(hosts)+1, progress); err != nil {
		return q, err
	}
	q.Bisections, err = ts.bisections(ctx, there, min(SomeBisections, 2*quickPaths/len(hosts)+1), seed, progress)
	return q, err
}

// WithoutGaps returns the hosts without the gaps, which are [fabric.None].
func WithoutGaps(hosts []fabric.PortIndex) []fabric.PortIndex {
	return slices.DeleteFunc(slices.Clone(hosts), func(h fabric.PortIndex) bool { return h == fabric.None })
}
