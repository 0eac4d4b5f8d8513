// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math"
	"slices"

	"example.org/ibconsole/fabric"
)

// branches takes paths from one VL to the next. The paths to a destination are a tree: with an edge, a whole branch of
// the tree of each destination behind it leaves the VL, and what enters the next one joins the tree there.
type branches struct {
	*deadlocks
	// back is the other direction of an arc.
	back []int32
	// behind are, by slot of an edge, the destinations with the edge on the paths of the tables, from behindFirst on.
	behind      []uint16
	behindFirst []int
	// came is by unit when it came to its VL. In the first one they come in the order of fill.
	came []uint32
	now  uint32
	// Scratch: a branch, each of its switches after the next one on its path, and units that leave.
	branch  []twig
	leaving []uint64
}

// twig is a switch of a branch.
type twig struct {
	sw      fabric.SwitchIndex
	above   int32 // the place of the next one in the branch
	channel int32 // to the next switch
	pairs   int64 // that come through it
}

func newBranches(d *deadlocks) *branches {
	b := &branches{deadlocks: d, back: make([]int32, len(d.graph.to)), came: make([]uint32, len(d.layerOf))}
	for a, sw := range d.graph.to {
		b.back[a] = d.arc(sw, d.farPort[a])
	}
	return b
}

// list lists the destinations behind each edge of a VL that all paths are in.
func (b *branches) list(l *layer) {
	b.behindFirst = make([]int, len(l.edge)+1)
	b.eachSlot(l, func(slot int32, _ int) { b.behindFirst[slot+1]++ })
	for s := range l.edge {
		b.behindFirst[s+1] += b.behindFirst[s]
	}
	at := slices.Clone(b.behindFirst)
	b.behind = make([]uint16, b.behindFirst[len(l.edge)])
	b.eachSlot(l, func(slot int32, dest int) {
		b.behind[at[slot]] = uint16(dest)
		at[slot]++
	})
	l.holds = slices.Repeat([]uint64{math.MaxUint64}, l.words*len(b.dests))
}

// eachSlot calls with the slots of the edges on paths to each destination.
func (b *branches) eachSlot(l *layer, call func(slot int32, dest int)) {
	channel := make([]int32, len(b.hosts))
	for i := range b.dests {
		t := &b.dests[i]
		ports := b.portsTo(t)
		for _, s := range b.members {
			channel[s] = fabric.None
			if ports[s] != fabric.NoPath && s != t.sw {
				channel[s] = b.arc(s, ports[s])
			}
		}
		for _, s := range b.members {
			if c := channel[s]; c != fabric.None {
				if then := channel[b.graph.to[c]]; then != fabric.None {
					call(l.slot[c]+then, i)
				}
			}
		}
	}
}

// move takes the paths over an edge from VL l to the next.
func (b *branches) move(now, next *layer, from, then int32, l uint8) {
	slot := now.slot[from] + then
	s := b.graph.from[from]
	b.leaving = b.leaving[:0]
	for _, t := range b.behind[b.behindFirst[slot]:b.behindFirst[slot+1]] {
		if now.holdsAt(int32(t), s) {
			b.leave(now, int32(t), s, l)
		}
	}
	slices.Sort(b.leaving)
	for _, key := range b.leaving {
		b.enter(next, uint32(key))
	}
}

// leave takes the branch behind a switch out of a VL, and its units to those that leave.
func (b *branches) leave(l *layer, t int32, s fabric.SwitchIndex, vl uint8) {
	b.grow(l, t, s, vl)
	first := b.spans[b.dests[t].port]
	lids := uint32(b.spans[b.dests[t].port+1] - first)
	for i, w := range b.branch {
		l.drop(t, w.sw)
		if i > 0 {
			l.pairs[*l.at(w.channel, b.branch[w.above].channel)] -= w.pairs
		}
		for _, g := range b.groupsOn[w.sw] {
			unit := uint32(t)*uint32(len(b.groups)) + uint32(g)
			if b.layerOf[unit] != vl {
				continue
			}
			came := b.came[unit]
			if vl == 0 {
				came = uint32(first)*uint32(len(b.groups)) + uint32(g)*lids + uint32(t-first)
			}
			b.leaving = append(b.leaving, uint64(came)<<32|uint64(unit))
		}
	}
	// Edge 0 stands for the one that was cut.
	dest := &b.dests[t]
	ports, pairs := b.portsTo(dest), b.branch[0].pairs
	for c := b.branch[0].channel; b.graph.to[c] != dest.sw; {
		at := b.graph.to[c]
		then := b.arc(at, ports[at])
		l.pairs[*l.at(c, then)] -= pairs
		c = then
	}
	b.pairs[vl] -= pairs
	b.pairs[vl+1] += pairs
}

// grow finds the branch behind a switch, with the pairs that come through each switch of it.
func (b *branches) grow(l *layer, t int32, s fabric.SwitchIndex, vl uint8) {
	ports := b.portsTo(&b.dests[t])
	holds := l.holds[int(t)*l.words : (int(t)+1)*l.words]
	var channel int32 = fabric.None
	if s != b.dests[t].sw {
		channel = b.arc(s, ports[s])
	}
	b.branch = append(b.branch[:0], twig{sw: s, channel: channel})
	for k := 0; k < len(b.branch); k++ {
		at := b.branch[k].sw
		low, high := b.first[at], b.first[at+1]
		far, back := b.farPort[low:high], b.back[low:high]
		for a, peer := range b.graph.to[low:high] {
			if ports[peer] == far[a] && holds[peer/64]>>(peer%64)&1 != 0 {
				b.branch = append(b.branch, twig{sw: peer, above: int32(k), channel: back[a]})
			}
		}
		units := b.layerOf[int(t)*len(b.groups) : (int(t)+1)*len(b.groups)]
		for _, g := range b.groupsOn[at] {
			if units[g] == vl {
				b.branch[k].pairs += b.groups[g].lids
			}
		}
	}
	for k := len(b.branch) - 1; k > 0; k-- {
		b.branch[b.branch[k].above].pairs += b.branch[k].pairs
	}
}

// enter puts a unit into the next VL: its path joins those of others to the same destination.
func (b *branches) enter(next *layer, unit uint32) {
	t := int32(unit / uint32(len(b.groups)))
	dest := &b.dests[t]
	ports := b.portsTo(dest)
	var before int32 = fabric.None
	for s := b.groups[unit%uint32(len(b.groups))].sw; s != dest.sw; {
		c := b.arc(s, ports[s])
		known := next.holdsAt(t, s)
		if !known {
			next.hold(t, s)
			next.see(c)
		}
		if before != fabric.None {
			next.edgeTo(before, c)
		}
		if known {
			break
		}
		before, s = c, b.graph.to[c]
	}
	b.layerOf[unit]++
	b.came[unit] = b.now
	b.now++
}

// count counts the pairs on the edges of a VL that units have entered.
func (b *branches) count(l *layer, vl uint8) {
	for t := range b.dests {
		b.grow(l, int32(t), b.dests[t].sw, vl)
		for _, w := range b.branch[1:] {
			if w.above > 0 {
				l.pairs[*l.at(w.channel, b.branch[w.above].channel)] += w.pairs
			}
		}
	}
}
