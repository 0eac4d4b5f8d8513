// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math"

	"example.org/ibconsole/fabric"
)

// levels finds the shortest paths to a destination without a heap. Every arc is at least as long as a hop was before
// all routes, so that the paths with the fewest hops are the shortest, as long as the switches of a level, those
// with as many hops, do not differ by as much as a hop: a switch is then reached from the level before its own. What
// paths there are is the same for all LIDs of a switch.
type levels struct {
	root  fabric.SwitchIndex // that the rest is for
	depth []int32            // by switch: hops to the root, none where there is no path
	order []int32            // the switches with a path, by ascending depth
	ends  []int32            // where each level ends in order
	// inner are the arcs by which the switches are reached from the level before, those of the i-th of order up to
	// upTo[i].
	inner []step
	upTo  []int32
	// unsure are switches reached equally well from several ones at the same distance.
	unsure []int32
}

// step is an arc and the switch that it leaves.
type step struct{ arc, from int32 }

func newLevels(g *graph) levels {
	return levels{root: fabric.None, depth: make([]int32, len(g.hosts)), inner: make([]step, len(g.to)+1)}
}

// rootAt finds the levels around a switch.
func (s *search) rootAt(sw fabric.SwitchIndex) {
	if s.root == sw {
		return
	}
	s.root = sw
	for i := range s.depth {
		s.depth[i], s.distance[i], s.by[i] = fabric.None, infinity, fabric.None
	}
	s.depth[sw] = 0
	s.order, s.ends = append(s.order[:0], int32(sw)), s.ends[:0]
	for at := 0; at < len(s.order); {
		end := len(s.order)
		s.ends = append(s.ends, int32(end))
		for ; at < end; at++ {
			from := s.order[at]
			for _, peer := range s.to[s.first[from]:s.first[from+1]] {
				if s.depth[peer] == fabric.None {
					s.depth[peer] = s.depth[from] + 1
					s.order = append(s.order, int32(peer))
				}
			}
		}
	}
	s.upTo = append(s.upTo[:0], 0)
	inner, n := s.inner, uint32(0)
	for _, at := range s.order[1:] {
		before := s.depth[at] - 1
		for _, e := range s.into[s.intoFirst[at]:s.intoFirst[at+1]] {
			inner[n] = e
			n += same(s.depth[e.from], before)
		}
		s.upTo = append(s.upTo, int32(n))
	}
}

// same is 1 where two numbers are, without a branch: nothing would predict it.
func same(a, b int32) uint32 {
	x := uint32(a ^ b)
	return 1 - (x|-x)>>31
}

// byLevels finds the paths to a switch at some distance, and reports whether the levels can.
func (s *search) byLevels(sw fabric.SwitchIndex, distance uint64) bool {
	s.rootAt(sw)
	s.unsure = s.unsure[:0]
	s.distance[sw], s.by[sw] = distance, fabric.None
	begin := 1
	for _, end := range s.ends[1:] {
		nearest, farthest := uint64(infinity), uint64(0)
		for i := begin; i < int(end); i++ {
			at := s.order[i]
			d, arc, sure := s.best(s.inner[s.upTo[i-1]:s.upTo[i]])
			s.distance[at], s.by[at] = d, arc
			nearest, farthest = min(nearest, d), max(farthest, d)
			if !sure {
				s.unsure = append(s.unsure, at)
			}
		}
		if farthest >= infinity || farthest-nearest >= s.hop {
			return false
		}
		begin = int(end)
	}
	return true
}

// best is the arc of the shortest path. It compares distances with the places of their arcs behind them, without
// branches; a switch has no more arcs than a byte counts.
func (s *search) best(steps []step) (distance uint64, arc int32, sure bool) {
	distances, weight := s.distance, s.weight
	least, second := uint64(math.MaxUint64), uint64(math.MaxUint64)
	for i, e := range steps {
		d := (distances[e.from]+weight[e.arc])<<8 | uint64(i)
		second = min(second, max(least, d))
		least = min(least, d)
	}
	if least>>8 == second>>8 {
		return s.bestOfEqual(steps)
	}
	return least >> 8, steps[least&0xff].arc, true
}

// bestOfEqual is best where several paths are equal: that from the nearest switch. Which of several such switches, is
// not sure.
func (s *search) bestOfEqual(steps []step) (distance uint64, arc int32, sure bool) {
	best := steps[0]
	distance, sure = s.distance[best.from]+s.weight[best.arc], true
	for _, e := range steps[1:] {
		d := s.distance[e.from] + s.weight[e.arc]
		if d > distance {
			continue
		}
		if d < distance || s.distance[e.from] < s.distance[best.from] {
			distance, best, sure = d, e, true
		} else if e.from != best.from && s.distance[e.from] == s.distance[best.from] {
			sure = false
		}
	}
	return distance, best.arc, sure
}
