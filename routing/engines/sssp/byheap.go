// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// byHeap finds shortest paths to one destination with a heap, against the direction of packets (Dijkstra, "A note on
// two problems in connexion with graphs", 1959). Its memory is reused for each destination.
type byHeap struct {
	*graph
	heap4.Heap
	// soFar holds the distance of each switch found so far. via holds the arc by which each switch sends, or none for
	// the last switch before the destination.
	soFar []uint32
	via   []int32
	// closer lists arcs of one switch that shorten the distance of another switch. Arcs are counted from the first arc
	// of the switch.
	closer [256]uint8
	taken  []int32 // the switches in the order in which they were taken
	// least holds the distance of each switch if the distances are known. tied holds the distance of each switch whose
	// arc must be found, and 0 for the other switches. left is the number of these arcs. near is the number of switches
	// up to limit whose distances must be found.
	least, tied []uint32
	left, near  int
	limit       uint64
	// forSwitch and forAdapter are the initial heaps for a switch and for an adapter as destination.
	forSwitch, forAdapter heap4.Heap
}

func newByHeap(g *graph) byHeap {
	n := len(g.hosts)
	h := byHeap{graph: g, soFar: make([]uint32, n), via: make([]int32, n), least: make([]uint32, n),
		tied: make([]uint32, n), Heap: heap4.Heap{Place: make([]int32, n)}}
	h.forSwitch = heap4.Heap{Place: make([]int32, n), Elements: make([]uint64, len(g.members))}
	for i, sw := range g.members {
		h.forSwitch.Put(i, heap4.Element(infinity, int32(sw)))
	}
	h.forAdapter = heap4.Heap{Place: slices.Clone(h.forSwitch.Place), Elements: slices.Clone(h.forSwitch.Elements)}
	passAdapter(&h.forAdapter)
	return h
}

// passAdapter changes a heap of unreached switches in the way that OpenSM's adapter does. OpenSM inserts the adapter
// last and removes it first. Then the elements above its place move down by one, and the lowest of them becomes the
// first.
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

// runAll searches from a switch with a given distance for the paths of all switches.
func (h *byHeap) runAll(sw int32, distance uint64) {
	h.limit, h.near, h.left = infinity, math.MaxInt, math.MaxInt
	h.run(sw, distance)
}

// run searches until all arcs are found that must be found. From the time when the heap contains the distances of all
// switches up to the limit, the order in which it takes these switches is fixed. The other switches are below them in
// the heap and no longer affect this order.
func (h *byHeap) run(sw int32, distance uint64) {
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
	for h.left > 0 && len(h.Elements) > 0 && h.Elements[0]>>32 < infinity {
		e := h.Take()
		at := int32(uint32(e))
		h.taken = append(h.taken, at)
		if h.near > 0 {
			h.relax(at, e>>32)
		} else {
			h.breakTies(at, e>>32)
		}
	}
}

// relax shortens the distances of the switches that can send to a switch.
func (h *byHeap) relax(at int32, distance uint64) {
	low, high := h.first[at], h.first[at+1]
	to, back := h.to[low:high], h.back[low:high]
	for _, i := range h.closer[:closer(&h.closer, to, back, h.soFar, h.weight, distance)] {
		// A parallel cable may have shortened the distance already.
		if peer, d := to[i], distance+uint64(h.weight[back[i]]); d < uint64(h.soFar[peer]) {
			h.soFar[peer], h.via[peer] = uint32(d), back[i]
			h.Nearer(int32(peer), d)
			switch d {
			case uint64(h.tied[peer]):
				h.left--
				fallthrough
			case uint64(h.least[peer]):
				if d <= h.limit {
					h.near--
				}
			}
		}
	}
}

// breakTies makes the tied switches send to one if that gives them their distance.
func (h *byHeap) breakTies(at int32, distance uint64) {
	low, high := h.first[at], h.first[at+1]
	back := h.back[low:high]
	for i, peer := range h.to[low:high] {
		if d := distance + uint64(h.weight[back[i]]); d == uint64(h.tied[peer]) && d < uint64(h.soFar[peer]) {
			h.soFar[peer], h.via[peer] = uint32(d), back[i]
			h.left--
		}
	}
}

// closer lists the peers whose distance becomes shorter by a path over one more arc, and returns their number. It is
// branchless like expect. A switch has at most 256 arcs.
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
