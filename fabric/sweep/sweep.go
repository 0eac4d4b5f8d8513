// SPDX-License-Identifier: Apache-2.0

// Package sweep reads a subnet's nodes, ports, links and tables by directed routes. It writes nothing.
//
// A sweep also returns a subnet that is partly broken. Requests without a valid answer become [Unanswered].
// Contradictions become warnings, and the first of two contradictory values counts.
package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Options controls a sweep.
type Options struct {
	Progress func(Progress) // if set, called regularly by the sweeping goroutine; must be fast
	NoTables bool           // do not read forwarding tables; the result has no Tables
	// SL2VL, MFT, VLArb, PKeys, GUIDs and Adaptive read more tables. SL2VL and MFT are part of Result.Tables, so they
	// are not read with NoTables. The tables cost this many MADs:
	//
	//	LFTs   1 + LinearFDBTop/64 for a switch
	//	SL2VL  l*(l+1) for a switch with l linked ports, 1 for a port of an adapter; none
	//	       if the node has no such tables (IsSLMappingSupported)
	//	MFT    1 + ports/16 for a switch and each 32 LIDs up to MulticastFDBTop, or
	//	       up to MulticastFDBCap if it has no top
	//	VLArb  2 for a linked port, 4 if it has more than 32 entries
	//	PKeys  1 for an end port and each 32 of its PartitionCap, normally 2; the same
	//	       for a linked port of a switch and PartitionEnforcementCap
	//	GUIDs  1 for an end port and each 8 of its GUIDCap
	//	Adaptive  2 for an NVIDIA switch; if it routes adaptively also 1 for each 2 groups and for each 16 LIDs
	//
	// On a full fat-tree of 11,664 hosts and 1,620 switches with 36 ports, the first six cost 0.34, 2.2, 0.16, 0.14,
	// 0.14 and 0.05 million MADs. Nodes, ports and links cost 0.12 million MADs.
	SL2VL, MFT, VLArb, PKeys, GUIDs bool
	// Adaptive reads the groups for adaptive routing. It uses NVIDIA attributes that are untested on a real switch.
	// Data that contradict the forwarding table are ignored with a warning. The result is part of Result.Tables.
	Adaptive bool

	maxNodes  int   // for tests; 0 stands for the constant
	maxTables int64 // for tests; 0 stands for maxBytes and maxBlocks
}

// Progress is the progress of a sweep. The number of blocks is known only after all nodes have been found.
type Progress struct {
	Nodes, Switches    int
	Blocks, BlocksToDo int
}

// Result is the result of a sweep.
type Result struct {
	// Fabric has its nodes in breadth-first order from the local port. The ports of a node are visited in ascending
	// order, so the order of answers does not matter. The SM's port is the local port.
	Fabric *fabric.Fabric
	// Tables holds the tables of the switches, with origin "live". If a block of any requested table of a switch is
	// missing, the switch is not Known. The SLs of paths are Unread, because switches do not have them.
	Tables *fabric.Tables
	// VLArb, PKeys and GUIDs hold the requested tables of ports. They omit tables with a missing block.
	VLArb      map[fabric.PortIndex]*VLArb
	PKeys      map[fabric.PortIndex][]mad.PKey
	GUIDs      map[fabric.PortIndex][]uint64
	Changes    []fabric.Change // differences from the fabric given to a light sweep
	Rerouted   int             // switches whose tables differ in the sample of a light sweep
	Unanswered []Unanswered    // requests without a valid answer
	// Warnings describes contradictions, with one sentence for each. Duplicates lists those contradictions that concern
	// a value that must be unique.
	Warnings   []string
	Duplicates []Duplicate
	Limits     []fabric.LinkLimit // limits of the ports of Fabric by port index; nil for a light sweep
	Stats      Stats
}

// Stats holds the cost of a sweep.
type Stats struct {
	Requests int // without repetitions
	Missed   int // requests that failed or were given up
	Elapsed  time.Duration
}

// PerSecond returns the number of requests per second.
func (s Stats) PerSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Requests) / s.Elapsed.Seconds()
}

// Full sweeps the whole subnet. It fails only if the local port does not respond or ctx ends. Other nodes that do not
// respond are listed as [Unanswered]. If a node stops responding during the sweep, Full first tries other paths to the
// node.
func Full(ctx context.Context, client *mad.Client, opts Options) (*Result, error) {
	start := time.Now()
	s := newSweeper(ctx, client, opts)
	defer s.cancel(nil)
	if err := s.discover(); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	b := builder{sweeper: s}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	r := newReader(s, &b)
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("sweep: read tables: %w", err)
	}
	if err := r.readAdaptive(); err != nil {
		return nil, fmt.Errorf("sweep: read adaptive routing: %w", err)
	}
	res := s.result(b.fabric, start)
	res.Tables, res.VLArb, res.PKeys, res.GUIDs = r.tables, r.vlArb, r.pKeys, r.guids
	res.Limits = b.limits()
	return res, nil
}

// maxAlike is the maximum number of warnings with the same format in a result.
const maxAlike = 5

// warning is a warning that is not formatted yet.
type warning struct {
	format string
	args   []any
}

func (w warning) String() string { return fmt.Sprintf(w.format, w.args...) }

// foldedWarnings returns the warnings. Of many with the same format, it returns the first ones and the number of the
// others, and then the first warning of each format comes first.
func (s *sweeper) foldedWarnings() []string {
	alike := map[string][]warning{}
	for _, w := range s.warnings {
		alike[w.format] = append(alike[w.format], w)
	}
	var first, counts, further []string
	for _, w := range s.warnings {
		all := alike[w.format]
		delete(alike, w.format)
		for i, w := range all[:min(len(all), maxAlike)] {
			if i == 0 {
				first = append(first, w.String())
			} else {
				further = append(further, w.String())
			}
		}
		if more := len(all) - maxAlike; more > 0 {
			counts = append(counts, fmt.Sprintf("%s like this: %s", prose.Count(more, "more warning"), all[maxAlike]))
		}
	}
	if counts != nil {
		return slices.Concat(first, counts, further)
	}
	var texts []string
	for _, w := range s.warnings {
		texts = append(texts, w.String())
	}
	return texts
}

// result returns the parts of a result that all kinds of sweeps have in common.
func (s *sweeper) result(f *fabric.Fabric, start time.Time) *Result {
	s.report()
	res := &Result{Fabric: f, Unanswered: s.unanswered()}
	res.Warnings = s.foldedWarnings()
	res.Duplicates = s.namedDuplicates()
	res.Stats = s.stats
	res.Stats.Elapsed = time.Since(start)
	return res
}
