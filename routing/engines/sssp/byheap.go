// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// byHeap finds shortest paths with a heap, against the direction of travel (Dijkstra, "A note on two problems in
// connexion with graphs", 1959). Its memory serves one destination after the other.
type byHeap struct {
	*graph
	heap4.Heap
	// soFar are distances by switch, and via the arcs by which they send; none for the last switch before the
	// destination.
	soFar []uint32
	via   []int32
	// closer are the arcs of one switch, counted from its first, over which others are nearer than so far.
	closer [256]uint8
	taken  []int32 // the switches in the order in which they were taken
	// What the heap holds before anything is reached: for a switch as destination, and for an adapter.
	forSwitch, forAdapter heap4.Heap
}

func newByHeap(g *graph) byHeap {
	n := len(g.hosts)
	h := byHeap{graph: g, soFar: make([]uint32, n), via: make([]int32, n), Heap: heap4.Heap{Place: make([]int32, n)}}
	h.forSwitch = heap4.Heap{Place: make([]int32, n), Elements: make([]uint64, len(g.members))}
	for i, sw := range g.members {
		h.forSwitch.Put(i, heap4.Element(infinity, int32(sw)))
	}
	h.forAdapter = heap4.Heap{Place: slices.Clone(h.forSwitch.Place), Elements: slices.Clone(h.forSwitch.Elements)}
	passAdapter(&h.forAdapter)
	return h
}

// passAdapter does to a heap of unreached switches what OpenSM's adapter does, which is the last to come in and
// the first to go out: those above its place move down by one, and the lowest of them then comes to the top.
func passAdapter(h *heap4.Heap) {
	last := len(h.Elements)
	if last == 0 {
		return
	}
	held := h.Elements[(last-1)/heap4.Branches]
	for i := (last - 1) / heap4.Branches; i > 0; {
		above := (i - 1) / heap4.Branches
		h.Put(i, h.Elements[above])
		i = above
	}
	h.Put(0, held)
}

// run searches from a switch at some distance, and takes the switches up to a distance.
func (h *byHeap) run(sw int32, distance, limit uint64) {
	for i := range h.soFar {
		h.soFar[i], h.via[i] = infinity, fabric.None
	}
	start := &h.forAdapter
	if distance == 0 {
		start = &h.forSwitch
	}
	h.Elements = append(h.Elements[:0], start.Elements...)
	copy(h.Place, start.Place)
	h.taken = h.taken[:0]
	h.soFar[sw] = uint32(distance)
	h.Nearer(sw, distance)
	for len(h.Elements) > 0 && h.Elements[0]>>32 <= limit {
		e := h.Take()
		at := int32(uint32(e))
		h.taken = append(h.taken, at)
		h.relax(at, e>>32)
	}
}

// relax looks at which switches can send to one.
func (h *byHeap) relax(at int32, distance uint64) {
	low, high := h.first[at], h.first[at+1]
	to, back := h.to[low:high], h.back[low:high]
	for _, i := range h.closer[:closer(&h.closer, to, back, h.soFar, h.weight, distance)] {
		// Of parallel cables one may have come before.
		if peer, d := to[i], distance+uint64(h.weight[back[i]]); d < uint64(h.soFar[peer]) {
			h.soFar[peer], h.via[peer] = uint32(d), back[i]
			h.Nearer(int32(peer), d)
		}
	}
}

// closer lists the peers that a path over one arc more brings nearer, and returns how many. It has no branches, as
// expect; a switch has no more arcs than a byte counts.
//
//go:noinline
func closer(found *[256]uint8, peers []fabric.SwitchIndex, back []int32, soFar, weight []uint32, distance uint64) int {
	n := uint8(0)
	back = back[:len(peers)]
	for i, peer := range peers {
		d := distance + uint64(weight[back[i]])
		found[n] = uint8(i)
		n += uint8((d - uint64(soFar[peer])) >> 63)
	}
	return int(n)
}
