// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// choice is a way to reach an unreached switch: a channel into one of its neighbours, and the channel onward from the
// neighbour.
type choice struct {
	neighbour int32
	by        int32 // into the neighbour
	onward    int32 // from there to the unreached switch
}

// detour finds a path out of an impasse, in which some switch was not reached. It searches for an unreached switch with
// a reached neighbour to which other channels lead as well. It moves the path of the neighbour to one of these
// channels. It returns the channel into the newly reached switch, or None.
func (s *search) detour() int32 {
	for sw := range s.distance {
		if s.distance[sw] != unreached {
			continue
		}
		s.choose(int32(sw))
		found := int32(fabric.None)
		for _, c := range s.choices {
			if !s.canUse(c) {
				continue
			}
			e := s.reach[c.by] + s.length[c.onward]
			if found != fabric.None {
				s.list(c.onward, e)
				continue
			}
			s.reach[c.onward] = e.only()
			s.by[sw], s.distance[sw] = c.onward, s.reach[c.onward]
			s.by[c.neighbour], s.distance[c.neighbour] = c.by, s.reach[c.by]
			found = c.onward
		}
		if found != fabric.None {
			s.appendSearched(int32(sw))
			return found
		}
	}
	return fabric.None
}

// choose collects the choices for an unreached switch. The nearest choice comes first.
func (s *search) choose(sw int32) {
	s.choices = s.choices[:0]
	low, high := s.out(sw)
	for c := low; c < high; c++ {
		neighbour := s.to[c]
		if s.distance[neighbour] == unreached {
			continue
		}
		others := s.othersOf(neighbour)
		if len(others) > 0 {
			s.collectDependent(neighbour)
		}
		for _, by := range others {
			if s.carries(by) {
				s.choices = append(s.choices, choice{neighbour, by, s.back[c]})
			}
		}
	}
	slices.SortStableFunc(s.choices, func(a, b choice) int { return cmp.Compare(s.reach[a.by], s.reach[b.by]) })
}

// collectDependent collects the channels by which paths continue from a switch. A channel is listed once for each cable
// to the next switch.
func (s *search) collectDependent(sw int32) {
	s.dependent = s.dependent[:0]
	for _, far := range s.to[s.first[sw]:s.first[sw+1]] {
		if c := s.by[far]; c != fabric.None && s.from[c] == sw {
			s.dependent = append(s.dependent, c)
		}
	}
}

// carries reports whether all paths that continue from a switch could arrive at the switch by a channel, with edges
// that are used already.
func (s *search) carries(by int32) bool {
	for _, c := range s.dependent {
		if s.from[by] == s.to[c] || !s.used.has(s.edge(by, c)) {
			return false
		}
	}
	return true
}

// canUse reports whether the edges of a choice close no cycle. If so, it marks them as used.
func (s *search) canUse(c choice) bool {
	if !s.open.has(s.edge(c.by, c.onward)) {
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
	if !s.open.has(e) {
		return false
	}
	was := s.tentative.has(e)
	if !s.use(before, c.by, s.present) {
		return false
	}
	if !s.use(c.by, c.onward, s.present) {
		if !was {
			s.undo(before, c.by)
		}
		return false
	}
	return true
}

// shortcut reports whether a channel can replace the channel into switch sw, for the path of sw and all paths that
// continue from it. The switch was reached before the last detour. Like OpenSM, shortcut releases the edges that it has
// just used.
func (s *search) shortcut(sw, by int32) bool {
	old := s.by[sw]
	s.collectDependent(sw)
	was := make([]bool, 0, len(s.dependent))
	for _, c := range s.dependent {
		was = append(was, s.tentative.has(s.edge(by, c)))
	}
	for i, next := range s.dependent {
		if s.open.has(s.edge(by, next)) && s.use(by, next, s.present) {
			continue
		}
		for k, next := range s.dependent[:i] {
			if !was[k] {
				s.undo(by, next)
			}
		}
		return false
	}
	if before := s.by[s.from[old]]; before != fabric.None {
		s.undo(before, old)
	}
	for _, next := range s.dependent {
		s.undo(by, next)
	}
	s.cut = true
	return true
}
