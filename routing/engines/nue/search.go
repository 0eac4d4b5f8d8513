// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
)

// search finds paths from all switches to one destination, against the direction of packets, that add no cycle to the
// dependencies. It is Dijkstra's search over channels instead of switches. Its memory is reused for each destination.
// Distances are steps without a switch.
type search struct {
	*network
	*dependencies
	// heap holds the switches that are reached but not searched from yet. shortest is the length of the shortest
	// channel.
	heap     *heap
	shortest step
	// For each switch: its distance, the channel into it, and its number of hops.
	distance []step
	by       []int32
	hops     []uint8
	// searched lists the switches in the order in which they were searched from. Switches that were reached after the
	// first impasse follow. place is the place of each switch in this list.
	searched, place []int32
	// taken holds, for each channel, the last search in which it was the channel into a switch. Before the first
	// impasse it is set only when the channel is replaced. listed holds the last search in which it was a further
	// channel.
	taken, listed []int32
	// detours is the number of impasses that are left in this search. cut is set if an impasse led to a shortcut.
	detours int32
	cut     bool
	reached int
	root    int32
	present int32 // colour
	late
}

func newSearch(d *dependencies) *search {
	n := len(d.switches)
	s := &search{
		network: d.network, dependencies: d, heap: newHeap(n), shortest: stepTo(0, d.shortest()),
		distance: make([]step, n), by: make([]int32, n), hops: make([]uint8, n),
		searched: make([]int32, 0, n), place: make([]int32, n),
		taken: make([]int32, len(d.to)), listed: make([]int32, len(d.to)),
	}
	s.late = late{
		found: make([]int32, n), early: make([]int32, n), listedIn: make([]int32, n),
		before: make([]step, n), reach: make([]step, len(d.to)), others: make([]int32, len(d.to)),
		count: make([]int32, n),
	}
	return s
}

// run searches from switch root, and reports whether it reached all switches. The switch is the destination, or has the
// destination on one of its ports.
func (s *search) run(root int32, isSwitch bool, present int32) bool {
	for i := range s.by {
		s.distance[i], s.by[i] = unreached, fabric.None
	}
	clear(s.hops)
	s.root, s.present, s.detours, s.reached, s.cut = root, present, 0, 1, false
	s.distance[root] = 0
	if !isSwitch {
		s.hops[root] = 1
	}
	s.searched = s.searched[:0]
	s.begin(s.start(root), present)
	s.spread()
	if s.reached == len(s.by) {
		return true
	}
	s.impasse()
	for s.reached < len(s.by) {
		c := s.detour()
		if c == fabric.None {
			return false
		}
		s.reached++
		s.detours++
		s.spreadLate(c)
	}
	return true
}

// spread searches until nothing changes.
func (s *search) spread() {
	s.heap.insert(stepTo(s.root, 0))
	s.relax()
	for ends := step(0); s.heap.n > 0; s.relax() {
		if s.reached == len(s.by) {
			if ends = s.ended(ends); ends == 0 {
				break
			}
		}
	}
	s.heap.drain(s.appendSearched) // these need not be searched from; any order will do
}

// ended checks whether a search that reached all switches is finished. It is finished if all further paths would be at
// least as long as the longest path. This is impossible until the nearest switch in the heap has the distance in the
// argument ends. ended returns the next such distance, or 0 if the search is finished.
func (s *search) ended(ends step) step {
	nearest := s.heap.nearest().only()
	if nearest < ends {
		return ends
	}
	longest := slices.Max(s.distance)
	if nearest+s.shortest >= longest {
		return 0
	}
	return longest - s.shortest
}

// relax takes the nearest switch out of the heap and considers the channels that continue from it. It first considers
// channels that paths use already.
func (s *search) relax() {
	nearest := s.heap.take()
	sw, distance := int32(nearest.to()), nearest.only()
	s.appendSearched(sw)
	c := s.by[sw]
	if c == fabric.None {
		c = s.start(sw)
	}
	low, lengths := s.first[sw], s.lengths[sw]
	if len(lengths) > wordBits {
		s.relaxWide(c, distance)
		return
	}
	near, hops := nearer(distance, lengths, s.distance), s.hops[sw]+1
	used, open := s.word(s.used, c, 0), s.word(s.open, c, 0)
	for in := near & used; in != 0; in &= in - 1 {
		k := bits.TrailingZeros64(in)
		if e := distance + lengths[k]; e < s.distance[e.to()] {
			s.enter(low+int32(k), e, hops)
		}
	}
	for in := near & open &^ used; in != 0; in &= in - 1 {
		s.turn(c, low+int32(bits.TrailingZeros64(in)), distance)
	}
}

// appendSearched appends a switch to searched.
func (s *search) appendSearched(sw int32) {
	s.place[sw] = int32(len(s.searched))
	s.searched = append(s.searched, sw)
}

// relaxWide is like relax, for a switch with more channels than a word has bits.
func (s *search) relaxWide(c int32, distance step) {
	low, high := s.out(s.ends[c])
	near := func(i int) uint64 {
		first := low + int32(i)*wordBits
		return nearer(distance, s.length[min(first, high):min(first+wordBits, high)], s.distance)
	}
	for i := range s.words {
		for in := near(i) & s.word(s.used, c, i); in != 0; in &= in - 1 {
			s.turn(c, low+int32(i*wordBits+bits.TrailingZeros64(in)), distance)
		}
	}
	for i := range s.words {
		for in := near(i) & s.word(s.open, c, i) &^ s.word(s.used, c, i); in != 0; in &= in - 1 {
			s.turn(c, low+int32(i*wordBits+bits.TrailingZeros64(in)), distance)
		}
	}
}

// turn uses the channel in the argument next after channel c if the path becomes shorter and the edge between the
// channels can be used.
func (s *search) turn(c, next int32, distance step) {
	if e := distance + s.length[next]; e < s.distance[e.to()] && s.use(c, next, s.present) {
		s.enter(next, e, s.hops[s.ends[c]]+1)
	}
}

// enter uses channel c for the path of the switch to which it leads.
func (s *search) enter(c int32, e step, hops uint8) {
	sw := int32(e.to())
	if old := s.by[sw]; old == fabric.None {
		s.reached++
	} else {
		s.taken[old] = s.present
		s.replace(sw, old)
	}
	s.distance[sw], s.by[sw], s.hops[sw] = e.only(), c, hops
	s.heap.insert(e)
}

// replace removes a switch from the heap because another channel now leads to it.
func (s *search) replace(sw, old int32) {
	s.heap.remove(sw)
	if before := s.by[s.from[old]]; before != fabric.None {
		s.undo(before, old)
	}
}

// keepPaths keeps the edges of the paths that were found. It releases all other edges of this search.
func (s *search) keepPaths() {
	for _, t := range s.painted {
		if s.leadsTo(t.next) && (s.leadsTo(t.c) || t.c == s.start(s.root)) {
			s.tentative.unset(s.edge(t.c, t.next))
		} else {
			s.undo(t.c, t.next)
		}
	}
	s.painted = s.painted[:0]
	for _, c := range s.fresh {
		if !s.leadsTo(c) {
			s.colour[c] = noColour
		}
	}
	s.fresh = s.fresh[:0]
	s.settle(s.present)
	s.givenUp = s.givenUp || s.cut && s.takesOther()
}

// takesOther reports whether paths take turns whose edges are not used, because [search.shortcut] has released them.
func (s *search) takesOther() bool {
	for _, c := range s.by {
		if c == fabric.None || s.from[c] == s.root {
			continue
		}
		if !s.used.has(s.edge(s.by[s.from[c]], c)) {
			return true
		}
	}
	return false
}

// leadsTo reports whether channel c is the channel into the switch where it ends.
func (s *search) leadsTo(c int32) bool { return s.by[s.ends[c]] == c }
