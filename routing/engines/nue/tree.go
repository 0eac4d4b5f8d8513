// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math"
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
	up       []int32
	distance []step
	// the switches that were reached, each after those on its path, with room for one that does not stay
	order    []int32
	shortest step // no channel is shorter
}

// newTree makes a tree of the lengths that channels have when it grows.
func newTree(n *network) *tree {
	k := len(n.switches)
	t := &tree{
		network: n, up: make([]int32, k), distance: make([]step, k), order: make([]int32, k+1),
		shortest: stepTo(0, n.shortest()),
	}
	t.Place = make([]int32, k)
	t.Elements = make([]uint64, k)
	return t
}

// grow grows the tree from a switch. Where two paths to a switch are equally long, that wins whose last but one switch
// comes first out of OpenSM's heap: the nearer one. Only where these are equally near, too, the heap is needed.
func (t *tree) grow(root int32) {
	if !t.growByLevels(root) {
		t.growByHeap(root)
	}
}

// unseen is the distance of a switch that no path was found to yet.
const unseen = step(1 << 63)

// growByLevels grows the tree without a heap, hop by hop, and reports whether it is sure to be the one that the heap
// gives: where fewer hops are always the shorter path, as the lengths of paths with as many hops differ by less than a
// channel, and no two paths to a switch are alike. It has few branches: nothing would predict them. O(channels).
func (t *tree) growByLevels(root int32) bool {
	order, distances := t.order[:cap(t.order)], t.distance
	for s := range distances {
		t.up[s], distances[s] = fabric.None, unseen
	}
	order[0], distances[root] = root, 0
	low, high := 0, 1
	for low < high {
		end := high
		for _, u := range order[low:high] {
			distance := distances[u]
			for _, length := range t.lengths[u] {
				e := distance + length
				old := distances[e.to()]
				order[end] = int32(e.to())
				end += int(old >> 63)
				nearest := min(old, e)
				if (old^e)>>lowBits == 0 {
					nearest = t.choose(old, e, u)
				}
				distances[e.to()] = nearest
			}
		}
		low, high = high, end
		if !t.settle(order[low:high]) {
			return false
		}
	}
	t.order = order[:high]
	return true
}

// unsure is the place of a channel where only the heap could choose: no switch has so many.
const unsure = math.MaxUint8

// choose chooses among two equally long paths to a switch, the latter over u: the one from the nearer switch, and of
// several cables from there the first.
func (t *tree) choose(old, e step, u int32) step {
	if old.place() == unsure {
		return old
	}
	other := t.to[t.first[e.to()]+old.place()]
	switch {
	case other == u || t.distance[other] < t.distance[u]:
		return old
	case t.distance[other] > t.distance[u]:
		return e
	}
	return old | placeOf(unsure)
}

// settle takes over the paths to a level of switches. It reports whether these are sure, and there is none from one of
// them to another.
func (t *tree) settle(level []int32) bool {
	least, most, last := unseen, step(0), int32(0)
	for _, v := range level {
		distance := t.distance[v]
		place := distance.place()
		distance = distance.only()
		t.distance[v], t.up[v] = distance, t.first[v]+place
		least, most, last = min(least, distance), max(most, distance), max(last, place)
	}
	return most < least+t.shortest && most < unreached && last < unsure
}

// growByHeap grows the tree as OpenSM does (Dijkstra, 1959). O(channels x log switches).
func (t *tree) growByHeap(root int32) {
	t.Elements = t.Elements[:len(t.up)]
	for s := range t.up {
		t.up[s], t.distance[s] = fabric.None, unreached
		t.Put(s, heap4.Element(infinity, int32(s)))
	}
	t.distance[root], t.order = 0, t.order[:0]
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
			if e := (t.distance[s] + t.length[c]).only(); e < t.distance[v] {
				t.distance[v], t.up[v] = e, t.back[c]
				t.Nearer(v, e.distance())
			}
		}
	}
}

// lengthen makes the channels of the tree longer by what is sent over them: loads are, by switch, what it sends to the
// root, and become what it and others through it send there.
func (t *tree) lengthen(loads []uint64) {
	for _, s := range slices.Backward(t.order[1:]) {
		up := t.up[s]
		t.length[t.back[up]] += stepTo(0, loads[s])
		loads[t.to[up]] += loads[s]
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
