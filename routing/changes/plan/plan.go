// SPDX-License-Identifier: Apache-2.0

// Package plan says what must be written to turn the live subnet into the one
// that staged tables are for: LIDs, port states, LinearFDBTops and blocks of
// forwarding tables. It writes nothing.
//
// Blocks are written in steps such that no packet loops and no pair of ports that
// is connected before and after is cut off in between, in whatever order the
// blocks of a step are written. For each destination each switch has its old entry
// or its new one at any time. Where the entries of one block must not change
// together, the block is written more than once. Only where a LinearFDBTop changes
// may packets loop for a while: those to LIDs above the old or the new one, from
// where they do not arrive before or do not arrive after.
//
// Lanes change before the forwarding tables or behind them, see [Plan.OrderLanes].
// Of multicast, no packet circles or comes twice: the tree of a group loses its old
// branches before it grows new ones, and between the two members may not hear one
// another.
package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/diff"
)

// Errors of [Make].
var (
	// ErrStale says that staged tables are for switches that the live subnet has not.
	ErrStale = errors.New("the staged tables are not for the live subnet")
	// ErrLIDTaken says that a LID to assign belongs to a port which keeps it.
	ErrLIDTaken = errors.New("LID is taken")
)

// Plan are the writes, to be written in this order: LIDs, states, the tops that
// rise, the lanes that are not late, the blocks step by step, the tops that fall, the
// lanes that are late, the multicast blocks that do not grow, and those that do.
// Nodes, switches and ports are indexes of the live fabric.
type Plan struct {
	LIDs []LID
	// States are ports to bring up, in the order of their index.
	States []State
	Tops   []Top
	// Blocks are ordered by step, then by number and then by switch, as OpenSM sends
	// them.
	Blocks []Block
	// Lanes are ordered by Late, MFTs by Grow. They are empty where the staged tables
	// say nothing of them.
	Lanes []Lanes
	MFTs  []MFTBlock
	// Steps is the number of steps of the blocks, Extra how many of these are written
	// again in a later step.
	Steps, Extra int
	// Hit are the pairs to which no order could be kind.
	Hit Hit
	// lanes are the mappings before and after all is written.
	lanes []Lanes

	// Switches sum up tops and blocks, in the order of their index.
	Switches []Switch
	// CutOff are nodes of the live subnet that the staged one does not reach. They
	// are not written and keep what they hold.
	CutOff []Node
	// Kept are switches that the staged tables say nothing of, Unread those whose
	// live tables were not read. They are not written.
	Kept, Unread []Node
	// Warnings say what else the staged fabric has and the live one has not.
	Warnings []string
}

// LID gives LIDs to an end port.
type LID struct {
	Port           fabric.PortIndex
	Old, New       uint16
	OldSM, NewSM   uint16 // the SM's LID, as the port knows it
	OldLMC, NewLMC uint8
}

// Top sets a switch's LinearFDBTop.
type Top struct {
	Switch   fabric.SwitchIndex
	Old, New uint16
}

// Falls says that the top is to be written after the blocks, and not before them.
func (t Top) Falls() bool { return t.New < t.Old }

// Block sets 64 entries of a switch's forwarding table, those of LIDs 64*Num to
// 64*Num+63. The entries are shared and read-only.
type Block struct {
	Switch fabric.SwitchIndex
	Num    uint16
	// Step, from 1 up, begins when all blocks of the step before are written.
	Step int
	// Old is all NoPath where the block lies above the live top. New may be a mixture
	// of old and staged entries, if the block is written again.
	Old, New *[fabric.BlockSize]uint8
}

// State brings one end of a link up.
type State struct {
	Port     fabric.PortIndex
	Old, New mad.PortState
}

// Switch sums up what is written to a switch.
type Switch struct {
	Switch fabric.SwitchIndex
	// Top says that the LinearFDBTop changes.
	Top bool
	// Blocks counts writes.
	Blocks int
	// Entries counts the entries that come to mean something else.
	Entries int
}

// Node is a node by its escaped name.
type Node struct {
	Name   string    `json:"name"`
	GUID   diff.GUID `json:"guid"`
	Switch bool      `json:"switch"`
}

// Totals count what a plan writes and what it leaves.
type Totals struct {
	// Writes is the sum of LIDs, tops, blocks, lanes, multicast blocks and ports.
	Writes   int `json:"writes"`
	LIDs     int `json:"lids"`
	Tops     int `json:"tops"`
	Blocks   int `json:"blocks"`
	Lanes    int `json:"sl2vl_tables"`
	MFTs     int `json:"mft_blocks"`
	Ports    int `json:"ports"`
	Switches int `json:"switches"`
	Entries  int `json:"entries"`
	// Steps and Extra are those of the plan, Hit counts pairs.
	Steps  int   `json:"steps"`
	Extra  int   `json:"extra_blocks"`
	Hit    int64 `json:"pairs_hit"`
	Groups int   `json:"groups_hit"`
	CutOff int   `json:"cut_off"`
	Kept   int   `json:"kept"`
	Unread int   `json:"unread"`
}

// Empty says that there is nothing to write.
func (p *Plan) Empty() bool {
	return len(p.LIDs) == 0 && len(p.Tops) == 0 && len(p.Blocks) == 0 && len(p.States) == 0 && len(p.Lanes) == 0 && len(p.MFTs) == 0
}

// Totals counts.
func (p *Plan) Totals() Totals {
	t := Totals{
		LIDs: len(p.LIDs), Tops: len(p.Tops), Blocks: len(p.Blocks), Ports: len(p.States), Switches: len(p.Switches), Lanes: len(p.Lanes), MFTs: len(p.MFTs),
		Groups: len(p.Hit.Groups), Steps: p.Steps, Extra: p.Extra, Hit: p.Hit.Pairs(), CutOff: len(p.CutOff), Kept: len(p.Kept), Unread: len(p.Unread),
	}
	t.Writes = t.LIDs + t.Tops + t.Blocks + t.Lanes + t.MFTs + t.Ports
	for _, s := range p.Switches {
		t.Entries += s.Entries
	}
	return t
}

// Make plans the way from live tables to staged ones. Nodes are matched by GUID,
// so the staged fabric may be a what-if of the live one or stand alone; only
// what it has in its subnet is written.
//
// It fails with [ErrStale] where the staged subnet has a switch that the live
// one has not, with [ErrLIDTaken] where a LID to assign belongs to a live port
// that the staged subnet does not reach, and with ctx's error where ctx ends
// first. On all processors O(switches x LIDs), and for each LID whose entries form
// loops with the staged ones that times their steps.
func Make(ctx context.Context, live, staged *fabric.Tables) (*Plan, error) {
	m := maker{live: live, staged: staged, plan: &Plan{}}
	for _, part := range []func(context.Context) error{m.cutOff, m.lids, m.states, m.tables, m.lanes, m.multicast, m.links, m.hits} {
		if err := part(ctx); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	return m.plan, nil
}

// Reverse is the plan that takes p back, safe step by step as p is: old and new
// exchanged. LIDs that were not assigned before stay, for LID 0 cannot be written,
// and so do port states.
func (p *Plan) Reverse() *Plan {
	r := &Plan{Switches: p.Switches, Steps: p.Steps, Extra: p.Extra, Hit: p.Hit}
	for _, l := range p.LIDs {
		if l.Old != 0 {
			r.LIDs = append(r.LIDs, LID{l.Port, l.New, l.Old, l.NewSM, l.OldSM, l.NewLMC, l.OldLMC})
		}
	}
	for _, t := range p.Tops {
		r.Tops = append(r.Tops, Top{t.Switch, t.New, t.Old})
	}
	for _, b := range p.Blocks {
		r.Blocks = append(r.Blocks, Block{b.Switch, b.Num, p.Steps + 1 - b.Step, b.New, b.Old})
	}
	slices.SortStableFunc(r.Blocks, func(a, b Block) int { return cmp.Compare(a.Step, b.Step) })
	for _, l := range slices.Backward(p.Lanes) {
		r.Lanes = append(r.Lanes, Lanes{l.Node, l.In, l.Out, !l.Late, l.New, l.Old})
	}
	for _, l := range p.lanes {
		r.lanes = append(r.lanes, Lanes{Node: l.Node, In: l.In, Out: l.Out, Old: l.New, New: l.Old})
	}
	for _, b := range slices.Backward(p.MFTs) {
		r.MFTs = append(r.MFTs, MFTBlock{b.Switch, b.Num, b.Position, !b.Grow, b.New, b.Old})
	}
	return r
}
