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
	distance []step
	order    []int32 // the channels by which switches were reached, each after those on its path
	// For [tree.growInRounds]: no channel is shorter than shortest, equal is the distance at which a switch has two paths
	// of which the heap would choose, and open are the switches that are not at their distance for good.
	shortest    step
	equal       []step
	open, round []int32
}

func newTree(n *network) *tree {
	k := len(n.switches)
	t := &tree{network: n, into: make([]int32, k), distance: make([]step, k), equal: make([]step, k)}
	t.shortest = stepTo(0, n.shortest())
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
		t.into[s], t.distance[s], t.equal[s] = fabric.None, unreached, unreached
	}
	t.distance[root], t.order = 0, t.order[:0]
	t.open = append(t.open[:0], root)
	for least := step(0); len(t.open) > 0; {
		t.round, least = t.split(least+t.shortest, t.round[:0])
		for _, s := range t.round {
			if s != root {
				t.order = append(t.order, t.into[s])
			}
			least = min(least, t.relax(s))
		}
	}
	for s, d := range t.equal {
		if d != unreached && d == t.distance[s] {
			return false
		}
	}
	return true
}

// split moves the open switches that are nearer than a limit into a round, and returns the distance of the nearest other
// one.
func (t *tree) split(limit step, round []int32) ([]int32, step) {
	open, least := t.open[:0], unreached
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
func (t *tree) relax(s int32) step {
	low, high := t.out(s)
	distance, least := t.distance[s], unreached
	distances, into := t.distance, t.into
	for k, length := range t.length[low:high] {
		e := distance + length
		switch v := e.to(); {
		case e < distances[v]:
			if into[v] == fabric.None {
				t.open = append(t.open, int32(v))
			}
			distances[v], into[v] = e.only(), low+int32(k)
			least = min(least, e.only())
		case e.only() == distances[v] && e < unreached:
			t.choose(s, int32(v), low+int32(k))
		}
	}
	return least
}

// choose chooses between the channel into the switch v and one from s on a path of equal length.
func (t *tree) choose(s, v, c int32) {
	switch other := t.network.from[t.into[v]]; {
	case t.distance[s] < t.distance[other]:
		t.into[v] = c
	case t.distance[s] == t.distance[other] && other != s:
		t.equal[v] = t.distance[v]
	}
}

// growByHeap grows the tree as OpenSM does (Dijkstra, 1959). O(channels x log switches).
func (t *tree) growByHeap(root int32) {
	t.Elements = t.Elements[:len(t.into)]
	for s := range t.into {
		t.into[s], t.distance[s] = fabric.None, unreached
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
			if e := t.distance[s] + t.length[c]; e < t.distance[e.to()] {
				t.distance[e.to()], t.into[e.to()] = e.only(), c
				t.Nearer(int32(e.to()), e.distance())
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
