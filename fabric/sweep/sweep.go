// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Options say how to sweep.
type Options struct {
	// Progress, where set, is called now and then by the goroutine that sweeps.
	// It must be quick.
	Progress func(Progress)
	// NoTables leaves out the forwarding tables; the result has no Tables then.
	NoTables bool
	// MKey is the key of a subnet whose ports are protected by one.
	MKey uint64

	maxNodes int // for tests; 0 is maxNodes
}

// Progress says how far a sweep is. The number of blocks is known once all
// nodes are found.
type Progress struct {
	Nodes, Switches    int
	Blocks, BlocksToDo int
}

// Result is what a sweep saw.
type Result struct {
	// Fabric has its nodes in the order of a breadth-first search from the local
	// port, ports ascending, whatever the order of the answers was. Its SM port
	// is the local port.
	Fabric *fabric.Fabric
	// Tables are what the switches hold, with origin "live". A switch of which a
	// block is missing is not Known.
	Tables *fabric.Tables
	// Changes are what is other than in the picture that a light sweep was given.
	Changes []fabric.Change
	// Holes are what did not answer.
	Holes []Hole
	// Warnings say what contradicted itself, one sentence each.
	Warnings []string
	Stats    Stats
}

// Stats say what a sweep took.
type Stats struct {
	// Requests counts questions, not how often they were sent.
	Requests int
	// Missed are the questions that failed or were not asked any more.
	Missed  int
	Elapsed time.Duration
}

// PerSecond is the rate of questions.
func (s Stats) PerSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Requests) / s.Elapsed.Seconds()
}

// Full sweeps the whole subnet. It fails where the local port does not answer
// and where ctx ends; a node that does not answer is a [Hole].
func Full(ctx context.Context, client *mad.Client, opts Options) (*Result, error) {
	start := time.Now()
	s := newSweeper(ctx, client, opts)
	defer s.give(nil)
	if err := s.discover(); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	b := builder{sweeper: s}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	var tables *fabric.Tables
	if !opts.NoTables {
		r := newReader(s, &b)
		if err := r.read(); err != nil {
			return nil, fmt.Errorf("sweep: read forwarding tables: %w", err)
		}
		tables = r.finish()
	}
	res := s.result(b.fabric, start)
	res.Tables = tables
	return res, nil
}

// result sums a sweep up.
func (s *sweeper) result(f *fabric.Fabric, start time.Time) *Result {
	s.report()
	res := &Result{Fabric: f, Holes: s.holes()}
	for _, w := range s.warnings {
		res.Warnings = append(res.Warnings, w())
	}
	res.Stats = s.stats
	res.Stats.Elapsed = time.Since(start)
	return res
}
