// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// infinity is the distance of switches that were not reached. A path of this length or more does not count.
const infinity = heap4.Infinity

// tree is a spanning tree of shortest paths from a switch. It holds, for each other switch, the channel that leads back
// towards this switch.
type tree struct {
	*network
	heap4.Heap
	up       []int32
	distance []step
	// order lists the reached switches. Each switch comes after the switches on its path. The slice has space for one
	// extra element that is written and ignored.
	order    []int32
	shortest step // no channel is shorter
}

// newTree returns an empty tree. When it grows, it uses the lengths that the channels have at that time.
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

// grow grows the tree from switch root. If two paths to a switch are equally long, the path wins whose last switch
// before it leaves OpenSM's heap first. This is the nearer switch. The heap is needed only if these switches are
// equally near as well.
func (t *tree) grow(root int32) {
	if !t.growByLevels(root) {
		t.growByHeap(root)
	}
}

// unseen is the distance of a switch to which no path was found so far.
const unseen = step(1 << 63)

// growByLevels grows the tree hop by hop without a heap. It reports whether the result is certainly that of the heap.
// The result is certain if fewer hops always make the shorter path, and no two paths to a switch are equally long. The
// former holds if the lengths of paths with the same number of hops differ by less than a channel. growByLevels has few
// branches because they would be unpredictable. O(channels).
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

// unsure is the place that marks a choice which only the heap can make. No switch has so many channels.
const unsure = math.MaxUint8

// choose chooses one of two equally long paths to a switch. The second path leads over switch u. It chooses the path
// from the nearer switch, and of several cables from there the first.
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

// settle fixes the paths to a level of switches. It reports whether these paths are certain and no path leads from one
// switch of the level to another.
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

// lengthen lengthens the channels of the tree by the load on them. The argument loads holds the load that each switch
// sends to the root. Afterwards it holds the load that passes each switch.
func (t *tree) lengthen(loads []uint64) {
	for _, s := range slices.Backward(t.order[1:]) {
		up := t.up[s]
		t.length[t.back[up]] += stepTo(0, loads[s])
		loads[t.to[up]] += loads[s]
	}
}

// into returns the channel into switch s on its path from the root, or None for the root.
func (t *tree) into(s int32) int32 {
	if t.up[s] == fabric.None {
		return fabric.None
	}
	return t.back[t.up[s]]
}

// The method from sets used[x], for each switch x, to the channel of the tree by which paths from switch s reach x.
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
