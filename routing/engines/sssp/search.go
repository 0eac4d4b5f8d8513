// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// infinity is the distance of switches that were not reached. A path of this length or more does not count.
const infinity = heap4.Infinity

// search finds the shortest paths from all switches to one destination at a time. It uses a plan. It uses the heap only
// if the result depends on the order of equally near switches.
type search struct {
	*graph
	*plan
	byHeap
	// tree lists the switches with a path. Each switch comes after the switch to which it sends. The list comes from
	// the plan or from the heap.
	tree     []node
	distance []uint32 // by place in the tree
	// found is the memory for a tree that the heap finds.
	found []node
	// ties are the switches with several equally short paths, by ascending place.
	ties []tie
	load []uint32 // by place, the LIDs behind it; 0 between two runs
}

// node is a switch of the tree.
type node struct {
	arc   int32 // by which it sends
	above int32 // the place of the switch to which it sends
	// bound is the minimum length of a path by another arc. While arcs only grow, a shorter path stays the best path.
	bound uint32
	sw    uint16 // there are no more switches than LIDs
	port  uint8  // of the arc
}

// tie is a switch with several equally short paths, by its place in the tree, and its range of steps.
type tie struct{ place, begin, end int32 }

func newSearch(g *graph) *search {
	n := len(g.hosts)
	s := &search{graph: g, byHeap: newByHeap(g), distance: make([]uint32, n), load: make([]uint32, n)}
	return s
}

// begin sets the plan for the paths to its switch and to the adapters on this switch.
func (s *search) begin(p *plan) {
	s.plan, s.tree = p, p.tree
	for i := range s.tree {
		s.tree[i].bound = 0
	}
}

// run finds the paths to the switch of the plan, or to an adapter on its ports. Between two runs with the same plan,
// the lengths of arcs may only grow.
func (s *search) run(isSwitch bool) {
	distance := uint64(1)
	if isSwitch {
		distance = 0
	}
	root := int32(s.plan.tree[0].sw)
	if !s.byPlan(distance) {
		s.runAll(root, distance)
		s.takeAll()
		return
	}
	for left := len(s.ties); left > 0; left-- {
		t := &s.ties[left-1]
		by, sure := s.bestOfEqual(t)
		if !sure {
			s.chooseByHeap(s.ties[:left], root, distance)
			return
		}
		s.choose(&s.tree[t.place], by)
	}
}

// chooseByHeap chooses the arcs of tied switches by the order of the heap.
func (s *search) chooseByHeap(ties []tie, root int32, distance uint64) {
	s.limit, s.near, s.left = 0, -1, len(ties) // the root is near from the beginning
	for _, t := range ties {
		v := &s.tree[t.place]
		s.tied[v.sw] = s.distance[t.place]
		s.limit = max(s.limit, uint64(s.distance[v.above]))
	}
	for i, v := range s.tree {
		s.least[v.sw] = s.distance[i]
		if uint64(s.distance[i]) <= s.limit {
			s.near++
		}
	}
	s.byHeap.run(root, distance)
	for _, t := range ties {
		v := &s.tree[t.place]
		s.tied[v.sw] = 0
		arc := s.via[v.sw]
		s.choose(v, step{arc, s.place[s.to[arc]]})
	}
}

// choose makes a switch send by an arc.
func (s *search) choose(v *node, by step) { v.arc, v.above, v.port = by.arc, by.above, s.port[by.arc] }

// byPlan finds the paths by the plan. It reports whether this is possible.
func (s *search) byPlan(distance uint64) bool {
	s.ties, s.tree = s.ties[:0], s.plan.tree
	s.distance[0] = uint32(distance)
	nearest, farthest := uint64(infinity), uint64(0)
	for i := range s.stepGroups {
		a := &s.stepGroups[i]
		low, high := s.settle(a)
		nearest, farthest = min(nearest, low), max(farthest, high)
		if !a.last {
			continue
		}
		if farthest >= infinity || farthest-nearest >= s.hop {
			return false
		}
		nearest, farthest = infinity, 0
	}
	return true
}

// settle finds the arcs of the shortest paths of the switches of a group, and their distances. It returns the least and
// the greatest distance. It compares numbers that combine a distance and the place of an arc, without branches. A
// switch has at most 256 arcs.
func (s *search) settle(a *stepGroup) (nearest, farthest uint64) {
	if a.each == 1 {
		return s.settleOnly(a)
	}
	distances, weight, tree := s.distance, s.weight, s.tree[a.begin:a.end]
	nearest = infinity
	for i := range tree {
		v := &tree[i]
		d := uint64(distances[v.above]) + uint64(weight[v.arc])
		if d >= uint64(v.bound) {
			begin := a.steps + int32(i)*a.each
			own := s.steps[begin:][:a.each]
			least, second := shortest(own, distances, weight)
			d = least >> 8
			v.bound = uint32(min(second>>8, math.MaxUint32))
			if d == second>>8 {
				s.ties = append(s.ties, tie{a.begin + int32(i), begin, begin + a.each})
			}
			s.choose(v, own[least&0xff])
		}
		distances[int(a.begin)+i] = uint32(d)
		nearest, farthest = min(nearest, d), max(farthest, d)
	}
	return nearest, farthest
}

// settleOnly is like settle for switches that have only one step.
func (s *search) settleOnly(a *stepGroup) (nearest, farthest uint64) {
	above, weight, tree := s.distance, s.weight, s.tree[a.begin:a.end]
	distances := s.distance[a.begin:][:len(tree)]
	nearest = infinity
	for i := range tree {
		v := &tree[i]
		d := uint64(above[v.above]) + uint64(weight[v.arc])
		distances[i] = uint32(d)
		nearest, farthest = min(nearest, d), max(farthest, d)
	}
	return nearest, farthest
}

// shortest returns the least and the second least distance by some steps. The lowest byte of each result is the place
// of the step, because a switch has at most 256 arcs. shortest is branchless because the branches would be
// unpredictable. It is not inlined because its variables would not stay in registers.
//
//go:noinline
func shortest(steps []step, distances, weight []uint32) (least, second uint64) {
	least, second = math.MaxUint64, math.MaxUint64
	for k, e := range steps {
		d := (uint64(distances[e.above])+uint64(weight[e.arc]))<<8 | uint64(k)
		second = min(second, max(least, d))
		least = min(least, d)
	}
	return least, second
}

// bestOfEqual returns the best of several equally short paths. This is the path by the nearest switch, and there by the
// first port. The result sure is false if several switches are nearest.
func (s *search) bestOfEqual(t *tie) (best step, sure bool) {
	nearest := uint32(math.MaxUint32)
	for _, e := range s.steps[t.begin:t.end] {
		d := s.distance[e.above]
		if uint64(d)+uint64(s.weight[e.arc]) != uint64(s.distance[t.place]) || d > nearest {
			continue
		}
		switch {
		case d < nearest:
			nearest, best, sure = d, e, true
		case e.above != best.above:
			sure = false
		case s.farPort[e.arc] < s.farPort[best.arc]:
			best = e
		}
	}
	return best, sure
}

// takeAll makes the result of the heap the tree.
func (s *search) takeAll() {
	s.found = s.found[:0]
	place := make([]int32, len(s.hosts))
	for i, sw := range s.taken {
		place[sw] = int32(i)
		s.found = append(s.found, node{arc: fabric.None, sw: uint16(sw)})
		if arc := s.via[sw]; arc != fabric.None {
			s.choose(&s.found[i], step{arc, place[s.to[arc]]})
		}
	}
	s.tree = s.found
}

// use writes the ports of the paths into a row. It lengthens the arcs of the paths by the number of LIDs that send over
// them.
func (s *search) use(row []uint8) {
	load, weight, tree := s.load[:len(s.tree)], s.weight, s.tree
	for i := len(tree) - 1; i > 0; i-- {
		v := &tree[i]
		all := load[i] + s.hosts[v.sw]
		load[i] = 0
		load[v.above] += all
		weight[v.arc] += all
		row[v.sw] = v.port
	}
	if len(tree) > 0 {
		load[0] = 0
	}
}
