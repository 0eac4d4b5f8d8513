// SPDX-License-Identifier: Apache-2.0

// Package reach follows the packets of every pair of end ports through the
// tables and says which arrive, over how many links, and where the others end.
//
// Pairs are the ordered pairs of distinct end ports of channel adapters and routers, and on demand of switches. A
// destination with an LMC is reached over one path for each of its LIDs. No path is sampled, and none walked
// alone: see package trees.
package reach

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Options are how to check.
type Options struct {
	// Switches counts port 0 of switches among the end ports.
	Switches bool
	// Examples is how many paths of each kind of trouble to list, 20 if it is 0.
	Examples int
	// Progress, where set, is called now and then with the destinations done, in
	// lots of 64, and all there are. It may be called from several goroutines.
	Progress func(done, total int)
}

const defaultExamples = 20

// Counts counts paths by how they end, as [walk.Trace] judges them. Paths is the sum of the six that follow it.
type Counts struct {
	Paths     int64
	Delivered int64
	// Unreachable end at a switch, or a source, that has no path on.
	Unreachable int64
	// Loops come back to a switch.
	Loops int64
	// Misdelivered end at a port that does not own the LID.
	Misdelivered int64
	// TooLong are delivered over more than [walk.MaxHops] links.
	TooLong int64
	// Unknown meet a switch whose table was not read.
	Unknown int64
	// NotMinimal are those delivered, too long or not, over more links than the
	// fabric needs. Distances from 255 hops up are not compared.
	NotMinimal int64
}

// Result is what all paths come to.
type Result struct {
	// Ends is the number of end ports, Unassigned that of those without a LID, UnreachableEnds that of those that
	// failures have separated from the subnet. See [trees.Ends] for the paths that are counted, as unreachable, from
	// and to those.
	Ends            int
	Unassigned      int
	UnreachableEnds int
	// Pairs is the number of ordered pairs of distinct end ports. LostPairs are those of which a path does not arrive,
	// UnknownPairs other ones of which a path is unknown.
	Pairs        int64
	LostPairs    int64
	UnknownPairs int64
	Counts
	// Links counts the delivered paths by their links, the cables of the two hosts included: the hops of ibdmchk.
	Links []int64
	// Troubles are the first paths of each kind that fail or are too long, by kind, destination LID and source LID. The
	// UnlistedPaths, which end at once as [trees.Ends.Lost] counts them, are not among them.
	Troubles      []Path
	UnlistedPaths int64

	quick bool // found by what differs from a base
}

// Path is one path, which [walk.Trace] follows hop by hop.
type Path struct {
	// Src and Dst are end ports, and LID the one of Dst that is sent to.
	Src, Dst fabric.PortIndex
	LID      uint16
	Verdict  walk.Verdict
}

// Bad returns the number of paths that are known not to arrive, or to be too long.
func (c *Counts) Bad() int64 { return c.Paths - c.Delivered - c.Unknown }

// Verdict returns whether a path is bad.
func (c *Counts) Verdict() verdict.Verdict { return verdict.Of(c.Bad() > 0, c.Unknown > 0) }

// LoopVerdict returns whether a path is a loop. A path is unknown that meets a switch whose table was not read.
func (c *Counts) LoopVerdict() verdict.Verdict { return verdict.Of(c.Loops > 0, c.Unknown > 0) }

// column is what the paths to one LID come to.
type column struct {
	verdicts [walk.TooLong + 1]int32
	// pairs are those of the end, counted with its last LID.
	pairs    [Lost + 1]int64
	longer   int32
	links    []int32
	troubles []Path
}

// Check follows all paths. It fails with ctx's error where ctx ends first. O(LIDs x switches) on all processors.
func Check(ctx context.Context, t *fabric.Tables, opt Options) (*Result, error) {
	if opt.Examples == 0 {
		opt.Examples = defaultExamples
	}
	c := newChecker(t, opt)
	if err := c.run(ctx); err != nil {
		return nil, fmt.Errorf("follow all paths of %s: %w", t.Origin, err)
	}
	return c.result(), nil
}

type checker struct {
	opt       Options
	ends      *trees.Ends
	distances *routing.Distances
	columns   []column
	workers   []*worker
}

func newChecker(t *fabric.Tables, opt Options) *checker {
	c := &checker{opt: opt, ends: trees.NewEnds(t, opt.Switches), workers: make([]*worker, routing.Workers())}
	c.columns = make([]column, len(c.ends.LIDs))
	return c
}

func (c *checker) run(ctx context.Context) error {
	if len(c.ends.LIDs) == 0 {
		return ctx.Err()
	}
	c.distances = routing.NewDistances(c.ends.Tables.Fabric)
	return c.ends.Each(ctx, c.ends.LIDs, c.opt.Progress, func(n int, t *trees.Tree) {
		if c.workers[n] == nil {
			c.workers[n] = newWorker(c)
		}
		c.workers[n].column(&c.columns[t.At], t)
	})
}

// result sums up.
func (c *checker) result() *Result {
	r := &Result{}
	for i := range c.columns {
		col := &c.columns[i]
		r.add(col)
		for links, n := range col.links {
			for len(r.Links) <= links {
				r.Links = append(r.Links, 0)
			}
			r.Links[links] += int64(n)
		}
	}
	r.addEnds(c.ends)
	r.list(c)
	return r
}

// addEnds counts the end ports, and the pairs and paths that no LID stands for.
func (r *Result) addEnds(e *trees.Ends) {
	r.Ends, r.Unassigned, r.UnreachableEnds, r.Pairs = e.Total(), len(e.Unassigned), len(e.Unreachable), e.Pairs()
	pairs, paths := e.Lost()
	r.LostPairs += pairs
	r.Unreachable += paths
	r.Paths += paths
	r.UnlistedPaths = paths
}

func (r *Result) add(col *column) {
	for v, n := range col.verdicts {
		r.Paths += int64(n)
		*r.count(walk.Verdict(v)) += int64(n)
	}
	r.NotMinimal += int64(col.longer)
	r.LostPairs += col.pairs[Lost]
	r.UnknownPairs += col.pairs[Unknown]
}

func (r *Result) count(v walk.Verdict) *int64 {
	switch v {
	case walk.Loop:
		return &r.Loops
	case walk.DeadEnd:
		return &r.Unreachable
	case walk.Misdelivered:
		return &r.Misdelivered
	case walk.Unknown:
		return &r.Unknown
	case walk.TooLong:
		return &r.TooLong
	}
	return &r.Delivered
}

// list lists the first troubles of each kind.
func (r *Result) list(c *checker) {
	for _, kind := range []walk.Verdict{walk.DeadEnd, walk.Loop, walk.Misdelivered, walk.TooLong, walk.Unknown} {
		free := c.opt.Examples
		for i := range c.columns {
			for _, p := range c.columns[i].troubles {
				if p.Verdict == kind && free > 0 {
					r.Troubles = append(r.Troubles, p)
					free--
				}
			}
			if free == 0 {
				break
			}
		}
	}
}
