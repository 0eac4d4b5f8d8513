// SPDX-License-Identifier: Apache-2.0

// Package trees processes forwarding tables by destination LID, on all processors.
//
// A switch forwards by the destination alone, so the paths of all sources to one LID form a tree over the switches.
// Sources that are attached to one switch share their path and form a group. Therefore results for all pairs of ports
// take O(LIDs x switches) instead of O(pairs x hops).
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

// Forest holds the trees of all LIDs of one set of tables, in a form from which the effect of a failure is found
// quickly. A Forest is read-only. It takes one byte for each switch and LID. It takes as much again for a LID if
// packets use other hop counts to it than to the first LID on the same switch.
type Forest struct {
	Tables *fabric.Tables
	Graph  *routing.Graph
	Wires  walk.Wires
	// At holds, for each LID, the switch that owns the LID or to which the LID's port is attached. It is None for
	// unused LIDs. Local is the port of that switch that leads to the port of the LID.
	At    []fabric.SwitchIndex
	Local []uint8
	// columns holds the entries of all switches for LID 0, then for LID 1, and so on.
	columns []uint8
	// depths holds, for each LID, the number of links from each switch to the LID's switch. LIDs of one switch share a
	// slice if their depths are equal.
	depths [][]uint8
}

// Far is the depth of a switch whose packets do not arrive, or arrive only over more than [walk.MaxHops] links.
const Far = 0xff

// NewForest computes the trees of t. O(switches x LIDs) on all processors.
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

// shared returns a permanent copy of depth. If the first LID on the same switch has equal depths, it returns the slice
// of this LID.
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

// Depths computes the number of links over which packets from each switch reach one switch (argument at). The argument
// column holds the entries of all switches for a LID. The argument at is None if the LID has no switch. The number is
// [Far] where packets do not arrive. Depths fills the slice depth. The slice path is scratch memory, which Depths
// returns. O(switches).
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

// Depth returns the number of links from each switch to the switch of a LID, along the path of the packets. The number
// is [Far] where packets do not arrive. The LID must not exceed the tables' MaxLID.
func (f *Forest) Depth(lid uint16) []uint8 { return f.depths[lid] }

// Column returns the entries of all switches for a LID. The LID must not exceed the tables' MaxLID.
func (f *Forest) Column(lid uint16) []uint8 {
	n := len(f.Tables.Fabric.Switches)
	return f.columns[int(lid)*n : (int(lid)+1)*n : (int(lid)+1)*n]
}

// Difference describes how tables and their fabric differ from the tables and fabric of a forest.
type Difference struct {
	Removed []fabric.Link
	// Edits lists the changed entries, each once.
	Edits []fabric.Edit
}

// Against returns the difference of new tables from the tables of the forest. The new tables must come from
// [fabric.LFT.Patched] on the tables of the forest, for the same fabric or a part of it. Otherwise ok is false.
// O(switches + edits).
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

// emptyFrom reports whether a row has no entries for LIDs above a LID.
func emptyFrom(row []uint8, top uint16) bool {
	return !slices.ContainsFunc(row[min(len(row), int(top)+1):], func(port uint8) bool { return port != fabric.NoPath })
}
