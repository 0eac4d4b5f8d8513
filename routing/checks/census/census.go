// SPDX-License-Identifier: Apache-2.0

// Package census follows the packets of all pairs through the tables and groups similar paths. Delivered paths with the
// same first and last switch are grouped by the switches that they pass. Paths that do not arrive are grouped by the
// place where they end.
//
// Pairs and paths are counted as in [trees.Ends]. Paths are neither sampled nor followed separately: see package trees.
package census

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Options selects the paths to follow and how many to list.
type Options struct {
	// Switches includes port 0 of each switch in the end ports.
	Switches bool
	// List is the maximum length of [Result.TopPairs], and of [Result.Failures] for each verdict (default 20).
	List int
	// Other, if set, holds the tables with whose paths the paths are compared.
	Other *fabric.Tables
	// Progress, if set, is called with the number of LIDs done and their total. Several goroutines may call it.
	Progress func(done, total int)
}

const defaultList = 20

// Result summarizes the paths of all pairs.
type Result struct {
	// Pairs, LostPairs and UnknownPairs have the same meaning as in [reach.Result].
	Pairs, LostPairs, UnknownPairs int64
	// Paths is the sum of Verdicts. Verdicts counts the paths by the verdict of [walk.Trace].
	Paths    int64
	Verdicts [walk.TooLong + 1]int64
	// Links counts the paths that arrive, indexed by the number of their links.
	Links []int64
	// Unreachable lists the end ports that failures have separated from the subnet. Unassigned lists other end ports
	// without a LID. Paths from and to these ports end at once.
	Unreachable, Unassigned []fabric.PortIndex
	// SwitchPairs counts the pairs of a first and a last switch between which packets arrive. Sequences counts the
	// different sequences of switches on these paths.
	SwitchPairs, Sequences int64
	// TopPairs lists the switch pairs with most paths, in descending order of paths.
	TopPairs []SwitchPair
	// Places counts the places where packets end without arriving. Failures lists, for each verdict, the places where
	// most packets end.
	Places   int
	Failures []Failure
	// Differing counts the pairs whose path differs in the tables [Options.Other]. Two paths differ if their nodes
	// (matched by GUID) or their output ports differ. DifferingPairs lists examples of such pairs.
	Differing      int64
	DifferingPairs []Pair
}

// Arrive returns the number of paths whose packets arrive.
func (r *Result) Arrive() int64 { return r.Verdicts[walk.Delivered] + r.Verdicts[walk.TooLong] }

// SwitchPair summarizes the paths from the ends of one switch to the ends of another switch that arrive.
type SwitchPair struct {
	From, To fabric.SwitchIndex
	Paths    int64
	// Sequences counts the different sequences of switches on these paths.
	Sequences int
	// Src and LID are the source and the destination LID of one path with the most frequent sequence.
	Src fabric.PortIndex
	LID uint16

	origin, home int32
}

// order compares switch pairs. Pairs with most paths come first, then pairs with the lowest LIDs.
func (a *SwitchPair) order(b *SwitchPair) int {
	return cmp.Or(cmp.Compare(b.Paths, a.Paths), cmp.Compare(a.origin, b.origin), cmp.Compare(a.home, b.home))
}

// Failure summarizes the paths that end at the same place without reaching their destination.
type Failure struct {
	Verdict walk.Verdict
	Paths   int64
	// Src and LID are an example.
	Src fabric.PortIndex
	LID uint16
}

// Take follows the packets of all pairs. It returns the error of ctx if ctx ends first. O(LIDs x switches) on all
// processors.
func Take(ctx context.Context, t *fabric.Tables, opt Options) (*Result, error) {
	if opt.List == 0 {
		opt.List = defaultList
	}
	c := newCounter(t, opt)
	for rest := c.todo; len(rest) > 0; {
		n := c.lot(rest)
		if err := c.count(ctx, rest[:n]); err != nil {
			return nil, fmt.Errorf("follow the paths of %s: %w", t.Origin, err)
		}
		c.done += n
		rest = rest[n:]
	}
	return c.result(), ctx.Err()
}

// maxCells is the maximum number of path hashes in memory, 8 bytes each.
const maxCells = 4 << 20

// lot returns how many LIDs of rest are counted at once. These are all LIDs of some switches.
func (c *counter) lot(rest []target) int {
	for n := min(len(rest), max(1, maxCells/max(1, len(c.origins)))); n < len(rest); n++ {
		if rest[n].home != rest[n-1].home {
			return n
		}
	}
	return len(rest)
}

// The method count follows the packets from all ends to a list of LIDs. It then compares the paths to the LIDs of each
// destination switch with one another.
func (c *counter) count(ctx context.Context, some []target) error {
	lids := make([]trees.LID, len(some))
	for i := range some {
		lids[i] = some[i].LID
	}
	c.cells = slices.Grow(c.cells[:0], len(lids)*len(c.origins))[:len(lids)*len(c.origins)]
	progress := func(done, _ int) {
		if c.opt.Progress != nil {
			c.opt.Progress(c.done+min(done*fabric.BlockSize, len(lids)), len(c.todo))
		}
	}
	err := c.ends.Each(ctx, lids, progress, func(n int, t *trees.Tree) {
		c.worker(n).column(t, c.cells[t.At*len(c.origins):])
	})
	if err != nil {
		return err
	}
	var homes []span
	for i := range some {
		if i == 0 || some[i].home != some[i-1].home {
			homes = append(homes, span{i, i})
		}
		homes[len(homes)-1].to = i + 1
	}
	return routing.ForEach(ctx, len(homes), nil, func(n, i int) { c.worker(n).compare(some, homes[i]) })
}

// A span is a range of LIDs in a list, without the LID at index to.
type span struct{ from, to int }

// result combines the results of the workers.
func (c *counter) result() *Result {
	r := &Result{Unassigned: c.ends.Unassigned, Unreachable: c.ends.Unreachable, Pairs: c.ends.Pairs()}
	pairs, paths := c.ends.Lost()
	r.LostPairs, r.Paths, r.Verdicts[walk.DeadEnd] = pairs, paths, paths
	failures := map[place]Failure{}
	for _, w := range c.workers {
		if w == nil {
			continue
		}
		for v, n := range w.Verdicts {
			r.Verdicts[v] += n
			r.Paths += n
		}
		r.LostPairs += w.LostPairs
		r.UnknownPairs += w.UnknownPairs
		for links, n := range w.Links {
			r.arrive(links, n)
		}
		r.SwitchPairs += w.SwitchPairs
		r.Sequences += w.Sequences
		r.Differing += w.Differing
		r.DifferingPairs = append(r.DifferingPairs, w.DifferingPairs...)
		r.TopPairs = append(r.TopPairs, w.TopPairs...)
		for at, f := range w.failures {
			failures[at] = f.and(failures[at])
		}
	}
	slices.SortStableFunc(r.TopPairs, func(a, b SwitchPair) int { return a.order(&b) })
	r.TopPairs = r.TopPairs[:min(len(r.TopPairs), c.opt.List)]
	r.DifferingPairs = firstPairs(r.DifferingPairs, c.opt.List)
	r.fail(failures, c.opt.List)
	return r
}

func (r *Result) arrive(links int, n int64) {
	for len(r.Links) <= links {
		r.Links = append(r.Links, 0)
	}
	r.Links[links] += n
}

// fail lists, for each verdict, the places where most packets end. The argument most is the maximum number of places.
func (r *Result) fail(all map[place]Failure, most int) {
	r.Places = len(all)
	for _, f := range all {
		r.Failures = append(r.Failures, f)
	}
	slices.SortStableFunc(r.Failures, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(b.Paths, a.Paths), cmp.Compare(a.LID, b.LID),
			cmp.Compare(a.Src, b.Src))
	})
	var listed [walk.TooLong + 1]int
	r.Failures = slices.DeleteFunc(r.Failures, func(f Failure) bool {
		listed[f.Verdict]++
		return listed[f.Verdict] > most
	})
}

// The method and returns the sum of two failures at the same place. It keeps the example with the lower LID.
func (f Failure) and(g Failure) Failure {
	if g.Paths > 0 && (g.LID < f.LID || g.LID == f.LID && g.Src < f.Src) {
		f.Src, f.LID = g.Src, g.LID
	}
	f.Paths += g.Paths
	return f
}
