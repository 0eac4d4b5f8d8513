// SPDX-License-Identifier: Apache-2.0

// Package plan computes the writes that turn the tables of the live subnet into the staged tables: LIDs, port states,
// LinearFDBTops and blocks of forwarding tables. It writes nothing.
//
// Blocks are written in steps. During the steps no packet loops, and every pair of ports that is connected before and
// after stays connected. This holds in whatever order the blocks of a step are written. At any time each switch has its
// old or its new entry for each destination. If entries of one block must not change together, the block is written
// more than once. Packets may loop for a while only where a LinearFDBTop changes. These are packets to LIDs above the
// old or the new LinearFDBTop, from sources whose packets arrive neither before nor after the change.
//
// While routes change, there may be a credit loop that neither the old nor the new routes have alone. [Plan.AvoidLoop]
// then replaces the steps by those of package transition.
//
// SL2VL tables change before or after the forwarding tables, see [Plan.OrderSL2VLs]. No multicast packet loops or
// arrives twice: the tree of a group loses its old branches before it gets new branches. In between, members of the
// group may not reach each other.
package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/routing/changes/diff"
)

// Errors of [Make].
var (
	// ErrStale means that staged tables are for switches that the live subnet does not have.
	ErrStale = errors.New("the staged tables are not for the live subnet")
	// ErrLIDTaken means that a LID to assign belongs to another port, which keeps this LID.
	ErrLIDTaken = errors.New("LID is taken")
)

// Plan holds the writes in the order of [write.List], and their effects. Nodes, switches and ports are indexes of the
// live fabric.
type Plan struct {
	// In List, blocks are ordered by step, then by number and then by switch, as OpenSM sends them. List has no SL2VLs
	// or MFTs if the staged tables have none.
	write.List
	// Steps is the number of steps in which blocks are written. Extra counts block writes that are followed by another
	// write of the same block.
	Steps, Extra int
	// Hit counts the pairs that are interrupted in any order of the writes.
	Hit   Hit
	maker *maker
	// sl2vls lists the complete changes of SL2VL tables, which OrderSL2VLs divides into phases.
	sl2vls []write.SL2VL

	// Switches summarizes LinearFDBTops and blocks, in the order of their index.
	Switches []Switch
	// Unreachable lists nodes of the live subnet that the staged subnet does not reach. Their tables are not changed.
	Unreachable []Node
	// Kept lists switches without staged tables. Unread lists switches whose live tables were not read. The plan writes
	// to neither.
	Kept, Unread []Node
	// Warnings lists other differences between the staged and the live fabric.
	Warnings []string
}

// Switch summarizes the writes to a switch.
type Switch struct {
	Switch fabric.SwitchIndex
	// Top is set if the LinearFDBTop changes.
	Top bool
	// Blocks counts writes.
	Blocks int
	// Entries counts the entries that change their egress port.
	Entries int
}

// Node identifies a node by its escaped name and GUID.
type Node struct {
	Name   string
	GUID   diff.GUID
	Switch bool
}

// Totals counts the writes of a plan and the switches that it leaves unchanged.
type Totals struct {
	// Writes is the sum of LIDs, Tops, Blocks, SL2VLs, MFTs and Ports.
	Writes   int
	LIDs     int
	Tops     int
	Blocks   int
	SL2VLs   int
	MFTs     int
	Ports    int
	Switches int
	Entries  int
	// Steps and Extra have the values of the same fields of [Plan]. Hit counts interrupted pairs.
	Steps       int
	Extra       int
	Hit         int64
	Groups      int
	Unreachable int
	Kept        int
	Unread      int
}

// Totals returns the totals of the plan.
func (p *Plan) Totals() Totals {
	t := Totals{
		Writes: p.Len(), LIDs: len(p.LIDs), Tops: len(p.Tops), Blocks: len(p.Blocks), Ports: len(p.States),
		Switches: len(p.Switches), SL2VLs: len(p.sl2vls), MFTs: len(p.MFTs),
		Groups: len(p.Hit.Groups), Steps: p.Steps, Extra: p.Extra, Hit: p.Hit.Pairs(), Unreachable: len(p.Unreachable),
		Kept: len(p.Kept), Unread: len(p.Unread),
	}
	for _, s := range p.Switches {
		t.Entries += s.Entries
	}
	return t
}

// Make plans the writes that replace live tables by staged tables. Nodes are matched by GUID, so the staged fabric may
// be a what-if of the live fabric or an independent fabric. Only nodes in the staged subnet are written.
//
// Make returns [ErrStale] if the staged subnet has a switch that the live subnet lacks. It returns [ErrLIDTaken] if a
// LID to assign belongs to a live port that the staged subnet does not reach. It returns the error of ctx if ctx ends
// first. It takes O(switches x LIDs) on all processors, plus O(switches x steps) for each LID whose live entries form
// loops with the staged entries.
func Make(ctx context.Context, live, staged *fabric.Tables) (*Plan, error) {
	m := &maker{live: live, staged: staged, plan: &Plan{}}
	m.plan.maker = m
	for _, part := range []func(context.Context) error{m.cutOff, m.lids, m.states, m.tables, m.sl2vl, m.multicast,
		m.links, m.hits} {
		if err := part(ctx); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	return m.plan, nil
}

// After returns the tables of the switches after the plan is carried out, including entries that the plan leaves
// unchanged. The returned tables have the old LIDs. O(switches x LIDs).
func (p *Plan) After(live *fabric.Tables) *fabric.Tables {
	after := *live
	top := uint16(0)
	for _, t := range p.Tops {
		top = max(top, t.New)
	}
	for _, b := range p.Blocks {
		if int(b.Num) >= live.LFT.Blocks() {
			top = max(top, b.Num*fabric.BlockSize)
		}
	}
	if after.LFT = live.LFT.Grown(top); after.LFT == live.LFT {
		after.LFT = live.LFT.Clone()
	}
	after.Top, after.Origin = slices.Clone(live.Top), "the plan"
	for _, t := range p.Tops {
		after.Top[t.Switch] = t.New
	}
	for i := range p.Blocks { // ascending by step
		b := &p.Blocks[i]
		copy(after.LFT.Block(b.Switch, int(b.Num)), b.New[:])
	}
	after.SL2VL, after.MFT = p.sl2vlsAfter(live.SL2VL, true), p.multicastAfter(live)
	return &after
}

// Between returns tables with the values that the switches hold after a part of the writes and that are neither the
// old nor the new ones: entries, multicast port sets and SL2VL tables. Each has at most one such value. All other
// values are the old or the new ones. Between returns nil if there is no such value. O(switches x LIDs).
func (p *Plan) Between(live *fabric.Tables) *fabric.Tables {
	if p.Extra == 0 && len(p.MFTs) == 0 && len(p.SL2VLs) == len(p.sl2vls) {
		return nil
	}
	t, found := p.After(live), false
	if top := max(live.LFT.MaxLID, t.LFT.MaxLID); live.LFT.MaxLID < top {
		grown := *live
		grown.LFT = live.LFT.Grown(top)
		live = &grown
	}
	after := t.LFT.Clone()
	for i := range p.Blocks {
		b := &p.Blocks[i]
		old, new := live.LFT.Block(b.Switch, int(b.Num)), after.Block(b.Switch, int(b.Num))
		for k, port := range b.New {
			if port != old[k] && port != new[k] {
				t.LFT.Block(b.Switch, int(b.Num))[k], found = port, true
			}
		}
	}
	for s := range t.Top {
		t.Top[s] = max(t.Top[s], live.Top[s])
	}
	if first := slices.IndexFunc(p.MFTs, func(b write.MFTBlock) bool { return b.Grow }); first > 0 {
		cut := *p
		cut.MFTs = p.MFTs[:first]
		t.MFT, found = cut.multicastAfter(live), true
	}
	if new := t.SL2VL; len(p.SL2VLs) > 0 {
		t.SL2VL = new.Clone()
		for _, l := range p.SL2VLs {
			if l.New != new.VLs(l.Node, l.In, l.Out) {
				t.SL2VL.Set(l.Node, l.In, l.Out, l.New)
				found = true
			}
		}
	}
	if !found {
		return nil
	}
	return t
}

// EntrySteps returns a table that holds steps instead of egress ports: the step in which the block of the entry
// changes, or 0 if the entry does not change. It returns nil if the plan has more steps than an entry can hold.
// O(switches x LIDs).
func (p *Plan) EntrySteps(live *fabric.Tables) *fabric.LFT {
	if p.Steps >= fabric.NoPath {
		return nil
	}
	top := uint16(0)
	for i := range p.Blocks {
		top = max(top, p.Blocks[i].Num*fabric.BlockSize)
	}
	turns := fabric.NewLFT(len(live.Fabric.Switches), top)
	for s := range live.Fabric.NumSwitches() {
		clear(turns.Row(s))
	}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		row := turns.Block(b.Switch, int(b.Num))
		for k := range row {
			if b.Old[k] != b.New[k] {
				row[k] = uint8(b.Step)
			}
		}
	}
	return turns
}
