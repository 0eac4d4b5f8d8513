// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// infinity is the distance of what is not reached; a path of this length or more does not count.
const infinity = heap4.Infinity

// tree is a spanning tree of shortest paths from a switch, by the channel out of each switch that leads back there.
type tree struct {
	*network
	heap4.Heap
	// reverse are the lengths of channels, each in the place of its other direction, with the switch that it comes from.
	reverse  []step
	up       []int32
	distance []step
	order    []int32 // the switches that were reached, each after those on its path
	shortest step    // no channel is shorter
	levels   *levels
}

// newTree makes a tree of the lengths that channels have now.
func newTree(n *network) *tree {
	k := len(n.switches)
	t := &tree{
		network: n, reverse: make([]step, len(n.to)), up: make([]int32, k), distance: make([]step, k),
		shortest: stepTo(0, n.shortest()), levels: newLevels(n),
	}
	t.Place = make([]int32, k)
	t.Elements = make([]uint64, k)
	t.measure()
	return t
}

// measure takes over the lengths that channels have now.
func (t *tree) measure() {
	for s := range t.up {
		low, high := t.out(int32(s))
		for c := low; c < high; c++ {
			t.reverse[c] = stepTo(t.to[c], t.length[t.back[c]].distance()) | step(c-low)<<switchBits
		}
	}
}

// grow grows the tree from a switch.
func (t *tree) grow(root int32) {
	t.levels.find(t.network, root)
	t.growAlong(t.levels)
}

// growAlong grows the tree from the switch that these are the levels around. Where two paths to a switch are equally long,
// that wins whose last but one switch comes first out of OpenSM's heap: the nearer one. Only where these are equally near,
// too, the heap is needed.
func (t *tree) growAlong(l *levels) {
	if !t.growByLevels(l) {
		t.growByHeap(l.order[0])
	}
}

// growByLevels grows the tree without a heap, and reports whether it is sure to be the one that the heap gives: where
// fewer hops are always the shorter path, as the lengths of paths with as many hops differ by less than a channel, and no two
// paths to a switch are alike. O(channels).
func (t *tree) growByLevels(l *levels) bool {
	for s := range t.up {
		t.up[s], t.distance[s] = fabric.None, unreached
	}
	t.order = l.order
	t.distance[l.order[0]] = 0
	for i, end := range l.ends[1:] {
		if !t.approach(l.order[l.ends[i]:end]) {
			return false
		}
	}
	return true
}

// approach finds the shortest path to each switch of a level from those before it. It reports whether there is one of
// each, and none from one switch of the level to another.
func (t *tree) approach(level []int32) bool {
	distances := t.distance
	least, most := unreached, step(0)
	for _, v := range level {
		low, high := t.out(v)
		nearest, next := unreached, unreached
		for _, length := range t.reverse[low:high] {
			e := distances[length.to()] + length
			next = min(next, max(nearest, e))
			nearest = min(nearest, e)
		}
		place := nearest.place()
		nearest = nearest.only()
		if nearest == next.only() {
			if place = t.choose(v, nearest); place == fabric.None {
				return false
			}
		}
		distances[v], t.up[v] = nearest, low+place
		least, most = min(least, nearest), max(most, nearest)
	}
	return most < least+t.shortest && most < unreached
}

// choose chooses among the paths to a switch that give it this distance: the one from the nearest switch, and of several
// cables from there the first. It returns None where it takes the heap to choose.
func (t *tree) choose(v int32, distance step) int32 {
	low, high := t.out(v)
	best, nearest, sure := int32(fabric.None), unreached, true
	for c := low; c < high; c++ {
		d := t.distance[t.to[c]]
		switch {
		case (d+t.reverse[c]).only() != distance || d > nearest:
		case d < nearest:
			best, nearest, sure = c, d, true
		case t.to[c] != t.to[best]:
			sure = false
		case t.back[c] < t.back[best]:
			best = c
		}
	}
	if !sure || best == fabric.None {
		return fabric.None
	}
	return best - low
}

// growByHeap grows the tree as OpenSM does (Dijkstra, 1959). O(channels x log switches).
func (t *tree) growByHeap(root int32) {
	t.Elements = t.Elements[:len(t.up)]
	for s := range t.up {
		t.up[s], t.distance[s] = fabric.None, unreached
		t.Put(s, heap4.Element(infinity, int32(s)))
	}
	t.distance[root], t.order = 0, make([]int32, 0, len(t.up))
	t.Nearer(root, 0)
	for len(t.Elements) > 0 {
		e := t.Take()
		if e>>32 == infinity {
			return
		}
		s := int32(uint32(e))
		t.order = append(t.order, s)
		low, high := t.out(s)
		for c := low; c < high; c++ {
			v := t.to[c]
			if e := (t.distance[s] + t.reverse[t.back[c]]).only(); e < t.distance[v] {
				t.distance[v], t.up[v] = e, t.back[c]
				t.Nearer(v, e.distance())
			}
		}
	}
}

// lengthen makes the channels of the tree longer by what is sent over them: loads are, by switch, what it sends to the root,
// and become what it and others through it send there.
func (t *tree) lengthen(loads []uint64) {
	for _, s := range slices.Backward(t.order[1:]) {
		length := &t.reverse[t.up[s]]
		*length += stepTo(0, loads[s])
		loads[length.to()] += loads[s]
	}
}

// settle gives channels the lengths that they have in the tree.
func (t *tree) settle() {
	for c, length := range t.reverse {
		back := t.back[c]
		t.length[back] = stepTo(t.to[back], length.distance())
	}
}

// into is the channel into a switch on its path from the root, None for the root.
func (t *tree) into(s int32) int32 {
	if t.up[s] == fabric.None {
		return fabric.None
	}
	return t.back[t.up[s]]
}

// from enters into used, by switch, the channels of the tree as they lead away from a switch.
func (t *tree) from(s int32, used []int32) {
	for v := range used {
		used[v] = t.into(int32(v))
	}
	c := used[s]
	used[s] = fabric.None
	for c != fabric.None {
		above := t.network.from[c]
		next := used[above]
		used[above] = t.back[c]
		c = next
	}
}

func (t *tree) complete() bool { return len(t.order) == len(t.up) }
