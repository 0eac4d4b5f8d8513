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
	Progress func(Progress) // where set, called now and then by the goroutine that sweeps; must be quick
	NoTables bool           // leave out the forwarding tables; the result has no Tables then
	// SL2VL, MFT, VLArb, PKeys, GUIDs and Adaptive read more tables. The first two are part
	// of Result.Tables and left out by NoTables. In MADs they cost:
	//
	//	LFTs   a switch 1 + LinearFDBTop/64
	//	SL2VL  a switch l*(l+1) for l linked ports, an adapter 1 a port; none
	//	       where the node has no such tables (IsSLMappingSupported)
	//	MFT    a switch (1 + ports/16) for each 32 LIDs up to MulticastFDBTop,
	//	       up to MulticastFDBCap where it has no top
	//	VLArb  2 a linked port, 4 if it has more than 32 entries
	//	PKeys  an end port 1 for each 32 of its PartitionCap, 2 as a rule; a
	//	       linked port of a switch the same of PartitionEnforcementCap
	//	GUIDs  an end port 1 for each 8 of its GUIDCap
	//	Adaptive  a switch of NVIDIA's 2, and where it routes adaptively 1 for each 2 groups and for each 16 LIDs
	//
	// On a full fat-tree of 11,664 hosts and 1,620 switches with 36 ports that are 0.34, 2.2, 0.16, 0.14,
	// 0.14 and 0.05 million; nodes, ports and links cost 0.12 million.
	SL2VL, MFT, VLArb, PKeys, GUIDs bool
	// Adaptive reads groups for adaptive routing by attributes of NVIDIA's own, which nobody here has tried on a
	// switch: what contradicts the forwarding table is warned of and not taken. It is part of Result.Tables, too.
	Adaptive bool

	maxNodes int // for tests; 0 is maxNodes
}

// Progress says how far a sweep is. The number of blocks is known once all nodes are found.
type Progress struct {
	Nodes, Switches    int
	Blocks, BlocksToDo int
}

// Result is what a sweep saw.
type Result struct {
	// Fabric has its nodes in the order of a breadth-first search from the local port, ports ascending,
	// whatever the order of the answers was. Its SM port is the local port.
	Fabric *fabric.Fabric
	// Tables are what the switches hold, with origin "live". A switch of which a block is missing, of any table
	// asked for, is not Known. The SLs of paths are Unread: switches do not have them.
	Tables *fabric.Tables
	// VLArb, PKeys and GUIDs are what ports hold, where asked for; not those of which a block is missing.
	VLArb      map[fabric.PortIndex]*VLArb
	PKeys      map[fabric.PortIndex][]mad.PKey
	GUIDs      map[fabric.PortIndex][]uint64
	Changes    []fabric.Change // what is other than in the picture that a light sweep was given
	Rerouted   int             // switches with other tables than those a light sweep was given, where it looked
	Unanswered []Unanswered    // what did not answer
	// Warnings say what contradicted itself, a sentence each; Doubles are those about a number that two claim.
	Warnings   []string
	Duplicates []Duplicate
	Limits     []fabric.LinkLimit // what the ports of Fabric allow their links, by port index; nil of a light sweep
	Stats      Stats
}

// Stats say what a sweep took.
type Stats struct {
	Requests int // questions, not how often they were sent
	Missed   int // the questions that failed or were not asked any more
	Elapsed  time.Duration
}

// PerSecond is the rate of questions.
func (s Stats) PerSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Requests) / s.Elapsed.Seconds()
}

// Full sweeps the whole subnet. It fails where the local port does not answer and where ctx ends; a node that
// does not answer is [Unanswered]. One that answers no more in mid-sweep is asked by other paths before.
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

// result sums a sweep up.
func (s *sweeper) result(f *fabric.Fabric, start time.Time) *Result {
	s.report()
	res := &Result{Fabric: f, Unanswered: s.unanswered()}
	for _, w := range s.warnings {
		res.Warnings = append(res.Warnings, w())
	}
	res.Duplicates = s.namedDuplicates()
	res.Stats = s.stats
	res.Stats.Elapsed = time.Since(start)
	return res
}
