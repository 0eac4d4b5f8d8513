// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// infinity is the distance of what is not reached; a path of this length or more does not count.
const infinity = heap4.Infinity

// search finds the shortest ways from all switches to one destination, against the direction of travel (Dijkstra,
// "A note on two problems in connexion with graphs", 1959). Its memory serves one destination after the other.
type search struct {
	*graph
	heap4.Heap
	distance []uint64
	// by is the arc by which a switch was reached from its next one; none for the last switch before the destination.
	by []int32
	// reached are the switches in the order in which they were taken.
	reached []int32
	load    []uint64
	// What the heap holds before anything is reached: for a switch as destination, and for an adapter.
	forSwitch, forAdapter heap4.Heap
}

func newSearch(g *graph) *search {
	n := len(g.hosts)
	s := &search{graph: g, distance: make([]uint64, n), by: make([]int32, n), load: make([]uint64, n)}
	s.Place = make([]int32, n)
	s.forSwitch = heap4.Heap{Place: make([]int32, n), Elements: make([]uint64, len(g.members))}
	for i, sw := range g.members {
		s.forSwitch.Put(i, heap4.Element(infinity, int32(sw)))
	}
	s.forAdapter = heap4.Heap{Place: slices.Clone(s.forSwitch.Place), Elements: slices.Clone(s.forSwitch.Elements)}
	passAdapter(&s.forAdapter)
	return s
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

// run searches from a switch, which is the destination or has it on one of its ports.
func (s *search) run(sw fabric.SwitchIndex, isSwitch bool) {
	for i := range s.distance {
		s.distance[i], s.by[i] = infinity, fabric.None
	}
	start, distance := &s.forAdapter, uint64(1)
	if isSwitch {
		start, distance = &s.forSwitch, 0
	}
	s.Elements = append(s.Elements[:0], start.Elements...)
	copy(s.Place, start.Place)
	s.reached = s.reached[:0]
	s.distance[sw] = distance
	s.Nearer(int32(sw), distance)
	for len(s.Elements) > 0 {
		e := s.Take()
		if e>>32 == infinity {
			return
		}
		at := int32(uint32(e))
		s.reached = append(s.reached, at)
		s.relax(at, e>>32)
	}
}

// relax looks at what can be reached by the arcs of a switch.
func (s *search) relax(at int32, distance uint64) {
	low, high := s.first[at], s.first[at+1]
	to, weight := s.to[low:high], s.weight[low:high]
	for i, peer := range to {
		if d := distance + weight[i]; d < s.distance[peer] {
			s.distance[peer], s.by[peer] = d, low+int32(i)
			s.Nearer(int32(peer), d)
		}
	}
}

// use makes the arcs of the ways found longer by the LIDs that send over them.
func (s *search) use() {
	for _, sw := range s.reached {
		s.load[sw] = s.hosts[sw]
	}
	for _, sw := range slices.Backward(s.reached) {
		if arc := s.by[sw]; arc != fabric.None {
			s.weight[arc] += s.load[sw]
			s.load[s.from[arc]] += s.load[sw]
		}
	}
}
