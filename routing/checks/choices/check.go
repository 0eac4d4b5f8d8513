// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
)

// Options controls a check.
type Options struct {
	// Switches includes port 0 of each switch in the end ports.
	Switches bool
	// Examples is the maximum number of listed pairs of each kind of trouble (default 20).
	Examples int
	// Progress, if set, is called from time to time with the number of destinations done, in batches of 64, and their
	// total. It may be called from several goroutines.
	Progress func(done, total int)
}

const defaultExamples = 20

// Counts counts paths by [Reach]. A path here is a source and a LID. Paths is the sum of the four fields that follow
// it.
type Counts struct {
	Paths   int64
	Sure    int64
	Luck    int64
	Never   int64
	Unknown int64
	// Loops counts paths on which packets loop with some choices.
	Loops int64
	// Many counts the pairs of a source and a LID between which packets have more than one path.
	Many int64
}

// Result is the result for all pairs of end ports, as listed by [trees.Ends].
type Result struct {
	Ends            int
	Unassigned      int // ends without a LID, which neither send nor receive
	UnreachableEnds int
	Pairs           int64
	// LostPairs counts pairs with a path that never arrives. LuckPairs counts other pairs with a path that arrives only
	// by luck. UnknownPairs counts other pairs with a path that is unknown.
	LostPairs    int64
	LuckPairs    int64
	UnknownPairs int64
	Counts
	// Fewest and Most count the paths that arrive, indexed by the number of links on their shortest and on their
	// longest path. Paths on which packets can loop count only in Fewest.
	Fewest []int64
	Most   []int64
	// Troubles lists the first paths of each kind other than [Sure], by kind, LID and source. It omits paths that end
	// at once; [trees.Ends.Lost] counts those.
	Troubles []Pair
	// SLsUnread is set if the SLs of paths matter but were not read. Then all packets are assumed to have SL 0.
	SLsUnread bool
}

// Pair is a source and a LID.
type Pair struct {
	Src, Dst fabric.PortIndex
	LID      uint16
	Outcome  Outcome
}

// Check follows the packets of all pairs of end ports by every choice. It returns the error of ctx if ctx ends first.
// In the worst case, O(LIDs x ports in groups) on all processors.
func Check(ctx context.Context, t *fabric.Tables, opt Options) (*Result, error) {
	if opt.Examples == 0 {
		opt.Examples = defaultExamples
	}
	c := newChecker(t, opt)
	c.columns = make([]column, len(c.ends.LIDs))
	_, err := each(ctx, c, func() *worker { return newWorker(c) }, func(w *worker, places []int32) {
		w.column.lot(places, func(at int32) { w.count(&c.columns[at], c.ends.LIDs[at]) })
	})
	if err != nil {
		return nil, fmt.Errorf("follow all choices of %s: %w", t.Origin, err)
	}
	return c.result(), nil
}

type checker struct {
	net  *Net
	ends *trees.Ends
	opt  Options
	// bySwitch holds the result of [BySwitch]: indexes into ends.LIDs.
	bySwitch []int32
	columns  []column
}

func newChecker(t *fabric.Tables, opt Options) *checker {
	c := &checker{net: NewNet(t), ends: trees.NewEnds(t, opt.Switches), opt: opt}
	c.bySwitch = BySwitch(c.ends)
	return c
}

// BySwitch returns the indexes of all LIDs in ends, grouped by the switch of the LID's port. The LIDs of one switch
// mostly share their paths.
func BySwitch(ends *trees.Ends) []int32 {
	homes := make([]fabric.SwitchIndex, len(ends.LIDs))
	order := make([]int32, len(ends.LIDs))
	for i, l := range ends.LIDs {
		homes[i], _ = ends.Tables.Fabric.AttachedSwitch(ends.Ports[l.End])
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(homes[a], homes[b]) })
	return order
}

// each divides the LIDs into batches. It calls the function visit with the indexes of the LIDs of each batch and a
// worker. Only one goroutine uses a worker at a time. each returns the workers.
func each[W any](ctx context.Context, c *checker, fresh func() *W, visit func(w *W, places []int32)) ([]*W, error) {
	workers := make([]*W, routing.Workers())
	lids := make([]trees.LID, len(c.bySwitch))
	for i, at := range c.bySwitch {
		lids[i] = c.ends.LIDs[at]
	}
	starts := trees.Batches(lids)
	err := routing.ForEach(ctx, len(starts)-1, c.opt.Progress, func(n, i int) {
		if workers[n] == nil {
			workers[n] = fresh()
		}
		visit(workers[n], c.bySwitch[starts[i]:starts[i+1]])
	})
	return slices.DeleteFunc(workers, func(w *W) bool { return w == nil }), err
}

// column holds the counts for one LID.
type column struct {
	Counts
	fewest, most []int32
	troubles     []Pair
	// pairs counts, by [Reach], the pairs with the end as destination. It is set with the last LID of the end.
	pairs [Unknown + 1]int64
}

type worker struct {
	*checker
	column *columns
	// pairs holds, for each source, the worst reach so far over the LIDs of the current destination.
	pairs []Reach
}

func newWorker(c *checker) *worker {
	return &worker{checker: c, column: newColumns(c.net, c.ends), pairs: make([]Reach, len(c.ends.Ports))}
}

// count counts the pairs of one LID.
func (w *worker) count(col *column, l trees.LID) {
	var free [Unknown + 1]int
	for i := range free {
		free[i] = w.opt.Examples
	}
	w.column.each(l, func(s *source, o *Outcome) {
		col.add(s.n, o)
		r := o.Endings.Reach()
		w.countPairs(col, l, s, r)
		if r == Sure {
			return
		}
		for _, end := range s.ends {
			if end != l.End && free[r] > 0 {
				free[r]--
				col.troubles = append(col.troubles, Pair{Src: w.ends.Ports[end], Dst: w.ends.Ports[l.End], LID: l.LID,
					Outcome: *o})
			}
		}
	})
}

// countPairs updates the reach of the pairs from a source to the current destination by the reach r of the paths to one
// of its LIDs. At the last LID it counts the pairs.
func (w *worker) countPairs(col *column, l trees.LID, s *source, r Reach) {
	port := &w.net.Tables.Fabric.Ports[w.ends.Ports[l.End]]
	if port.LMC == 0 {
		col.pairs[r] += int64(s.n)
		return
	}
	for _, end := range s.ends {
		if end == l.End {
			continue
		}
		if l.LID == port.LID || worse(r, w.pairs[end]) {
			w.pairs[end] = r
		}
		if l.LID == port.LIDRange().Max {
			col.pairs[w.pairs[end]]++
		}
	}
}

func (c *column) add(n int, o *Outcome) {
	c.Paths += int64(n)
	switch o.Endings.Reach() {
	case Sure:
		c.Sure += int64(n)
	case Luck:
		c.Luck += int64(n)
	case Never:
		c.Never += int64(n)
	case Unknown:
		c.Unknown += int64(n)
	}
	if o.Endings&Loops != 0 {
		c.Loops += int64(n)
	}
	if o.Paths != 1 {
		c.Many += int64(n)
	}
	if o.Endings&Arrives != 0 {
		c.fewest = increment(c.fewest, o.Fewest, n)
		if o.Most >= 0 {
			c.most = increment(c.most, o.Most, n)
		}
	}
}

func increment(counts []int32, at int32, n int) []int32 {
	for len(counts) <= int(at) {
		counts = append(counts, 0)
	}
	counts[at] += int32(n)
	return counts
}

func (c *checker) result() *Result {
	t := c.net.Tables
	r := &Result{
		Ends: c.ends.Total(), Unassigned: len(c.ends.Unassigned), UnreachableEnds: len(c.ends.Unreachable),
		Pairs:     c.ends.Pairs(),
		SLsUnread: t.Unread.SLs && len(c.net.classes) > 1,
	}
	for i := range c.columns {
		col := &c.columns[i]
		r.Paths += col.Paths
		r.Sure += col.Sure
		r.Luck += col.Luck
		r.Never += col.Never
		r.Unknown += col.Unknown
		r.Loops += col.Loops
		r.Many += col.Many
		r.LostPairs += col.pairs[Never]
		r.LuckPairs += col.pairs[Luck]
		r.UnknownPairs += col.pairs[Unknown]
		r.Fewest, r.Most = sum(r.Fewest, col.fewest), sum(r.Most, col.most)
	}
	pairs, paths := c.ends.Lost()
	r.LostPairs += pairs
	r.Paths += paths
	r.Never += paths
	for _, kind := range []Reach{Never, Luck, Unknown} {
		free := c.opt.Examples
		for i := range c.columns {
			for _, p := range c.columns[i].troubles {
				if free > 0 && p.Outcome.Endings.Reach() == kind {
					free--
					r.Troubles = append(r.Troubles, p)
				}
			}
		}
	}
	slices.SortStableFunc(r.Troubles, func(a, b Pair) int {
		return order(a.Outcome.Endings.Reach()) - order(b.Outcome.Endings.Reach())
	})
	return r
}

// order returns the position of a reach in the list of troubles. The worst reach comes first.
func order(r Reach) int { return slices.Index([]Reach{Never, Luck, Unknown, Sure}, r) }

func worse(a, b Reach) bool { return order(a) < order(b) }

func sum(all []int64, some []int32) []int64 {
	for i, n := range some {
		if len(all) <= i {
			all = append(all, 0)
		}
		all[i] += int64(n)
	}
	return all
}
