// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// infinity is the distance of what is not reached; a path of this length or more does not count.
const infinity = heap4.Infinity

// search finds the shortest paths from all switches to one destination, against the direction of travel (Dijkstra,
// "A note on two problems in connexion with graphs", 1959). Its memory serves one destination after the other.
type search struct {
	*graph
	levels
	heap4.Heap
	distance []uint64
	// by is the arc by which a switch was reached from its next one; none for the last switch before the destination.
	by []int32
	// reached are the switches with a path, each after the next one on it.
	reached []int32
	load    []uint64
	// What the heap has: distances and arcs so far, and the switches in the order in which they were taken.
	soFar []uint64
	via   []int32
	taken []int32
	// What the heap holds before anything is reached: for a switch as destination, and for an adapter.
	forSwitch, forAdapter heap4.Heap
}

func newSearch(g *graph) *search {
	n := len(g.hosts)
	s := &search{graph: g, levels: newLevels(g), distance: make([]uint64, n), by: make([]int32, n), load: make([]uint64, n)}
	s.soFar, s.via = make([]uint64, n), make([]int32, n)
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

// run searches from a switch, which is the destination or has it on one of its ports. The levels leave to the heap
// what depends on the order of equally near switches.
func (s *search) run(sw fabric.SwitchIndex, isSwitch bool) {
	distance := uint64(1)
	if isSwitch {
		distance = 0
	}
	if !s.byLevels(sw, distance) {
		s.byHeap(sw, distance, infinity-1)
		copy(s.distance, s.soFar)
		copy(s.by, s.via)
		s.reached = s.taken
		return
	}
	s.reached = s.order
	if len(s.unsure) == 0 {
		return
	}
	limit := uint64(0)
	for _, at := range s.unsure {
		limit = max(limit, s.distance[s.from[s.by[at]]])
	}
	s.byHeap(sw, distance, limit)
	for _, at := range s.unsure {
		s.by[at] = s.via[at]
	}
}

// byHeap searches with the heap, and takes the switches up to a distance.
func (s *search) byHeap(sw fabric.SwitchIndex, distance, limit uint64) {
	for i := range s.soFar {
		s.soFar[i], s.via[i] = infinity, fabric.None
	}
	start := &s.forAdapter
	if distance == 0 {
		start = &s.forSwitch
	}
	s.Elements = append(s.Elements[:0], start.Elements...)
	copy(s.Place, start.Place)
	s.taken = s.taken[:0]
	s.soFar[sw] = distance
	s.Nearer(int32(sw), distance)
	for len(s.Elements) > 0 && s.Elements[0]>>32 <= limit {
		e := s.Take()
		at := int32(uint32(e))
		s.taken = append(s.taken, at)
		s.relax(at, e>>32)
	}
}

// relax looks at what can be reached by the arcs of a switch.
func (s *search) relax(at int32, distance uint64) {
	low, high := s.first[at], s.first[at+1]
	to, weight := s.to[low:high], s.weight[low:high]
	for i, peer := range to {
		if d := distance + weight[i]; d < s.soFar[peer] {
			s.soFar[peer], s.via[peer] = d, low+int32(i)
			s.Nearer(int32(peer), d)
		}
	}
}

// use makes the arcs of the paths found longer by the LIDs that send over them.
func (s *search) use() {
	load, by, weight, from := s.load, s.by, s.weight, s.from
	copy(load, s.hosts)
	for _, sw := range slices.Backward(s.reached) {
		if arc := by[sw]; arc != fabric.None {
			weight[arc] += load[sw]
			load[from[arc]] += load[sw]
		}
	}
}
