// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"cmp"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// search finds paths from all switches to one destination, against the direction of travel, that add no cycle to the
// dependencies: Dijkstra's search over channels instead of switches. Its memory serves one destination after the
// other.
type search struct {
	*dependencies
	// heap holds switches that are reached but were not searched on from. No channel is shorter than shortest.
	heap     heap4.Heap
	shortest uint64
	// By switch: its distance, the channel into it, and the hops.
	distance []uint64
	by       []int32
	hops     []uint8
	// relaxed are the channels that were searched on from before the first impasse.
	relaxed []int32
	// taken and listed are the searches in which a channel was last the one into a switch, and a further one; the
	// former is set when it is no longer or, at the latest, at the first impasse.
	taken, listed []int32
	// detours is how many impasses were left in this search.
	detours int32
	reached int
	root    int32
	present int32 // colour
	late
}

// late is what a search needs from its first impasse on.
type late struct {
	// found is, by switch, after how many detours it was found, and turn the place in relaxed of the channel into it, -1
	// for none.
	found, turn []int32
	// reach is the distance at which a channel was looked at last.
	reach []uint64
	// others are further channels into each switch s that could be used, in the order in which they were looked
	// at: count[s] of them from first[s] on.
	others []int32
	count  []int32
	// asked is the search in which they were last asked for.
	asked     []int32
	before    []uint64
	choices   []choice
	dependent []int32
}

func newSearch(d *dependencies) *search {
	n, channels := len(d.switches), len(d.ends)
	s := &search{
		dependencies: d, heap: heap4.Heap{Place: make([]int32, n)}, shortest: d.shortest(),
		distance: make([]uint64, n), by: make([]int32, n), hops: make([]uint8, n), relaxed: make([]int32, 0, n),
		taken: make([]int32, len(d.to)), listed: make([]int32, len(d.to)),
	}
	s.late = late{
		found: make([]int32, n), turn: make([]int32, n), asked: make([]int32, n),
		reach: make([]uint64, channels), others: make([]int32, len(d.to)), count: make([]int32, n),
	}
	return s
}

// run searches from a switch, which is the destination or has it on one of its ports, and reports whether it came to
// all switches.
func (s *search) run(root int32, isSwitch bool, present int32) bool {
	for i := range s.by {
		s.distance[i], s.by[i] = infinity, fabric.None
	}
	clear(s.hops)
	s.root, s.present, s.detours, s.reached = root, present, 0, 1
	s.distance[root] = 0
	if !isSwitch {
		s.hops[root] = 1
	}
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

// spread searches until nothing changes any more.
func (s *search) spread() {
	sw, c := s.root, s.start(s.root)
	s.relaxed = append(s.relaxed[:0], c)
	s.relax(sw, c)
	for ends := uint64(0); len(s.heap.Elements) > 0; s.relax(sw, c) {
		if ends = s.ended(ends); ends == 0 {
			s.follow()
			return
		}
		sw = int32(uint32(s.heap.Take()))
		c = s.by[sw]
		s.hops[sw] = s.hops[s.from[c]] + 1
		s.relaxed = append(s.relaxed, c)
	}
}

// ended looks whether the search can change nothing any more, as all paths that it could still find were at least as long as
// the longest one that it has. That cannot be before the nearest switch in the heap is at the distance ends. It returns the
// next such distance, or 0 where it has ended.
func (s *search) ended(ends uint64) uint64 {
	nearest := s.heap.Elements[0] >> 32
	switch {
	case s.reached < len(s.by):
		return 1
	case nearest < ends:
		return ends
	}
	longest := slices.Max(s.distance)
	if nearest+s.shortest >= longest {
		return 0
	}
	return longest - s.shortest
}

// follow takes the switches in the heap for searched on from, in any order.
func (s *search) follow() {
	for _, e := range s.heap.Elements {
		sw := uint32(e)
		c := s.by[sw]
		s.hops[sw] = s.hops[s.from[c]] + 1
		s.relaxed = append(s.relaxed, c)
	}
	s.heap.Elements = s.heap.Elements[:0]
}

// relax looks at the channels after c, which leads to the switch sw, at those first that paths use already.
func (s *search) relax(sw, c int32) {
	low, high := s.out(sw)
	base, distance := s.base[c], s.distance[sw]
	to, distances := s.to[low:high], s.distance
	weight := s.weight[low:high][:len(to)]
	states := s.state[base:][:len(to)+wordStates]
	for first := 0; first < len(to); first += wordStates {
		for in := usedOf(states[first:]); in != 0; in &= in - 1 {
			k := first + bits.TrailingZeros64(in)/8
			if k >= len(to) {
				break
			}
			if d := distance + weight[k]; d < distances[to[k]] {
				s.enter(low+int32(k), d)
			}
		}
	}
	for first := 0; first < len(to); first += wordStates {
		for in := unusedOf(states[first:]); in != 0; in &= in - 1 {
			k := first + bits.TrailingZeros64(in)/8
			if k >= len(to) {
				break
			}
			if d := distance + weight[k]; d < distances[to[k]] && s.use(c, base+int32(k), low+int32(k), s.present) {
				s.enter(low+int32(k), d)
			}
		}
	}
}

// enter takes a channel for the path of the switch that it leads to.
func (s *search) enter(c int32, distance uint64) {
	sw := s.to[c]
	if old := s.by[sw]; old == fabric.None {
		s.reached++
	} else {
		s.taken[old] = s.present
		s.replace(sw, old)
	}
	s.distance[sw], s.by[sw] = distance, c
	s.heap.Insert(sw, distance)
}

// replace takes a switch out of the heap that is to be reached by another channel.
func (s *search) replace(sw, old int32) {
	s.heap.Delete(sw)
	if before := s.by[s.from[old]]; before != fabric.None {
		s.undo(s.edge(before, old))
	}
}

// impasse notes what was searched before the first impasse for what comes behind it.
func (s *search) impasse() {
	clear(s.found)
	for i := range s.turn {
		s.turn[i] = -1
	}
	for i, c := range s.relaxed {
		sw := s.ends[c]
		s.turn[sw], s.reach[c] = int32(i), s.distance[sw]
		if i > 0 {
			s.taken[c] = s.present
		}
	}
}

// spreadLate is spread from a channel that a detour has found.
func (s *search) spreadLate(c int32) {
	s.relaxLate(c)
	for ends := uint64(0); len(s.heap.Elements) > 0; s.relaxLate(c) {
		if ends = s.ended(ends); ends == 0 {
			s.heap.Elements = s.heap.Elements[:0]
			return
		}
		c = s.by[uint32(s.heap.Take())]
	}
}

// relaxLate is relax after the first detour, when edges may be given up meanwhile.
func (s *search) relaxLate(c int32) {
	low, high := s.out(s.ends[c])
	base, distance := s.base[c], s.reach[c]
	states, to, weight := s.state[base:][:high-low], s.to[low:high], s.weight[low:high]
	for k := range states {
		if states[k] >= used {
			if d := distance + weight[k]; d < s.distance[to[k]] {
				s.enterLate(c, low+int32(k), d)
			} else if s.by[to[k]] == fabric.None {
				s.list(low+int32(k), d)
			}
		}
	}
	for k := range states {
		if states[k] == unused {
			if d := distance + weight[k]; d < s.distance[to[k]] && s.use(c, base+int32(k), low+int32(k), s.present) {
				s.enterLate(c, low+int32(k), d)
			}
		}
	}
}

// enterLate takes a channel for the path of the switch that it leads to, where that was reached before the last
// detour only as a shortcut.
func (s *search) enterLate(c, next int32, distance uint64) {
	sw := s.to[next]
	if s.by[sw] == fabric.None || s.found[sw] == s.detours {
		s.put(c, next, distance)
	} else if s.shortcut(sw, next) {
		s.lead(c, next, distance)
	}
}

// put takes a channel for the path of the switch that it leads to.
func (s *search) put(c, next int32, distance uint64) {
	sw := s.to[next]
	if old := s.by[sw]; old == fabric.None {
		s.reached++
		s.found[sw] = s.detours
	} else {
		s.replace(sw, old)
	}
	s.reach[next] = distance
	s.heap.Insert(sw, distance)
	s.lead(c, next, distance)
}

// lead makes a channel, after another, the one into its switch.
func (s *search) lead(c, next int32, distance uint64) {
	sw := s.to[next]
	s.taken[next] = s.present
	s.distance[sw], s.by[sw] = distance, next
	s.hops[sw] = s.hops[s.ends[c]] + 1
}

// list notes a further channel into a switch, which could be used.
func (s *search) list(c int32, distance uint64) {
	sw := s.to[c]
	s.othersOf(sw)
	s.add(sw, c, distance)
}

func (s *search) add(sw, c int32, distance uint64) {
	s.reach[c] = distance
	if s.listed[c] != s.present {
		s.listed[c] = s.present
		s.others[s.first[sw]+s.count[sw]] = c
		s.count[sw]++
	}
}

// othersOf are the further channels into a switch, in the order in which they were looked at. Those that were
// looked at before the first impasse, and that no path took, are found when they are asked for.
func (s *search) othersOf(sw int32) []int32 {
	low, high := s.out(sw)
	if s.asked[sw] != s.present {
		s.asked[sw], s.count[sw] = s.present, 0
		s.before = s.before[:0]
		for _, c := range s.back[low:high] {
			if turn := s.turn[s.from[c]]; turn >= 0 && s.taken[c] != s.present && s.state[s.edge(s.relaxed[turn], c)] >= used {
				s.before = append(s.before, uint64(turn)<<32|uint64(c))
			}
		}
		slices.Sort(s.before)
		for _, e := range s.before {
			c := int32(uint32(e))
			s.add(sw, c, s.reach[s.relaxed[e>>32]]+s.weight[c])
		}
	}
	return s.others[low:][:s.count[sw]]
}

// keepPaths keeps the edges that the paths use, and gives up all others of this search.
func (s *search) keepPaths() {
	for _, c := range s.by {
		if c == fabric.None {
			continue
		}
		before := s.start(s.root)
		if at := s.from[c]; at != s.root {
			before = s.by[at]
		}
		s.keep(before, c)
	}
	s.settle(s.present)
}

// choice is a channel that could lead to a switch by the side of one that is not reached.
type choice struct {
	beside int32 // the other switch
	by     int32
	onward int32 // from there to the switch that is not reached
}

// detour is the way out of an impasse: it looks for a switch that is not reached, beside one that other channels lead
// to than that of its path, and sends the path of that one along one of these. It returns the channel into the
// switch that is reached now, None where there is none.
func (s *search) detour() int32 {
	for sw := range s.distance {
		if s.distance[sw] != infinity {
			continue
		}
		s.choose(int32(sw))
		found := int32(fabric.None)
		for _, c := range s.choices {
			if !s.open(c) {
				continue
			}
			s.reach[c.onward] = s.reach[c.by] + s.weight[c.onward]
			if found != fabric.None {
				s.list(c.onward, s.reach[c.onward])
				continue
			}
			s.by[sw], s.distance[sw] = c.onward, s.reach[c.onward]
			s.by[c.beside], s.distance[c.beside] = c.by, s.reach[c.by]
			found = c.onward
		}
		if found != fabric.None {
			return found
		}
	}
	return fabric.None
}

// choose collects the choices for a switch that is not reached, the nearest first.
func (s *search) choose(sw int32) {
	s.choices = s.choices[:0]
	low, high := s.out(sw)
	for c := low; c < high; c++ {
		beside := s.to[c]
		if s.distance[beside] == infinity {
			continue
		}
		s.collectDependent(beside)
		for _, by := range s.othersOf(beside) {
			if s.carries(by) {
				s.choices = append(s.choices, choice{beside, by, s.back[c]})
			}
		}
	}
	slices.SortStableFunc(s.choices, func(a, b choice) int { return cmp.Compare(s.reach[a.by], s.reach[b.by]) })
}

// collectDependent collects the channels by which paths go on from a switch, once for each cable.
func (s *search) collectDependent(sw int32) {
	s.dependent = s.dependent[:0]
	for _, far := range s.to[s.first[sw]:s.first[sw+1]] {
		if c := s.by[far]; c != fabric.None && s.from[c] == sw {
			s.dependent = append(s.dependent, c)
		}
	}
}

// carries reports whether all that depends on a switch could come by this channel, over used edges.
func (s *search) carries(by int32) bool {
	for _, c := range s.dependent {
		if s.from[by] == s.to[c] || s.state[s.edge(by, c)] < used {
			return false
		}
	}
	return true
}

// open reports whether a choice closes no cycle, and uses its edges then.
func (s *search) open(c choice) bool {
	onward := s.edge(c.by, c.onward)
	if s.state[onward] == blocked {
		return false
	}
	at := s.from[c.by]
	if at == s.root {
		return false
	}
	before := s.by[at]
	if s.from[before] == s.to[c.by] {
		return false
	}
	e := s.edge(before, c.by)
	if s.state[e] == blocked {
		return false
	}
	was := s.state[e]
	if !s.use(before, e, c.by, s.present) {
		return false
	}
	if !s.use(c.by, onward, c.onward, s.present) {
		if was != tentative {
			s.undo(e)
		}
		return false
	}
	return true
}

// shortcut reports whether the path of a switch that was reached before the last detour can come by a channel, with all
// that depends on it. As OpenSM's does it gives up the edges that it has just used.
func (s *search) shortcut(sw, by int32) bool {
	old := s.by[sw]
	s.collectDependent(sw)
	edges := make([]int32, 0, len(s.dependent))
	was := make([]state, 0, len(s.dependent))
	for _, c := range s.dependent {
		e := s.edge(by, c)
		edges, was = append(edges, e), append(was, s.state[e])
	}
	for i, e := range edges {
		if s.state[e] != blocked && s.use(by, e, s.dependent[i], s.present) {
			continue
		}
		for k, e := range edges[:i] {
			if was[k] != tentative {
				s.undo(e)
			}
		}
		return false
	}
	if before := s.by[s.from[old]]; before != fabric.None {
		s.undo(s.edge(before, old))
	}
	for _, e := range edges {
		s.undo(e)
	}
	return true
}
