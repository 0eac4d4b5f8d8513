// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math"

	"example.org/ibconsole/fabric"
)

// plan holds the part of the shortest paths to a switch that does not depend on the lengths of arcs. A level is the set
// of switches with the same number of hops. Every arc is at least as long as hop, the initial length. Therefore a path
// with fewer hops is shorter if the distances of the switches of each level differ by less than hop. Each switch then
// sends to a switch of the level before its own.
type plan struct {
	// tree lists the switches with a path by ascending number of hops, and within a level by ascending number of steps.
	tree  []node
	place []int32 // by switch, its place in the tree, unplaced if it has none
	// stepGroups are sets of switches with the same number of steps, level by level.
	stepGroups []stepGroup
	steps      []step
	kept       bool // for reuse
}

const (
	unplaced = math.MaxInt32 // the place of a switch that is not in the tree
	expected = unplaced - 1  // the place of a switch that will be in the next level
)

// stepGroup is a set of switches of a level. All have the same number of steps to the level before.
type stepGroup struct {
	begin, end int32 // in the tree
	steps      int32 // the first of their steps
	each       int32
	last       bool // in their level
}

// levels is scratch memory for planning: the switches of a level and of the next one, the number of steps of each,
// these steps, and the groups and steps of all levels.
type levels struct {
	*graph
	level, next  []fabric.SwitchIndex
	counts       []int32
	groups       []stepGroup
	found, steps []step
	// By number of steps, the place of the next switch of a level and the place of its steps. Between two levels the
	// elements of places are 0.
	places, stepPlaces [256]int32
}

func newLevels(g *graph) *levels {
	n := len(g.hosts)
	// The branchless loops write one element after the last, and then overwrite it.
	return &levels{
		graph: g, level: make([]fabric.SwitchIndex, n+1), next: make([]fabric.SwitchIndex, n+1),
		// A cable is a step in at most one direction.
		found: make([]step, len(g.to)+1), steps: make([]step, 0, len(g.to)/2),
	}
}

// step is an arc by which a switch can send. above is the place of the switch at the end of the arc.
type step struct{ arc, above int32 }

// planTo computes the plan for a switch.
func (l *levels) planTo(sw fabric.SwitchIndex, p *plan) {
	if p.place == nil {
		n := len(l.hosts)
		p.place, p.tree = make([]int32, n), make([]node, 0, n)
	}
	l.steps, l.groups = l.steps[:0], l.groups[:0]
	for i := range p.place {
		p.place[i] = unplaced
	}
	p.place[sw] = 0
	p.tree = append(p.tree[:0], node{arc: fabric.None, sw: uint16(sw)})
	known := 1 + expect(l.to[l.first[sw]:l.first[sw+1]], p.place, l.next)
	for size := known - 1; size > 0; {
		l.level, l.next = l.next, l.level
		level := l.level[:size]
		size = 0
		if known < len(l.members) {
			for _, s := range level {
				size += expect(l.to[l.first[s]:l.first[s+1]], p.place, l.next[size:])
			}
			known += size
		}
		l.findSteps(p, level)
		l.addLevel(p, level)
	}
	p.steps, p.stepGroups = append(p.steps[:0], l.steps...), append(p.stepGroups[:0], l.groups...)
}

// expect lists the peers that are not in the tree yet, and returns their number. It is branchless because the branches
// would be unpredictable.
//
//go:noinline
func expect(peers []fabric.SwitchIndex, place []int32, next []fabric.SwitchIndex) int {
	n := uint32(0)
	for _, peer := range peers {
		at := place[peer]
		next[n] = peer
		n += uint32(expected-at) >> 31
		place[peer] = min(at, expected)
	}
	return int(n)
}

// findSteps finds the steps from the switches of a level to the level before, which is the last one in the tree.
func (l *levels) findSteps(p *plan, level []fabric.SwitchIndex) {
	l.counts = l.counts[:0]
	end, n := int32(len(p.tree)), 0
	for _, sw := range level {
		low, high := l.first[sw], l.first[sw+1]
		count := stepsTo(l.to[low:high], p.place, l.found[n:], end, low)
		l.counts = append(l.counts, int32(count))
		n += count
	}
}

// stepsTo lists the steps to switches whose place is before the argument end, and returns their number. The argument
// low is the index of the first arc of the steps. It is branchless like expect.
//
//go:noinline
func stepsTo(peers []fabric.SwitchIndex, place []int32, found []step, end, low int32) int {
	n := uint32(0)
	for i, peer := range peers {
		above := place[peer]
		found[n] = step{low + int32(i), above}
		n += uint32(above-end) >> 31
	}
	return int(n)
}

// addLevel adds the switches of a level to the tree, by ascending number of steps.
func (l *levels) addLevel(p *plan, level []fabric.SwitchIndex) {
	most := int32(0)
	for _, n := range l.counts {
		l.places[n]++
		most = max(most, n)
	}
	first, next := l.places[:most+1], l.stepPlaces[:most+1]
	at, steps := int32(len(p.tree)), int32(len(l.steps))
	for n, count := range first {
		if count == 0 {
			continue
		}
		l.groups = append(l.groups, stepGroup{begin: at, end: at + count, steps: steps, each: int32(n)})
		first[n], next[n] = at, steps
		at += count
		steps += count * int32(n)
	}
	l.groups[len(l.groups)-1].last = true
	p.tree = p.tree[:at]
	l.steps = l.steps[:steps]
	found := l.found
	for i, sw := range level {
		n := l.counts[i]
		own := l.steps[next[n] : next[n]+n]
		copy(own, found)
		found = found[n:]
		next[n] += n
		p.place[sw] = first[n]
		p.tree[first[n]] = node{arc: own[0].arc, above: own[0].above, sw: uint16(sw), port: l.port[own[0].arc]}
		first[n]++
	}
	clear(first)
}
