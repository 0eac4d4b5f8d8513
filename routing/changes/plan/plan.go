// SPDX-License-Identifier: Apache-2.0

// Package plan says what must be written to turn the live subnet into the one that staged tables are for:
// LIDs, port states, LinearFDBTops and blocks of forwarding tables. It writes nothing.
//
// Blocks are written in steps such that no packet loops and no pair of ports that is connected before and after
// is cut off in between, in whatever order the blocks of a step are written. For each destination each switch has
// its old entry or its new one at any time. Where the entries of one block must not change together, the block is
// written more than once. Only where a LinearFDBTop changes may packets loop for a while: those to LIDs above the
// old or the new one, from where they do not arrive before or do not arrive after.
//
// VLs change before the forwarding tables or behind them, see [Plan.OrderSL2VLs]. Of multicast, no packet circles
// or comes twice: the tree of a group loses its old branches before it grows new ones, and in between members may
// not hear one another.
package plan

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/routing/changes/diff"
)

// Errors of [Make].
var (
	// ErrStale says that staged tables are for switches that the live subnet has not.
	ErrStale = errors.New("the staged tables are not for the live subnet")
	// ErrLIDTaken says that a LID to assign belongs to a port which keeps it.
	ErrLIDTaken = errors.New("LID is taken")
)

// Plan is what to write, in the order that [write.List] says, and what comes of it.
// Nodes, switches and ports are indexes of the live fabric.
type Plan struct {
	// List has blocks ordered by step, then by number and then by switch, as OpenSM sends them. There are no
	// SL2VLs or MFTs where the staged tables say nothing of them.
	write.List
	// Steps is the number of steps of the blocks, from 1 up, Extra how many blocks are written again later.
	Steps, Extra int
	// Hit are the pairs to which no order could be kind.
	Hit Hit
	// sl2vls are the mappings before and after all is written.
	sl2vls []write.SL2VL

	// Switches sum up tops and blocks, in the order of their index.
	Switches []Switch
	// CutOff are nodes of the live subnet that the staged one does not reach. They keep what they hold.
	CutOff []Node
	// Kept are switches that the staged tables say nothing of, Unread those whose
	// live tables were not read. They are not written.
	Kept, Unread []Node
	// Warnings say what else the staged fabric has and the live one has not.
	Warnings []string
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
	Name   string
	GUID   diff.GUID
	Switch bool
}

// Totals count what a plan writes and what it leaves.
type Totals struct {
	// Writes is the sum of LIDs, tops, blocks, VLs, multicast blocks and ports.
	Writes   int
	LIDs     int
	Tops     int
	Blocks   int
	SL2VLs   int
	MFTs     int
	Ports    int
	Switches int
	Entries  int
	// Steps and Extra are those of the plan, Hit counts pairs.
	Steps  int
	Extra  int
	Hit    int64
	Groups int
	CutOff int
	Kept   int
	Unread int
}

// Totals counts.
func (p *Plan) Totals() Totals {
	t := Totals{
		Writes: p.Len(), LIDs: len(p.LIDs), Tops: len(p.Tops), Blocks: len(p.Blocks), Ports: len(p.States),
		Switches: len(p.Switches), SL2VLs: len(p.sl2vls), MFTs: len(p.MFTs),
		Groups: len(p.Hit.Groups), Steps: p.Steps, Extra: p.Extra, Hit: p.Hit.Pairs(), CutOff: len(p.CutOff),
		Kept: len(p.Kept), Unread: len(p.Unread),
	}
	for _, s := range p.Switches {
		t.Entries += s.Entries
	}
	return t
}

// Make plans the way from live tables to staged ones. Nodes are matched by GUID, so the staged fabric may be
// a what-if of the live one or stand alone; only what it has in its subnet is written.
//
// It fails with [ErrStale] where the staged subnet has a switch that the live one has not, with [ErrLIDTaken]
// where a LID to assign belongs to a live port that the staged subnet does not reach, and with ctx's error
// where ctx ends first. On all processors O(switches x LIDs), and for each LID whose entries form loops with
// the staged ones that times their steps.
func Make(ctx context.Context, live, staged *fabric.Tables) (*Plan, error) {
	m := maker{live: live, staged: staged, plan: &Plan{}}
	for _, part := range []func(context.Context) error{m.cutOff, m.lids, m.states, m.tables, m.sl2vl, m.multicast,
		m.links, m.hits} {
		if err := part(ctx); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	return m.plan, nil
}
