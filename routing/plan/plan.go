// SPDX-License-Identifier: Apache-2.0

// Package plan says what must be written to turn the live subnet into the one
// that staged tables are for: LIDs, LinearFDBTops, blocks of forwarding tables
// and port states. It writes nothing.
package plan

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/diff"
)

// Errors of [Make].
var (
	// ErrStale says that staged tables are for switches that the live subnet has not.
	ErrStale = errors.New("the staged tables are not for the live subnet")
	// ErrLIDTaken says that a LID to assign belongs to a port which keeps it.
	ErrLIDTaken = errors.New("LID is taken")
)

// Plan are the writes, each list in the order in which to write it, and the
// lists in this order. Switches and ports are indexes of the live fabric.
type Plan struct {
	LIDs []LID
	Tops []Top
	// Blocks are ordered by number and then by switch, as OpenSM sends them.
	Blocks []Block
	// States are ports to bring up, in the order of their index.
	States []State

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
	Port           int32
	Old, New       uint16
	OldSM, NewSM   uint16 // the SM's LID, as the port knows it
	OldLMC, NewLMC uint8
}

// Top sets a switch's LinearFDBTop.
type Top struct {
	Switch   int32
	Old, New uint16
}

// Block sets 64 entries of a switch's forwarding table, those of LIDs 64*Num to
// 64*Num+63. The entries are shared and read-only.
type Block struct {
	Switch int32
	Num    uint16
	// Old is all NoPath where the block lies above the live top.
	Old, New *[fabric.BlockSize]uint8
}

// State brings one end of a link up.
type State struct {
	Port     int32
	Old, New mad.PortState
}

// Switch sums up what is written to a switch.
type Switch struct {
	Switch int32
	// Top says that the LinearFDBTop changes.
	Top    bool
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
	// Writes is the sum of LIDs, tops, blocks and ports.
	Writes   int `json:"writes"`
	LIDs     int `json:"lids"`
	Tops     int `json:"tops"`
	Blocks   int `json:"blocks"`
	Ports    int `json:"ports"`
	Switches int `json:"switches"`
	Entries  int `json:"entries"`
	CutOff   int `json:"cut_off"`
	Kept     int `json:"kept"`
	Unread   int `json:"unread"`
}

// Empty says that there is nothing to write.
func (p *Plan) Empty() bool {
	return len(p.LIDs) == 0 && len(p.Tops) == 0 && len(p.Blocks) == 0 && len(p.States) == 0
}

// Totals counts.
func (p *Plan) Totals() Totals {
	t := Totals{
		LIDs: len(p.LIDs), Tops: len(p.Tops), Blocks: len(p.Blocks), Ports: len(p.States), Switches: len(p.Switches),
		CutOff: len(p.CutOff), Kept: len(p.Kept), Unread: len(p.Unread),
	}
	t.Writes = t.LIDs + t.Tops + t.Blocks + t.Ports
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
// one has not, and with [ErrLIDTaken] where a LID to assign belongs to a live
// port that the staged subnet does not reach. O(switches x LIDs).
func Make(live, staged *fabric.Tables) (*Plan, error) {
	m := maker{live: live, staged: staged, plan: &Plan{}}
	for _, step := range []func() error{m.cutOff, m.lids, m.tables, m.states} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	m.links()
	return m.plan, nil
}

// Reverse is the plan that takes p back: old and new exchanged. LIDs that were
// not assigned before stay, for LID 0 cannot be written, and so do port states.
func (p *Plan) Reverse() *Plan {
	r := &Plan{Switches: p.Switches}
	for _, l := range p.LIDs {
		if l.Old != 0 {
			r.LIDs = append(r.LIDs, LID{l.Port, l.New, l.Old, l.NewSM, l.OldSM, l.NewLMC, l.OldLMC})
		}
	}
	for _, t := range p.Tops {
		r.Tops = append(r.Tops, Top{t.Switch, t.New, t.Old})
	}
	for _, b := range p.Blocks {
		r.Blocks = append(r.Blocks, Block{b.Switch, b.Num, b.New, b.Old})
	}
	return r
}
