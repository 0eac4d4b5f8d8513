// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// branches takes paths from one VL to the next. The paths to a destination are a tree: with an edge, a whole branch of
// the tree of each destination behind it leaves the VL, and what enters the next one joins the tree there.
type branches struct {
	*deadlocks
	now, next *layer
	vl        int // of now
	// came is by unit when it came to its VL. In the first VL it is 0 for all, where they come in the order of
	// fill. What is in VL l now came from began[l] on, before began[l+1].
	came  []uint32
	began []uint32
	clock uint32
	// behind are, by slot of an edge, the destinations with the edge on the paths of the tables, from behindFirst on.
	behind      []uint16
	behindFirst []int
	// Scratch: the destinations of which a branch leaves, switches of paths that leave, the units that do, and their order: when each came, and its place.
	roots   []int32
	twigs   []twig
	leaving []leaving
	order   []uint64
}

// twig is a switch on paths to a destination.
type twig struct {
	sw      fabric.SwitchIndex
	channel int32  // by which it sends
	above   int32  // the place of the switch after it, none for the last one
	pairs   uint32 // that leave and come through it
}

// leaving is a unit that leaves, and the place of its switch among the twigs.
type leaving struct {
	dest  int32
	group int32
	twig  int32
}

// newBranches takes the first VL, before any path leaves it.
func newBranches(d *deadlocks, now *layer) *branches {
	b := &branches{deadlocks: d, now: now, next: newLayer(d.graph), began: []uint32{0, 1}, clock: 1}
	b.came = make([]uint32, len(d.dests)*len(d.groups))
	now.holdNone(len(d.dests))
	b.next.holdNone(len(d.dests))
	b.behindFirst = make([]int, len(now.pairings)+1)
	b.eachSlot(func(slot int32, _ int) { b.behindFirst[slot+1]++ })
	for s := range now.pairings {
		b.behindFirst[s+1] += b.behindFirst[s]
	}
	at := slices.Clone(b.behindFirst)
	b.behind = make([]uint16, b.behindFirst[len(now.pairings)])
	b.eachSlot(func(slot int32, t int) {
		b.behind[at[slot]] = uint16(t)
		at[slot]++
	})
	return b
}

// eachSlot calls with the slots of the edges on paths to each destination, and notes what the VL holds.
func (b *branches) eachSlot(call func(slot int32, t int)) {
	channel := make([]int32, len(b.hosts))
	for i := range b.dests {
		t := &b.dests[i]
		ports, holds := b.portsTo(t), b.now.holdsOf(int32(i))
		for _, s := range b.members {
			channel[s] = fabric.None
			if ports[s] != fabric.NoPath && s != t.sw {
				channel[s] = b.arc(s, ports[s])
				holds[s/64].paths |= 1 << (s % 64)
			}
		}
		for _, s := range b.members {
			c := channel[s]
			if c == fabric.None {
				continue
			}
			via := b.graph.to[c]
			if then := channel[via]; then != fabric.None {
				holds[via/64].through |= 1 << (via % 64)
				call(b.now.slot[c]+then, i)
			}
		}
	}
}

// turn goes on to the next VL.
func (b *branches) turn() *layer {
	b.now, b.next = b.next, b.now
	b.next.reset()
	b.vl++
	b.began = append(b.began, b.clock)
	return b.now
}

// move takes the paths over an edge from the VL to the next.
func (b *branches) move(from, then int32) {
	slot := b.now.slot[from] + then
	s := b.graph.from[from]
	b.roots, b.twigs, b.leaving, b.order = b.roots[:0], b.twigs[:0], b.leaving[:0], b.order[:0]
	for _, t := range b.behind[b.behindFirst[slot]:b.behindFirst[slot+1]] {
		if b.now.holdsOf(int32(t))[s/64].paths>>(s%64)&1 != 0 {
			b.roots = append(b.roots, int32(t))
		}
	}
	// What is asked of all roots comes first: these are far apart in memory, and then wait for it together.
	for root, t := range b.roots {
		b.twigs = append(b.twigs, twig{sw: s, channel: from, above: fabric.None})
		b.leaveFrom(t, int32(root))
	}
	for root, t := range b.roots {
		b.leave(t, int32(root))
	}
	slices.Sort(b.order)
	for _, place := range b.order {
		b.enter(b.leaving[uint32(place)])
	}
}

// leave takes the branch from a root on to a destination out of the VL.
func (b *branches) leave(t, root int32) {
	ports, end := b.portsTo(&b.dests[t]), b.dests[t].sw
	b.grow(t, ports, root)
	pairs := b.twigs[root].pairs
	last := root
	for s := b.graph.to[b.twigs[root].channel]; s != end; {
		c := b.arc(s, ports[s])
		b.twigs = append(b.twigs, twig{sw: s, channel: c, above: fabric.None})
		above := int32(len(b.twigs)) - 1
		b.now.at(b.twigs[last].channel, c).pairs -= pairs
		b.twigs[last].above = above
		last, s = above, b.graph.to[c]
	}
	b.pairs[b.vl] -= int64(pairs)
	b.pairs[b.vl+1] += int64(pairs)
}

// grow finds the branch from a root on, takes it out of what the VL holds, and counts its pairs.
func (b *branches) grow(t int32, ports []uint8, root int32) {
	holds := b.now.holdsOf(t)
	first := len(b.twigs)
	b.bud(holds, ports, root)
	for at := first; at < len(b.twigs); at++ {
		b.leaveFrom(t, int32(at))
		b.bud(holds, ports, int32(at))
	}
	for k := len(b.twigs) - 1; k >= first; k-- {
		w := b.twigs[k]
		above := &b.twigs[w.above]
		above.pairs += w.pairs
		b.now.at(w.channel, above.channel).pairs -= w.pairs
	}
}

// bud takes a switch of a branch out of what the VL holds, and adds to the branch those that send to it.
func (b *branches) bud(holds []held, ports []uint8, at int32) {
	s := b.twigs[at].sw
	h := &holds[s/64]
	h.paths &^= 1 << (s % 64)
	if h.through>>(s%64)&1 == 0 {
		return
	}
	low, high := b.first[s], b.first[s+1]
	far, back := b.farPort[low:high], b.back[low:high]
	for a, peer := range b.graph.to[low:high] {
		if ports[peer] == far[a] && holds[peer/64].paths>>(peer%64)&1 != 0 {
			b.twigs = append(b.twigs, twig{sw: peer, channel: back[a], above: at})
		}
	}
}

// leaveFrom finds the units that leave from a switch.
func (b *branches) leaveFrom(t, at int32) {
	low, high := b.began[b.vl], b.began[b.vl+1]
	all := b.came[int(t)*len(b.groups) : (int(t)+1)*len(b.groups)]
	w := &b.twigs[at]
	for _, g := range b.groupsOn[w.sw] {
		came := all[g]
		if came < low || came >= high {
			continue
		}
		if b.vl == 0 {
			came = b.inFirst(t, uint32(g))
		}
		b.order = append(b.order, uint64(came)<<32|uint64(len(b.leaving)))
		b.leaving = append(b.leaving, leaving{dest: t, group: g, twig: at})
		w.pairs += uint32(b.groups[g].lids)
	}
}

// inFirst is the place of a unit in the first VL.
func (b *branches) inFirst(t int32, g uint32) uint32 {
	first, end := b.spans[b.dests[t].port], b.spans[b.dests[t].port+1]
	return uint32(first)*uint32(len(b.groups)) + g*uint32(end-first) + uint32(t-first)
}

// enter puts a unit into the next VL.
func (b *branches) enter(u leaving) {
	l, pairs := b.next, uint32(b.groups[u.group].lids)
	holds := l.holdsOf(u.dest)
	w := b.twigs[u.twig]
	holds[w.sw/64].paths |= 1 << (w.sw % 64)
	l.see(w.channel)
	for w.above != fabric.None {
		next := b.twigs[w.above]
		h := &holds[next.sw/64]
		h.paths |= 1 << (next.sw % 64)
		h.through |= 1 << (next.sw % 64)
		l.see(next.channel)
		l.join(w.channel, next.channel, pairs)
		w = next
	}
	b.came[int(u.dest)*len(b.groups)+int(u.group)] = b.clock
	b.clock++
}

// layers says in which VL each unit is.
func (b *branches) layers(of []uint8) {
	for u, came := range b.came {
		for int(of[u])+1 < len(b.began) && came >= b.began[of[u]+1] {
			of[u]++
		}
	}
}
