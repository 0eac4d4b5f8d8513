// SPDX-License-Identifier: Apache-2.0

// Package trees goes through forwarding tables one destination LID at a time, on all processors.
//
// A switch forwards by the destination alone, so that the paths of all sources to one LID make a tree over
// the switches. Sources that are attached to one switch share their path, and are a group. What holds for all
// pairs of ports is so found in O(LIDs x switches) instead of O(pairs x hops).
package trees

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
)

// Forest are the trees of all LIDs of one set of tables, laid out so that what a failure does to them is
// found by looking at that alone. It is read-only, and takes a byte for each switch and LID, and as much again for the
// LIDs to which packets take other numbers of hops than to the first one on the same switch.
type Forest struct {
	Tables *fabric.Tables
	Graph  *routing.Graph
	Wires  walk.Wires
	// At are the switches of the ports that have the LIDs, or to which those are attached,
	// None for LIDs that no port has, and Local the ports that lead to them from there.
	At    []fabric.SwitchIndex
	Local []uint8
	// columns has the entries of all switches for LID 0, then for LID 1, and so on.
	columns []uint8
	// depths are by LID the links from all switches to that of the LID. LIDs of one switch share them where they are
	// the same.
	depths [][]uint8
}

// Far is the depth of a switch whose packets do not arrive, or over more than [walk.MaxHops] links.
const Far = 0xff

// NewForest lays out the trees of t. O(switches x LIDs) on all processors.
func NewForest(ctx context.Context, t *fabric.Tables) (*Forest, error) {
	n, lids := len(t.Fabric.Switches), int(t.LFT.MaxLID)+1
	f := &Forest{
		Tables: t, Graph: routing.NewGraph(t.Fabric), Wires: walk.NewWires(t), columns: hugepages.Make[uint8](n * lids),
		depths: make([][]uint8, lids),
	}
	f.At, f.Local = make([]fabric.SwitchIndex, lids), make([]uint8, lids)
	for lid := range f.At {
		f.At[lid] = fabric.None
		if port := t.Fabric.PortByLID(uint16(lid)); port != fabric.None {
			f.At[lid], f.Local[lid] = t.Fabric.AttachedSwitch(port)
		}
	}
	first := make([]atomic.Pointer[[]uint8], n)
	err := routing.ForEach(ctx, (lids+lot-1)/lot, nil, func(_, i int) {
		var some [lot]uint16
		var columns [lot][]uint8
		end := min(lids, (i+1)*lot)
		for lid := i * lot; lid < end; lid++ {
			some[lid-i*lot], columns[lid-i*lot] = uint16(lid), f.Column(uint16(lid))
		}
		walk.Columns(t, some[:end-i*lot], columns[:end-i*lot])
		var path []fabric.SwitchIndex
		depth := make([]uint8, n)
		for _, lid := range some[:end-i*lot] {
			path = Depths(f.Wires, f.Column(lid), f.At[lid], depth, path)
			f.depths[lid] = f.shared(lid, depth, first)
		}
	})
	return f, err
}

// shared is a copy of depths that stays, that of the first LID on the same switch where it is the same.
func (f *Forest) shared(lid uint16, depth []uint8, first []atomic.Pointer[[]uint8]) []uint8 {
	at := f.At[lid]
	if at == fabric.None {
		return slices.Clone(depth)
	}
	if first[at].Load() == nil {
		own := slices.Clone(depth)
		first[at].CompareAndSwap(nil, &own)
	}
	if made := *first[at].Load(); bytes.Equal(made, depth) {
		return made
	}
	return slices.Clone(depth)
}

// Depths finds over how many links packets reach a switch, None for nowhere, by the entries of all switches
// for a LID, [Far] where they do not. It fills depth. Way is scratch memory, which it returns. O(switches).
func Depths(wires walk.Wires, column []uint8, at fabric.SwitchIndex, depth []uint8,
	path []fabric.SwitchIndex) []fabric.SwitchIndex {
	const unknown, underway = Far - 1, Far - 2
	for s := range depth {
		depth[s] = unknown
	}
	if at != fabric.None {
		depth[at] = 0
	}
	for s := range depth {
		x := fabric.SwitchIndex(s)
		for path = path[:0]; x >= 0 && depth[x] == unknown; x = wires.Next(x, column[x]) {
			depth[x] = underway
			path = append(path, x)
		}
		d := uint8(Far)
		if x >= 0 && depth[x] != underway {
			d = depth[x]
		}
		for _, sw := range slices.Backward(path) {
			if d != Far {
				d++
			}
			if d >= walk.MaxHops {
				d = Far
			}
			depth[sw] = d
		}
	}
	return path
}

// Depth is over how many links packets of all switches reach the switch of a LID
// up to the tables' MaxLID, [Far] where they do not.
func (f *Forest) Depth(lid uint16) []uint8 { return f.depths[lid] }

// Column are the entries of all switches for a LID up to the tables' MaxLID.
func (f *Forest) Column(lid uint16) []uint8 {
	n := len(f.Tables.Fabric.Switches)
	return f.columns[int(lid)*n : (int(lid)+1)*n : (int(lid)+1)*n]
}

// Difference is in what tables and their fabric differ from those of a forest.
type Difference struct {
	Removed []fabric.Link
	// Edits are the entries that are others, each once.
	Edits []fabric.Edit
}

// Against says in what tables differ from those of the forest. It is for tables that [fabric.LFT.Patched] made of
// those of the forest, for their fabric or a part of it; ok is false for all else. O(switches + edits).
func (f *Forest) Against(now *fabric.Tables) (d Difference, ok bool) {
	was := f.Tables
	d.Removed, ok = fabric.Removed(was.Fabric, now.Fabric)
	if !ok {
		return d, false
	}
	if d.Edits, ok = now.LFT.EditsOf(was.LFT); !ok {
		return d, false
	}
	for sw := range now.Fabric.NumSwitches() {
		if !now.Fabric.SwitchNode(sw).InSubnet {
			continue
		}
		if was.Known[sw] != now.Known[sw] || was.Top[sw] != now.Top[sw] &&
			!emptyFrom(was.LFT.Row(sw), min(was.Top[sw], now.Top[sw])) {
			return d, false
		}
	}
	for _, e := range d.Edits {
		if e.LID > now.Top[e.Switch] || e.LID > was.LFT.MaxLID {
			return d, false
		}
	}
	return d, true
}

// emptyFrom reports whether a row has no entry above a LID.
func emptyFrom(row []uint8, top uint16) bool {
	return !slices.ContainsFunc(row[min(len(row), int(top)+1):], func(port uint8) bool { return port != fabric.NoPath })
}
