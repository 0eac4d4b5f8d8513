// SPDX-License-Identifier: Apache-2.0

package trees

import (
	"bytes"
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
)

// Forest are the trees of all LIDs of one set of tables, laid out so that what a
// failure does to them is found by looking at that alone. It is read-only, and
// takes two bytes for each switch and LID.
type Forest struct {
	Tables *fabric.Tables
	Graph  *routing.Graph
	Wires  walk.Wires
	// At are the switches of the ports that have the LIDs, or on which those hang,
	// None for LIDs that no port has, and Local the ports that lead to them from there.
	At    []fabric.SwitchIndex
	Local []uint8
	// columns has the entries of all switches for LID 0, then for LID 1, and so on,
	// depths the links from there to the switch of the LID.
	columns, depths []uint8
}

// Far is the depth of a switch whose packets do not arrive, or over more than
// [walk.MaxHops] links.
const Far = 0xff

// NewForest lays out the trees of t. O(switches x LIDs) on all processors.
func NewForest(ctx context.Context, t *fabric.Tables) (*Forest, error) {
	n, lids := len(t.Fabric.Switches), int(t.LFT.MaxLID)+1
	f := &Forest{Tables: t, Graph: routing.NewGraph(t.Fabric), Wires: walk.NewWires(t), columns: make([]uint8, n*lids), depths: make([]uint8, n*lids)}
	f.At, f.Local = make([]fabric.SwitchIndex, lids), make([]uint8, lids)
	for lid := range f.At {
		f.At[lid] = fabric.None
		if port := t.Fabric.PortByLID(uint16(lid)); port != fabric.None {
			f.At[lid], f.Local[lid] = t.Fabric.AttachedSwitch(port)
		}
	}
	err := routing.ForEach(ctx, (lids+lot-1)/lot, nil, func(_, i int) {
		var some [lot]uint16
		var columns [lot][]uint8
		end := min(lids, (i+1)*lot)
		for lid := i * lot; lid < end; lid++ {
			some[lid-i*lot], columns[lid-i*lot] = uint16(lid), f.Column(uint16(lid))
		}
		walk.Columns(t, some[:end-i*lot], columns[:end-i*lot])
		var way []fabric.SwitchIndex
		for _, lid := range some[:end-i*lot] {
			way = f.measure(lid, way)
		}
	})
	return f, err
}

// measure finds the depths of one LID. Way is scratch memory.
func (f *Forest) measure(lid uint16, way []fabric.SwitchIndex) []fabric.SwitchIndex {
	return Depths(f.Wires, f.Column(lid), f.At[lid], f.Depth(lid), way)
}

// Depths finds over how many links packets reach a switch, None for nowhere, by the
// entries of all switches for a LID, [Far] where they do not. It fills depth. Way is
// scratch memory, which it returns. O(switches).
func Depths(wires walk.Wires, column []uint8, at fabric.SwitchIndex, depth []uint8, way []fabric.SwitchIndex) []fabric.SwitchIndex {
	const unknown, underway = Far - 1, Far - 2
	for s := range depth {
		depth[s] = unknown
	}
	if at != fabric.None {
		depth[at] = 0
	}
	for s := range depth {
		x := fabric.SwitchIndex(s)
		for way = way[:0]; x >= 0 && depth[x] == unknown; x = wires.Next(x, column[x]) {
			depth[x] = underway
			way = append(way, x)
		}
		d := uint8(Far)
		if x >= 0 && depth[x] != underway {
			d = depth[x]
		}
		for _, sw := range slices.Backward(way) {
			if d != Far {
				d++
			}
			if d >= walk.MaxHops {
				d = Far
			}
			depth[sw] = d
		}
	}
	return way
}

// Depth is over how many links packets of all switches reach the switch of a LID
// up to the tables' MaxLID, [Far] where they do not.
func (f *Forest) Depth(lid uint16) []uint8 {
	n := len(f.Tables.Fabric.Switches)
	return f.depths[int(lid)*n : (int(lid)+1)*n : (int(lid)+1)*n]
}

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

// Against says in what tables differ from those of the forest. It is for tables
// that [fabric.LFT.Patched] made of those of the forest, for their fabric or a
// part of it; ok is false for all else. O(switches + edits).
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
		if was.Known[sw] != now.Known[sw] || was.Top[sw] != now.Top[sw] && !emptyFrom(was.LFT.Row(sw), min(was.Top[sw], now.Top[sw])) {
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

// emptyFrom says whether a row has no entry above a LID.
func emptyFrom(row []uint8, top uint16) bool {
	for _, port := range row[min(len(row), int(top)+1):] {
		if port != fabric.NoPath {
			return false
		}
	}
	return true
}

// Change is a LID to which packets of some switches take another way.
type Change struct {
	LID uint16
	// Switches are these, those that are cut off among them.
	Switches []fabric.SwitchIndex
	// Old are the entries of all switches as they were.
	Old []uint8

	w *Walker
}

// Walker finds what differs from a forest. It is scratch memory for one goroutine.
type Walker struct {
	*Forest
	// Looked counts the entries that were looked at.
	Looked int

	dead []uint64
	// edits are the new entries of switches, with the round that they are of.
	edits  []uint64
	seen   []uint32
	round  uint32
	seeds  []uint64
	change Change
	path   []uint32
}

// NewWalker makes scratch memory.
func (f *Forest) NewWalker() *Walker {
	n := len(f.Tables.Fabric.Switches)
	return &Walker{Forest: f, dead: make([]uint64, len(f.Wires)/64), edits: make([]uint64, n), seen: make([]uint32, n)}
}

// Each calls visit for every LID of whose tree something is other, in ascending
// order. The change may not be kept. It stops where visit returns false.
// O(removed links x LIDs + switches and their links of which something is other).
func (w *Walker) Each(d Difference, visit func(*Change) bool) {
	w.seeds = w.seeds[:0]
	for _, e := range d.Edits {
		w.seeds = append(w.seeds, seed(e.LID, e.Switch, true, e.Port))
	}
	w.mark(d.Removed, true)
	defer w.mark(d.Removed, false)
	slices.Sort(w.seeds)
	for rest := w.seeds; len(rest) > 0; {
		lid := rest[0] >> 48
		n := 1
		for n < len(rest) && rest[n]>>48 == lid {
			n++
		}
		if !visit(w.grow(rest[:n])) {
			return
		}
		rest = rest[n:]
	}
}

// seed packs a switch whose packets to a LID go elsewhere, in the order in which
// they are wanted, and its new entry where it has one.
func seed(lid uint16, sw fabric.SwitchIndex, edited bool, port uint8) uint64 {
	s := uint64(lid)<<48 | uint64(sw)<<16 | uint64(port)
	if edited {
		s |= 1 << 8
	}
	return s
}

// mark notes links as dead, and the entries over them as seeds, or takes that back.
func (w *Walker) mark(links []fabric.Link, dead bool) {
	f := w.Tables.Fabric
	for _, l := range links {
		for _, p := range [2]fabric.PortIndex{l.A, l.B} {
			sw := f.Nodes[f.Ports[p].Node].Switch
			if sw == fabric.None {
				continue
			}
			slot := uint32(sw)<<8 | uint32(f.Ports[p].Num)
			w.dead[slot>>6] &^= 1 << (slot & 63)
			if dead {
				w.dead[slot>>6] |= 1 << (slot & 63)
				w.over(sw, f.Ports[p].Num)
			}
		}
	}
}

// over makes seeds of the entries of a switch that lead out of a port.
func (w *Walker) over(sw fabric.SwitchIndex, port uint8) {
	row := w.Tables.LFT.Row(sw)
	row = row[:min(int(w.Tables.Top[sw]), int(w.Tables.LFT.MaxLID))+1]
	w.Looked += len(row)
	for from := 0; ; {
		i := bytes.IndexByte(row[from:], port)
		if i < 0 {
			return
		}
		from += i + 1
		w.seeds = append(w.seeds, seed(uint16(from-1), sw, false, 0))
	}
}

// grow finds the switches whose packets pass those of the seeds.
func (w *Walker) grow(seeds []uint64) *Change {
	c := &w.change
	c.LID, c.w, c.Switches = uint16(seeds[0]>>48), w, c.Switches[:0]
	c.Old = w.Column(c.LID)
	w.round++
	for _, s := range seeds {
		sw := fabric.SwitchIndex(s >> 16)
		if s>>8&1 != 0 {
			w.edits[sw] = uint64(w.round)<<8 | s&0xff
		}
		w.meet(sw)
	}
	for i := 0; i < len(c.Switches); i++ {
		links := w.Graph.Of(c.Switches[i])
		w.Looked += len(links)
		for _, l := range links {
			if c.Old[l.Peer] == l.PeerPort {
				w.meet(l.Peer)
			}
		}
	}
	return c
}

func (w *Walker) meet(sw fabric.SwitchIndex) {
	if w.seen[sw] != w.round {
		w.seen[sw] = w.round
		w.change.Switches = append(w.change.Switches, sw)
	}
}

// Has says whether the packets of a switch are among those that take another way.
func (c *Change) Has(sw int32) bool { return c.w.seen[sw] == c.w.round }

// OldPath are the ports by which packets of a switch left one switch after the
// other, and where they ended: [walk.Nowhere] also in a loop. Port p of switch s
// is s<<8|p. The list holds until the next call.
func (c *Change) OldPath(sw fabric.SwitchIndex) (ports []uint32, end walk.Target) {
	return c.w.follow(c.Old, sw, false)
}

// NewPath is [Change.OldPath] of now.
func (c *Change) NewPath(sw fabric.SwitchIndex) (ports []uint32, end walk.Target) {
	return c.w.follow(c.Old, sw, true)
}

// PathTo is the path of a LID whose tree is the same, as [Change.OldPath] has it.
func (w *Walker) PathTo(lid uint16, sw fabric.SwitchIndex) (ports []uint32, end walk.Target) {
	return w.follow(w.Column(lid), sw, false)
}

func (w *Walker) follow(column []uint8, sw fabric.SwitchIndex, now bool) ([]uint32, walk.Target) {
	w.path = w.path[:0]
	x := sw
	for x >= 0 {
		if len(w.path) > len(column) {
			x = walk.Nowhere
			break
		}
		slot := uint32(x)<<8 | uint32(column[x])
		if now && w.edits[x]>>8 == uint64(w.round) {
			slot = uint32(x)<<8 | uint32(w.edits[x]&0xff)
		}
		w.path = append(w.path, slot)
		x = w.Wires[slot]
		if now && w.dead[slot>>6]>>(slot&63)&1 != 0 {
			x = walk.Nowhere
		}
	}
	w.Looked += len(w.path)
	return w.path, x
}
