// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math"

	"example.org/ibconsole/fabric"
)

// plan is what of the shortest paths to a switch does not depend on the lengths of arcs. Every arc is at least as long
// as a hop was before all routes, so that the paths with the fewest hops are the shortest, as long as the switches of
// a level, those with as many hops, do not differ by as much as a hop: a switch then sends to one of the level before
// its own.
type plan struct {
	// tree are the switches with a path by ascending hops, and within a level by ascending number of steps.
	tree  []node
	place []int32 // by switch its place in the tree, unplaced where there is none
	// alike are those with as many steps, level by level.
	alike []alike
	steps []step
	kept  bool // for another time
}

// What the place is of a switch that is not in the tree, and of one that will be in the next level.
const (
	unplaced = math.MaxInt32
	expected = unplaced - 1
)

// alike are switches of a level with as many steps to the level before.
type alike struct {
	begin, end int32 // in the tree
	steps      int32 // where theirs begin
	each       int32
	last       bool // of their level
}

// levels is memory to plan with: the switches of a level and of the next one, how many steps each has, these steps, and
// those of all levels.
type levels struct {
	*graph
	level, next  []fabric.SwitchIndex
	counts       []int32
	found, steps []step
}

func newLevels(g *graph) *levels {
	n := len(g.hosts)
	// One more than there can be is written, and overwritten.
	return &levels{
		graph: g, level: make([]fabric.SwitchIndex, n+1), next: make([]fabric.SwitchIndex, n+1),
		// a cable is a step in one direction at most
		found: make([]step, len(g.to)+1), steps: make([]step, 0, len(g.to)/2),
	}
}

// step is an arc by which a switch sends, and the place of that to which it leads.
type step struct{ arc, above int32 }

// planTo plans for a switch.
func (l *levels) planTo(sw fabric.SwitchIndex, p *plan) {
	if p.place == nil {
		n := len(l.hosts)
		p.place, p.tree = make([]int32, n), make([]node, 0, n)
	}
	l.steps = l.steps[:0]
	for i := range p.place {
		p.place[i] = unplaced
	}
	p.place[sw] = 0
	p.tree = append(p.tree[:0], node{arc: fabric.None, sw: uint16(sw)})
	p.alike = p.alike[:0]
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
	p.steps = append(p.steps[:0], l.steps...)
}

// expect lists those of some switches that are not in the tree yet, and returns how many. It has no branches: nothing
// would predict them.
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

// findSteps finds the steps of the switches of a level to that before, which the tree ends with.
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

// stepsTo lists the steps to switches whose place is before end, of arcs from low on, and returns how many. It has no
// branches, as expect.
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
	var first, next [256]int32 // by number of steps: where those switches begin, and their steps
	most := int32(0)
	for _, n := range l.counts {
		first[n]++
		most = max(most, n)
	}
	at, steps := int32(len(p.tree)), int32(len(l.steps))
	for n, count := range first[:most+1] {
		if count == 0 {
			continue
		}
		p.alike = append(p.alike, alike{begin: at, end: at + count, steps: steps, each: int32(n)})
		first[n], next[n] = at, steps
		at += count
		steps += count * int32(n)
	}
	p.alike[len(p.alike)-1].last = true
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
}
