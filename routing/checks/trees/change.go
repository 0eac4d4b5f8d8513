// SPDX-License-Identifier: Apache-2.0

package trees

import (
	"bytes"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// Change is a LID to which the packets of some switches take another path than before.
type Change struct {
	LID uint16
	// Switches lists the switches whose packets take another path, including switches that now have no path.
	Switches []fabric.SwitchIndex
	// Old holds the previous entries of all switches for the LID.
	Old []uint8

	w *Walker
}

// Walker finds the paths that differ from a forest. It is scratch memory for one goroutine.
type Walker struct {
	*Forest
	// Looked counts the entries and links that were examined.
	Looked int

	dead []uint64
	// edits holds, for each switch, its new entry and the round in which this entry applies.
	edits  []uint64
	seen   []uint32
	round  uint32
	seeds  []uint64
	change Change
	path   []uint32
}

// NewWalker returns new scratch memory.
func (f *Forest) NewWalker() *Walker {
	n := len(f.Tables.Fabric.Switches)
	return &Walker{Forest: f, dead: make([]uint64, len(f.Wires)/64), edits: make([]uint64, n), seen: make([]uint32, n)}
}

// Each calls the function visit for every LID with a changed tree, in ascending order. The function visit must not keep
// the change. Each stops if the function visit returns false. O(removed links x LIDs + affected switches and their
// links).
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

// seed packs a LID, a switch whose packets to the LID take another path, and the switch's new entry if the argument
// edited is set. Seeds are processed in ascending order.
func seed(lid uint16, sw fabric.SwitchIndex, edited bool, port uint8) uint64 {
	s := uint64(lid)<<48 | uint64(sw)<<16 | uint64(port)
	if edited {
		s |= 1 << 8
	}
	return s
}

// mark marks the ports of links as dead, and adds the entries that use these ports as seeds. If the argument dead is
// false, it removes the marks.
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

// over adds as seeds the entries of a switch that use a port.
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

// grow finds all switches whose packets to the LID of the seeds pass a switch of the seeds.
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
	depth := w.Depth(c.LID)
	for i := 0; i < len(c.Switches); i++ {
		links, above := w.Graph.Of(c.Switches[i]), depth[c.Switches[i]]+1
		w.Looked += len(links)
		for _, l := range links {
			// A switch that sends to a neighbour has a depth of the neighbour's depth + 1, except for the switch of the
			// LID and switches without a path. The depth is tested first because depths are more local in memory than
			// entries.
			if d := depth[l.Peer]; (d == above || d == 0 || d == Far) && c.Old[l.Peer] == l.PeerPort {
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

// Has reports whether the packets of a switch take another path than before.
func (c *Change) Has(sw int32) bool { return c.w.seen[sw] == c.w.round }

// OldPath returns the ports by which packets of a switch left the switches of their old path. The result end is where
// the packets ended, or [walk.Nowhere] for a loop. Port p of switch s is encoded as s<<8|p. The list is valid until the
// next call.
func (c *Change) OldPath(sw fabric.SwitchIndex) (ports []uint32, end walk.Target) {
	return c.w.follow(c.Old, sw, false)
}

// NewPath is like [Change.OldPath] for the new tables.
func (c *Change) NewPath(sw fabric.SwitchIndex) (ports []uint32, end walk.Target) {
	return c.w.follow(c.Old, sw, true)
}

// PathTo returns the path from a switch to a LID in the form of [Change.OldPath]. The tree of the LID must be
// unchanged.
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
