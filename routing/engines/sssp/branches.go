// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// branches moves paths from one VL to the next. The paths to a destination form a tree. If an edge is removed from a
// VL, the branch of the tree behind the edge leaves this VL for each destination, and joins the tree of the next VL.
type branches struct {
	*deadlocks
	now, next *layer
	vl        int // of now
	// held holds, for each destination, the switches with paths in the two VLs, in heldWords words. units holds, for
	// each destination, the groups with paths in the two VLs, in unitWords words.
	held                 []held
	units                []units
	heldWords, unitWords int
	// came holds, for each unit, the time at which it entered its VL. In the first VL this time is 0 for all units;
	// their order is the order in which the method fill adds them. The units of VL l entered at the times began[l] to
	// began[l+1]-1.
	came   []uint32
	began  []uint32
	clock  uint32
	behind behind
	// Scratch memory: the switches of leaving paths, the leaving units, and the order of these units as a time and a
	// place for each.
	twigs   []twig
	leaving []leaving
	order   []uint64
}

// held describes 64 switches in the VLs with even and with odd numbers. paths marks the switches where paths begin or
// pass. through marks the switches through which paths may pass.
type held struct{ paths, through [2]uint64 }

// units is a set of 64 groups for the VL with an even number, and a set for the VL with an odd number.
type units [2]uint64

// twig is a switch on the leaving paths to one destination.
type twig struct {
	dest    uint16
	sw      uint16
	channel int32  // by which it sends
	above   int32  // the place of the next switch, none for the last one
	pairs   uint32 // the leaving pairs that pass through it
	entered bool   // in the next VL
}

// leaving is a leaving unit. twig is the place of its switch among the twigs.
type leaving struct {
	dest        uint16
	group, twig int32
}

// number returns a unit's index among all.
func (b *branches) number(u leaving) int { return int(u.dest)*len(b.groups) + int(u.group) }

// newBranches returns the state in which all paths are in the first VL.
func newBranches(ctx context.Context, d *deadlocks, now *layer) (*branches, error) {
	b := &branches{deadlocks: d, now: now, next: newLayer(d.graph), began: []uint32{0, 1}, clock: 1}
	b.came = make([]uint32, len(d.dests)*len(d.groups))
	b.heldWords, b.unitWords = (len(d.hosts)+63)/64, (len(d.groups)+63)/64
	b.held = make([]held, len(d.dests)*b.heldWords)
	b.units = slices.Repeat([]units{{^uint64(0), 0}}, len(d.dests)*b.unitWords)
	err := routing.ForEach(ctx, len(d.dests), nil, func(_, t int) { b.holdAll(uint16(t)) })
	if err == nil {
		b.behind, err = listBehind(ctx, d, &now.dependencies)
	}
	return b, err
}

// holdAll records the switches on the paths to a destination in the first VL.
func (b *branches) holdAll(t uint16) {
	d := &b.dests[t]
	ports, holds := b.portsTo(d), b.holdsOf(t)
	for _, s := range b.members {
		if ports[s] == fabric.NoPath || s == d.sw {
			continue
		}
		holds[s/64].paths[0] |= 1 << (s % 64)
		if c := b.arc(s, ports[s]); c != fabric.None {
			via := b.graph.to[c]
			holds[via/64].through[0] |= 1 << (via % 64)
		}
	}
}

// holdsOf returns the words of held for a destination.
func (b *branches) holdsOf(t uint16) []held { return b.held[int(t)*b.heldWords:][:b.heldWords] }

// unitsOf returns the word of units that contains a group, for a destination.
func (b *branches) unitsOf(t uint16, g int32) *units { return &b.units[int(t)*b.unitWords+int(g/64)] }

// turn continues with the next VL.
func (b *branches) turn() *layer {
	b.now, b.next = b.next, b.now
	b.next.reset()
	for i := range b.held {
		h := &b.held[i]
		h.paths[b.vl&1], h.through[b.vl&1] = 0, 0
	}
	for i := range b.units {
		b.units[i][b.vl&1] = 0
	}
	b.vl++
	b.began = append(b.began, b.clock)
	return b.now
}

// breakAll breaks all cycles of the VL. The first cycle begins at place c of the walk. breakAll stops early if the next
// VL is the last one that counts and already has a cycle, because the result is then known.
func (b *branches) breakAll(ctx context.Context, w *walker, c int32) error {
	for cuts := 1; c != fabric.None; cuts++ {
		b.move(w.cut(c))
		if b.needed == b.upTo && cuts&(cuts-1) == 0 && b.next.cyclic() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c = w.cycle()
	}
	return nil
}

// move moves the paths over an edge from the VL to the next VL. The data of different destinations are far apart in
// memory. Therefore each step is done for all destinations, so that their cache misses overlap.
func (b *branches) move(from, then int32) {
	b.findRoots(from, b.now.slot[from]+then)
	roots := len(b.twigs)
	for at := 0; at < len(b.twigs); at++ {
		b.bud(int32(at))
	}
	b.leaving = b.leaving[:0]
	for at := range b.twigs {
		b.leave(int32(at))
	}
	for _, w := range slices.Backward(b.twigs[roots:]) {
		b.twigs[w.above].pairs += w.pairs
	}
	b.follow(roots)
	for i := range b.twigs {
		b.take(&b.twigs[i])
	}
	b.enter()
}

// findRoots finds the destinations whose paths in the VL use an edge. It is branchless because the branches would be
// unpredictable.
func (b *branches) findRoots(from, slot int32) {
	behind := b.behind.of(slot)
	b.twigs = slices.Grow(b.twigs, len(behind)+1)[:len(behind)+1]
	s := b.graph.from[from]
	held, n := b.held[s/64:], 0
	for _, t := range behind {
		b.twigs[n] = twig{dest: t, sw: uint16(s), channel: from, above: fabric.None}
		n += int(held[int(t)*b.heldWords].paths[b.vl&1] >> (s % 64) & 1)
	}
	b.twigs = b.twigs[:n]
}

// bud removes a switch of a branch from the VL. It adds the switches that send to this switch to the branch.
func (b *branches) bud(at int32) {
	t, s, vl := b.twigs[at].dest, b.twigs[at].sw, b.vl&1
	holds := b.holdsOf(t)
	h := &holds[s/64]
	h.paths[vl] &^= 1 << (s % 64)
	if h.through[vl]>>(s%64)&1 == 0 {
		return
	}
	low, high := b.first[s], b.first[s+1]
	far, back := b.farPort[low:high], b.back[low:high]
	ports := b.portsTo(&b.dests[t])
	for a, peer := range b.graph.to[low:high] {
		if ports[peer] == far[a] && holds[peer/64].paths[vl]>>(peer%64)&1 != 0 {
			b.twigs = append(b.twigs, twig{dest: t, sw: uint16(peer), channel: back[a], above: at})
		}
	}
}

// leave finds the units of a switch that leave the VL.
func (b *branches) leave(at int32) {
	w := &b.twigs[at]
	for _, g := range b.groupsOn[w.sw] {
		if in := b.unitsOf(w.dest, g); in[b.vl&1]>>(g%64)&1 != 0 {
			in[b.vl&1] &^= 1 << (g % 64)
			b.leaving = append(b.leaving, leaving{dest: w.dest, group: g, twig: at})
			w.pairs += uint32(b.groups[g].lids)
		}
	}
}

// follow adds the switches on the paths from the roots to the destinations to the twigs.
func (b *branches) follow(roots int) {
	begin := len(b.twigs)
	for at := range roots {
		b.pairs[b.vl] -= int64(b.twigs[at].pairs)
		b.pairs[b.vl+1] += int64(b.twigs[at].pairs)
		b.goOn(at)
	}
	for at := begin; at < len(b.twigs); at++ {
		b.goOn(at)
	}
}

// goOn adds the next switch to the twigs if leaving paths pass through it.
func (b *branches) goOn(at int) {
	w := &b.twigs[at]
	d, s := &b.dests[w.dest], b.graph.to[w.channel]
	if w.pairs == 0 || s == d.sw {
		return
	}
	w.above = int32(len(b.twigs))
	b.twigs = append(b.twigs, twig{dest: w.dest, sw: uint16(s), channel: b.arc(s, b.portsTo(d)[s]), above: fabric.None,
		pairs: w.pairs})
}

// take moves the counts of the leaving paths from and through a switch to the next VL.
func (b *branches) take(w *twig) {
	if w.pairs == 0 {
		return
	}
	holds, next := b.holdsOf(w.dest), b.vl&1^1
	holds[w.sw/64].paths[next] |= 1 << (w.sw % 64)
	if w.above == fabric.None {
		return
	}
	above := &b.twigs[w.above]
	holds[above.sw/64].through[next] |= 1 << (above.sw % 64)
	slot := b.now.slot[w.channel] + above.channel
	b.now.pairs[slot] -= w.pairs
	b.next.pairs[slot] += w.pairs
}

// enter adds the leaving units to the next VL in their order.
func (b *branches) enter() {
	b.order = b.order[:0]
	for i, u := range b.leaving {
		came := b.came[b.number(u)]
		if b.vl == 0 {
			came = b.inFirst(u)
		}
		b.order = append(b.order, uint64(came)<<32|uint64(i))
	}
	slices.Sort(b.order)
	for _, place := range b.order {
		u := b.leaving[uint32(place)]
		b.unitsOf(u.dest, u.group)[b.vl&1^1] |= 1 << (u.group % 64)
		b.came[b.number(u)] = b.clock
		b.clock++
		b.bring(u.twig)
	}
}

// bring adds the new edges on the path of a unit to the next VL.
func (b *branches) bring(at int32) {
	for at != fabric.None && !b.twigs[at].entered {
		w := &b.twigs[at]
		w.entered = true
		b.next.see(w.channel)
		if at = w.above; at != fabric.None {
			b.next.join(w.channel, b.twigs[at].channel)
		}
	}
}

// inFirst returns the position of a unit in the order of the first VL.
func (b *branches) inFirst(u leaving) uint32 {
	d := &b.dests[u.dest]
	first, end := b.spans[d.port], b.spans[d.port+1]
	return uint32(first)*uint32(len(b.groups)) + uint32(u.group)*uint32(end-first) + uint32(u.dest) - uint32(first)
}

// layers sets the VL of each unit.
func (b *branches) layers(of []uint8) {
	for u, came := range b.came {
		for int(of[u])+1 < len(b.began) && came >= b.began[of[u]+1] {
			of[u]++
		}
	}
}
