// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// search finds the shortest ways from all switches to one destination, against the direction of travel (Dijkstra,
// "A note on two problems in connexion with graphs", 1959). Its memory serves one destination after the other.
type search struct {
	*graph
	heap
	distance []uint64
	// by is the arc by which a switch was reached from its next one; none for the last switch before the destination.
	by []int32
	// reached are the switches in the order in which they were taken.
	reached []int32
	load    []uint64
	// What the heap holds before anything is reached: for a switch as destination, and for an adapter.
	forSwitch, forAdapter heap
}

func newSearch(g *graph) *search {
	n := len(g.hosts)
	s := &search{graph: g, distance: make([]uint64, n), by: make([]int32, n), load: make([]uint64, n)}
	s.place = make([]int32, n)
	s.forSwitch = heap{place: make([]int32, n), elements: make([]uint64, len(g.members))}
	for i, sw := range g.members {
		s.forSwitch.put(i, element(infinity, sw))
	}
	s.forAdapter = heap{place: slices.Clone(s.forSwitch.place), elements: slices.Clone(s.forSwitch.elements)}
	s.forAdapter.passAdapter()
	return s
}

// passAdapter does to a heap of unreached switches what OpenSM's adapter does, which is the last to come in and
// the first to go out: those above its place move down by one, and the lowest of them then comes to the top.
func (h *heap) passAdapter() {
	last := len(h.elements)
	if last == 0 {
		return
	}
	held := h.elements[(last-1)/branches]
	for i := (last - 1) / branches; i > 0; {
		above := (i - 1) / branches
		h.put(i, h.elements[above])
		i = above
	}
	h.put(0, held)
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
	s.elements = append(s.elements[:0], start.elements...)
	copy(s.place, start.place)
	s.reached = s.reached[:0]
	s.distance[sw] = distance
	s.nearer(sw, distance)
	for len(s.elements) > 0 {
		e := s.take()
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
			s.nearer(peer, d)
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
