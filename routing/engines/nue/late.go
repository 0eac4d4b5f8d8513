// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// late is what a search needs from its first impasse on.
type late struct {
	// givenUp says that paths take turns that the dependencies of the VL do not have any more.
	givenUp bool
	// found is, by switch, after how many detours it was found, and place the place in relaxed of the channel into it, -1
	// for none.
	found, place []int32
	// reach is the distance at which a channel was looked at last.
	reach []step
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

// impasse notes what was searched before the first impasse for what comes behind it.
func (s *search) impasse() {
	clear(s.found)
	for i := range s.place {
		s.place[i] = -1
	}
	for i, c := range s.relaxed {
		sw := s.ends[c]
		s.place[sw], s.reach[c] = int32(i), s.distance[sw]
		if i > 0 {
			s.taken[c] = s.present
		}
	}
}

// spreadLate is spread from a channel that a detour has found.
func (s *search) spreadLate(c int32) {
	s.relaxLate(c)
	for ends := step(0); s.heap.n > 0; s.relaxLate(c) {
		if s.reached == len(s.by) {
			if ends = s.ended(ends); ends == 0 {
				s.heap.drain(func(int32) {})
				return
			}
		}
		c = s.by[s.heap.take().to()]
	}
}

// relaxLate is relax after the first detour, when edges may be given up meanwhile.
func (s *search) relaxLate(c int32) {
	low, high := s.out(s.ends[c])
	for next := low; next < high; next++ {
		if !s.used.has(s.edge(c, next)) {
			continue
		}
		if e := s.reach[c] + s.length[next]; e < s.distance[e.to()] {
			s.enterLate(c, next, e)
		} else if s.by[e.to()] == fabric.None {
			s.list(next, e)
		}
	}
	for next := low; next < high; next++ {
		if edge := s.edge(c, next); s.used.has(edge) || !s.open.has(edge) {
			continue
		}
		if e := s.reach[c] + s.length[next]; e < s.distance[e.to()] && s.use(c, next, s.present) {
			s.enterLate(c, next, e)
		}
	}
}

// enterLate takes a channel for the path of the switch that it leads to, where that was reached before the last
// detour only as a shortcut.
func (s *search) enterLate(c, next int32, e step) {
	sw := s.to[next]
	if s.by[sw] == fabric.None || s.found[sw] == s.detours {
		s.put(c, next, e)
	} else if s.shortcut(sw, next) {
		s.lead(c, next, e)
	}
}

// put takes a channel for the path of the switch that it leads to.
func (s *search) put(c, next int32, e step) {
	sw := s.to[next]
	if old := s.by[sw]; old == fabric.None {
		s.reached++
		s.found[sw] = s.detours
	} else {
		s.replace(sw, old)
	}
	s.reach[next] = e.only()
	s.heap.insert(e)
	s.lead(c, next, e)
}

// lead makes a channel, after another, the one into its switch.
func (s *search) lead(c, next int32, e step) {
	sw := s.to[next]
	s.taken[next] = s.present
	s.distance[sw], s.by[sw] = e.only(), next
	s.hops[sw] = s.hops[s.ends[c]] + 1
}

// list notes a further channel into a switch, which could be used.
func (s *search) list(c int32, e step) {
	s.othersOf(s.to[c])
	s.add(c, e)
}

func (s *search) add(c int32, e step) {
	sw := e.to()
	s.reach[c] = e.only()
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
			if at := s.place[s.from[c]]; at >= 0 && s.taken[c] != s.present && s.used.has(s.edge(s.relaxed[at], c)) {
				s.before = append(s.before, uint64(at)<<32|uint64(c))
			}
		}
		slices.Sort(s.before)
		for _, e := range s.before {
			c := int32(uint32(e))
			s.add(c, s.reach[s.relaxed[e>>32]]+s.length[c])
		}
	}
	return s.others[low:][:s.count[sw]]
}
