// SPDX-License-Identifier: Apache-2.0

// Package reach follows the packets of every pair of end ports through the tables. It reports which packets arrive,
// over how many links, and where the other packets end.
//
// Pairs are the ordered pairs of distinct end ports of CAs and optionally of switches. A destination with an LMC has
// one path for each of its LIDs. No path is sampled, and no path is walked separately: see package trees.
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

// Options controls a check.
type Options struct {
	// Switches includes port 0 of each switch in the end ports.
	Switches bool
	// Examples is the maximum number of paths of each kind of trouble to list (default 20).
	Examples int
	// Progress, if set, is called from time to time with the number of destinations done, in batches of 64, and their
	// total. It may be called from several goroutines.
	Progress func(done, total int)
}

const defaultExamples = 20

// Counts counts paths by the verdict of [walk.Trace]. Paths is the sum of the six fields that follow it.
type Counts struct {
	Paths     int64
	Delivered int64
	// Unreachable counts paths that end at a switch, or at the source, because it has no onward path.
	Unreachable int64
	// Loops counts paths that return to a switch.
	Loops int64
	// Misdelivered counts paths that end at a port that does not own the LID.
	Misdelivered int64
	// TooLong counts paths that are delivered over more than [walk.MaxHops] links.
	TooLong int64
	// Unknown counts paths that use a switch whose table was not read.
	Unknown int64
	// NotMinimal counts delivered paths with more links than the fabric requires, including paths that are too long.
	// Distances of 255 hops or more are not compared.
	NotMinimal int64
}

// Result is the result for all paths.
type Result struct {
	// Ends counts all end ports. Unassigned counts end ports without a LID, UnreachableEnds end ports that failures
	// have separated from the subnet. Paths from and to these two kinds count as unreachable, see [trees.Ends].
	Ends            int
	Unassigned      int
	UnreachableEnds int
	// Pairs counts the ordered pairs of distinct end ports. LostPairs counts pairs with a path that does not arrive.
	// UnknownPairs counts other pairs with a path that is unknown.
	Pairs        int64
	LostPairs    int64
	UnknownPairs int64
	Counts
	// Links counts the delivered paths, indexed by their number of links. The cables of the two hosts are included.
	// ibdmchk calls this number hops.
	Links []int64
	// Troubles lists the first paths of each kind that fail or are too long, by kind, destination LID and source LID.
	// It omits the paths that end at once. UnlistedPaths counts those, as [trees.Ends.Lost] does.
	Troubles      []Path
	UnlistedPaths int64

	quick bool // computed from the difference to a base
}

// Path identifies one path. [walk.Trace] follows it hop by hop.
type Path struct {
	// Src and Dst are end ports. LID is a LID of Dst.
	Src, Dst fabric.PortIndex
	LID      uint16
	Verdict  walk.Verdict
}

// Bad returns the number of paths that are known not to arrive or to be too long.
func (c *Counts) Bad() int64 { return c.Paths - c.Delivered - c.Unknown }

// Verdict returns Found if a path is bad, and Unknown if no path is bad but some are unknown.
func (c *Counts) Verdict() verdict.Verdict { return verdict.Of(c.Bad() > 0, c.Unknown > 0) }

// LoopVerdict returns the verdict on loops. It is Unknown if no path loops but a path uses an unread table.
func (c *Counts) LoopVerdict() verdict.Verdict { return verdict.Of(c.Loops > 0, c.Unknown > 0) }

// column holds the counts for one LID.
type column struct {
	verdicts [walk.TooLong + 1]int32
	// pairs counts the pairs with the end as destination. It is set with the last LID of the end.
	pairs    [Lost + 1]int64
	longer   int32
	links    []int32
	troubles []Path
}

// Check follows all paths. It returns the error of ctx if that ends first. O(LIDs x switches) on all processors.
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

// result combines the counts.
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

// addEnds counts the end ports, and the pairs and paths that end at once because an end port has no LID.
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
