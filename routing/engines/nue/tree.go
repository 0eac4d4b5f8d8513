// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/heap4"
)

// infinity is the distance of what is not reached; a path of this length or more does not count.
const infinity = heap4.Infinity

// tree is a spanning tree of shortest paths from a switch, by the channel into each switch.
type tree struct {
	*network
	heap4.Heap
	into     []int32
	distance []uint64
	order    []int32 // the switches as they were reached
}

func newTree(n *network) *tree {
	k := len(n.switches)
	t := &tree{network: n, into: make([]int32, k), distance: make([]uint64, k)}
	t.Place = make([]int32, k)
	t.Elements = make([]uint64, k)
	return t
}

// grow grows the tree from a switch (Dijkstra, 1959). O(channels x log switches).
func (t *tree) grow(root int32) {
	t.Elements = t.Elements[:len(t.into)]
	for s := range t.into {
		t.into[s], t.distance[s] = fabric.None, infinity
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
			if v, d := t.to[c], e>>32+t.weight[c]; d < t.distance[v] {
				t.distance[v], t.into[v] = d, c
				t.Nearer(v, d)
			}
		}
	}
}

// from enters into used, by switch, the channels of the tree as they lead away from a switch.
func (t *tree) from(s int32, used []int32) {
	copy(used, t.into)
	c := used[s]
	used[s] = fabric.None
	for c != fabric.None {
		above := t.network.from[c]
		next := used[above]
		used[above] = t.back[c]
		c = next
	}
}

func (t *tree) complete() bool { return len(t.order) == len(t.into) }
