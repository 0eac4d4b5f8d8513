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
	order    []int32 // the channels by which switches were reached, each after those on its path
	// For [tree.growInRounds]: no channel is shorter than shortest, equal is the distance at which a switch has two paths
	// of which the heap would choose, and open are the switches that are not at their distance for good.
	shortest    uint64
	equal       []uint64
	open, round []int32
}

func newTree(n *network) *tree {
	k := len(n.switches)
	t := &tree{network: n, into: make([]int32, k), distance: make([]uint64, k), equal: make([]uint64, k)}
	t.shortest = n.shortest()
	t.Place = make([]int32, k)
	t.Elements = make([]uint64, k)
	return t
}

// grow grows the tree from a switch. Where two paths to a switch are equally long, that wins whose last but one switch
// comes first out of OpenSM's heap: the nearer one. Only where these are equally near, too, the heap is needed.
func (t *tree) grow(root int32) {
	if !t.growInRounds(root) {
		t.growByHeap(root)
	}
}

// growInRounds grows the tree without a heap, and reports whether it is sure to be the one that the heap gives. Each round
// takes all switches that are nearer to the nearest one than any channel is long, which are at their distance for good.
// O(channels + switches x rounds).
func (t *tree) growInRounds(root int32) bool {
	for s := range t.into {
		t.into[s], t.distance[s], t.equal[s] = fabric.None, infinity, infinity
	}
	t.distance[root], t.order = 0, t.order[:0]
	t.open = append(t.open[:0], root)
	for least := uint64(0); len(t.open) > 0; {
		t.round, least = t.split(least+t.shortest, t.round[:0])
		for _, s := range t.round {
			if s != root {
				t.order = append(t.order, t.into[s])
			}
			least = min(least, t.relax(s))
		}
	}
	for s, d := range t.equal {
		if d != infinity && d == t.distance[s] {
			return false
		}
	}
	return true
}

// split moves the open switches that are nearer than a limit into a round, and returns the distance of the nearest other
// one.
func (t *tree) split(limit uint64, round []int32) ([]int32, uint64) {
	open, least := t.open[:0], uint64(infinity)
	for _, s := range t.open {
		if d := t.distance[s]; d < limit {
			round = append(round, s)
		} else {
			open, least = append(open, s), min(least, d)
		}
	}
	t.open = open
	return round, least
}

// relax looks at the channels out of a switch, and returns the least distance that one of them gave.
func (t *tree) relax(s int32) uint64 {
	low, high := t.out(s)
	distance, least := t.distance[s], uint64(infinity)
	to, weight := t.to[low:high], t.weight[low:high]
	for k, v := range to {
		switch d := distance + weight[k]; {
		case d < t.distance[v]:
			if t.into[v] == fabric.None {
				t.open = append(t.open, v)
			}
			t.distance[v], t.into[v] = d, low+int32(k)
			least = min(least, d)
		case d == t.distance[v] && d != infinity:
			switch other := t.network.from[t.into[v]]; {
			case distance < t.distance[other]:
				t.into[v] = low + int32(k)
			case distance == t.distance[other] && other != s:
				t.equal[v] = d
			}
		}
	}
	return least
}

// growByHeap grows the tree as OpenSM does (Dijkstra, 1959). O(channels x log switches).
func (t *tree) growByHeap(root int32) {
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
		if s != root {
			t.order = append(t.order, t.into[s])
		}
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

func (t *tree) complete() bool { return len(t.order) == len(t.into)-1 }
