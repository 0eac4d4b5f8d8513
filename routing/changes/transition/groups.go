// SPDX-License-Identifier: Apache-2.0

package transition

import (
	"iter"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// MFT is the part of the changes of multicast tables in a step.
type MFT uint8

// The parts of the changes of multicast tables.
const (
	NoMFT MFT = iota
	// AllMFT is all changes. The tree of a group that does not form a tree together with the new one loses its old
	// branches before it gets new ones. The trees of other groups change in any order.
	AllMFT
	CutMFT  // the trees of all groups lose the branches that only the old tables have
	GrowMFT // they get the branches that only the new tables have
)

// groups holds the dependencies of multicast packets: of the old tables, of the new tables, of the branches that both
// have, and of packets during AllMFT. A set is nil if it has no dependency.
type groups struct {
	old, new, both, mixed bits
	change                bool // the tables of some group change
}

// follow finds the dependencies of multicast packets. O(groups x dependencies x SLs) on all processors.
func (p *planner) follow(before, after *fabric.MFT, maps []*fabric.SL2VL) error {
	if after == nil {
		after = before
	}
	if before == nil {
		before = after
	}
	if before == nil {
		return nil
	}
	workers := make([]*flooder, routing.Workers())
	err := routing.ForEach(p.ctx, max(before.LIDs(), after.LIDs()), nil, func(n, i int) {
		if workers[n] == nil {
			workers[n] = &flooder{walker: newWalker(p.network, maps...)}
		}
		workers[n].group(before, after, uint16(fabric.FirstMLID+i), p.opt.GroupSL)
	})
	for _, w := range workers {
		if w != nil {
			p.groups.old, p.groups.new = united(p.groups.old, w.result.old), united(p.groups.new, w.result.new)
			p.groups.mixed = united(p.groups.mixed, w.result.mixed)
			p.groups.both = united(p.groups.both, w.result.both)
			p.groups.change = p.groups.change || w.result.change
		}
	}
	return err
}

// united returns the union of two sets, which may be nil.
func united(a, b bits) bits {
	switch {
	case a == nil:
		return b
	case b != nil:
		a.join(b)
	}
	return a
}

// flooder follows multicast packets. It is scratch memory for one goroutine.
type flooder struct {
	*walker
	result        groups
	first, second *fabric.MFT
	mlid          uint16
	how           way
}

// way is how packets meet two tables.
type way uint8

const (
	onward way = iota // no entry of the first after one of the second
	either            // in any order
	within            // only entries that are in both
)

// group adds the dependencies of a group.
func (w *flooder) group(before, after *fabric.MFT, mlid uint16, slOf func(uint16) uint8) {
	w.mlid = mlid
	differs, used := false, false
	for s := range fabric.SwitchIndex(w.switches) {
		used = used || before.Any(s, mlid) || after.Any(s, mlid)
		differs = differs || !sameSet(before.Ports(s, mlid), after.Ports(s, mlid))
	}
	if !used {
		return
	}
	w.result.change = w.result.change || differs
	for _, sl := range w.slsOf(mlid, slOf) {
		w.sl = sl
		w.flood(before, before, &w.result.old)
		w.flood(after, after, &w.result.new)
		w.how = within
		w.flood(before, after, &w.result.both)
		if w.how = onward; differs && w.isTree(before, after) {
			w.how = either
		}
		w.flood(before, after, &w.result.mixed)
		w.how = onward
	}
}

// slsOf returns the SLs of a group: all if its SL is unknown and makes a difference.
func (w *flooder) slsOf(mlid uint16, slOf func(uint16) uint8) []uint8 {
	sl := uint8(0)
	if slOf != nil {
		sl = slOf(mlid)
	}
	switch {
	case w.vls == 1:
		return []uint8{0}
	case sl == fabric.NoSL:
		return []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	}
	return []uint8{sl & 0xf}
}

func sameSet(a, b []uint64) bool {
	for i := range max(len(a), len(b)) {
		var x, y uint64
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return false
		}
	}
	return true
}

// isTree reports whether the links of the old and the new tree of the group together have no cycle.
func (w *flooder) isTree(before, after *fabric.MFT) bool {
	joined := make(routing.UnionFind, w.switches)
	for s := range joined {
		joined[s] = fabric.SwitchIndex(s)
	}
	has := func(s fabric.SwitchIndex, port uint8) bool {
		return before.Has(s, w.mlid, port) || after.Has(s, w.mlid, port)
	}
	for l, to := range w.into {
		from := w.f.Nodes[w.f.Ports[w.ports[l]].Node].Switch
		out := w.f.Ports[w.ports[l]].Num
		if !has(from, out) || has(to, w.entry[l]) && to < from {
			continue // or counted from the other end
		}
		if !joined.Join(from, to) {
			return false
		}
	}
	return true
}

// flood adds the dependencies of packets that meet the first tables, and from some switch on the second ones.
func (w *flooder) flood(first, second *fabric.MFT, found *bits) {
	w.first, w.second = first, second
	for s := range fabric.SwitchIndex(w.switches) {
		if !first.Any(s, w.mlid) && !second.Any(s, w.mlid) {
			continue
		}
		for in := range w.sources(s) {
			w.fork(s, in, 1, w.reach)
		}
	}
	for len(w.queue) > 0 {
		c := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.fork(w.into[int(c)/w.vls], w.entry[int(c)/w.vls], w.label[c], w.reach)
	}
	for _, c := range w.seen {
		w.fork(w.into[int(c)/w.vls], w.entry[int(c)/w.vls], w.label[c], func(to, _ int32) {
			if *found == nil {
				*found = newBits(w.size)
			}
			found.add(int32(w.dependency(c, to)))
		})
	}
	for _, c := range w.seen {
		w.label[c] = 0
	}
	w.seen = w.seen[:0]
}

// sources yields the ports by which packets of hosts and of the switch itself enter a switch.
func (w *flooder) sources(s fabric.SwitchIndex) iter.Seq[uint8] {
	return func(yield func(uint8) bool) {
		if (w.first.Has(s, w.mlid, 0) || w.second.Has(s, w.mlid, 0)) && !yield(0) {
			return
		}
		n := w.f.SwitchNode(s)
		for in := uint8(1); int(in) <= int(n.NumPorts) && in != 0; in++ {
			if w.link[int(s)<<8|int(in)] < 0 && w.f.Ports[n.FirstPort+fabric.PortIndex(in)].Linked() && !yield(in) {
				return
			}
		}
	}
}

// fork calls the function reach with the channels by which a packet leaves a switch. Label 1 is a packet that has met
// only the first tables, label 2 one that meets only the second.
func (w *flooder) fork(s fabric.SwitchIndex, in uint8, label int32, reach func(to, label int32)) {
	out := func(t *fabric.MFT, label int32) {
		for port := range t.Each(s, w.mlid) {
			if port > 0 && port < 256 && uint8(port) != in &&
				(w.how != within || w.second.Has(s, w.mlid, uint8(port))) {
				w.leave(s, in, uint8(port), label, reach)
			}
		}
	}
	if label == 1 {
		out(w.first, 1)
	}
	switch {
	case w.how == within, w.first == w.second && label == 1:
	case w.how == either:
		out(w.second, 1)
	default:
		out(w.second, 2)
	}
}
