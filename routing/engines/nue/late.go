// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// late is the part of the state of a search that is used from its first impasse on. An impasse is the end of a search
// that has not reached all switches.
type late struct {
	// givenUp is set if paths take turns that the dependencies of the VL no longer contain.
	givenUp bool
	// found holds, for each switch, the number of detours that were left when the switch was found. early is the
	// channel into each switch at the first impasse, or None. before is the distance of each switch at that time.
	found, early []int32
	before       []step
	// reach holds, for each channel, the last distance with which the channel was considered after the first impasse.
	reach []step
	// others lists further usable channels into each switch, in the order in which they were considered. Switch s has
	// count[s] of them, from index first[s] on.
	others []int32
	count  []int32
	// listedIn holds, for each switch, the last search in which othersOf was called for the switch.
	listedIn  []int32
	sooner    []uint64
	choices   []choice
	dependent []int32
}

// impasse saves the state of the search at its first impasse.
func (s *search) impasse() {
	clear(s.found)
	copy(s.early, s.by)
	copy(s.before, s.distance)
	s.early[s.root] = s.start(s.root)
}

// spreadLate continues the search like spread, starting at a channel that a detour has found.
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

// relaxLate is like relax, for the time after the first detour. During this time edges may be released.
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

// enterLate uses the channel in the argument next, after channel c, for the path of the switch to which it leads. If
// the switch was reached before the last detour, enterLate uses the channel only as a shortcut.
func (s *search) enterLate(c, next int32, e step) {
	sw := s.to[next]
	if s.by[sw] == fabric.None || s.found[sw] == s.detours {
		s.put(c, next, e)
	} else if s.shortcut(sw, next) {
		s.lead(c, next, e)
	}
}

// put uses the channel in the argument next, after channel c, for the path of the switch to which it leads, and adds
// the switch to the heap.
func (s *search) put(c, next int32, e step) {
	sw := s.to[next]
	if old := s.by[sw]; old == fabric.None {
		s.reached++
		s.found[sw] = s.detours
		s.appendSearched(sw)
	} else {
		s.replace(sw, old)
	}
	s.reach[next] = e.only()
	s.heap.insert(e)
	s.lead(c, next, e)
}

// lead makes a channel, after channel c, the channel into the switch to which it leads.
func (s *search) lead(c, next int32, e step) {
	sw := s.to[next]
	s.taken[next] = s.present
	s.distance[sw], s.by[sw] = e.only(), next
	s.hops[sw] = s.hops[s.ends[c]] + 1
}

// list records channel c as a further usable channel into a switch.
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

// othersOf returns the further channels into a switch, in the order in which they were considered. Channels that were
// considered before the first impasse and that no path uses are determined on demand.
func (s *search) othersOf(sw int32) []int32 {
	low, high := s.out(sw)
	if s.listedIn[sw] != s.present {
		s.listedIn[sw], s.count[sw] = s.present, 0
		s.sooner = s.sooner[:0]
		for _, c := range s.back[low:high] {
			at := s.from[c]
			if into := s.early[at]; into != fabric.None && s.taken[c] != s.present && s.early[sw] != c &&
				s.used.has(s.edge(into, c)) {
				s.sooner = append(s.sooner, uint64(s.place[at])<<32|uint64(c))
			}
		}
		slices.Sort(s.sooner)
		for _, e := range s.sooner {
			c := int32(uint32(e))
			s.add(c, s.before[s.from[c]]+s.length[c])
		}
	}
	return s.others[low:][:s.count[sw]]
}
