// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"context"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// central returns the first switch through which most shortest paths between the destinations of a VL pass (Brandes, "A
// Faster Algorithm for Betweenness Centrality", 2001). Adapters count as nodes attached to their switch. Sums are
// rounded in the same order as OpenSM's doubles, so that equal values stay equal. O(switches x (channels +
// destinations)).
func (h *hull) central(ctx context.Context) (int32, error) {
	n := len(h.switches)
	workers := make([]*between, routing.Workers())
	shares := make([][]float64, min(n, sourcesAtOnce))
	for i := range shares {
		shares[i] = make([]float64, n)
	}
	passing := make([]float64, n)
	for first := 0; first < n; first += sourcesAtOnce {
		count := min(n-first, sourcesAtOnce)
		err := routing.ForEach(ctx, count, nil, func(worker, i int) {
			if workers[worker] == nil {
				workers[worker] = newBetween(h)
			}
			if s := int32(first + i); h.inside[s] {
				workers[worker].count(s)
				workers[worker].accumulate(s, shares[i])
			}
		})
		if err != nil {
			return fabric.None, err
		}
		for i, share := range shares[:count] {
			if h.inside[first+i] {
				h.add(int32(first+i), share, passing)
			}
		}
	}
	best, most := int32(fabric.None), -1.0
	for s, p := range passing {
		if h.inside[s] && p > most {
			best, most = int32(s), p
		}
	}
	if best == fabric.None {
		return best, routing.Refuse(Name, "no switch is central: the number of shortest paths overflows 64 bits; "+
			"OpenSM's nue crashes with a segmentation fault here")
	}
	return best, nil
}

// sourcesAtOnce is the number of sources that are processed together on all processors.
const sourcesAtOnce = 64

// add adds the dependency of source switch s on each switch to the slice passing. It counts the dependency once for the
// source switch itself and once for each adapter on it.
func (h *hull) add(s int32, share, passing []float64) {
	for v, d := range share {
		sum := passing[v]
		for range h.adapters[s] {
			sum += d
		}
		if int32(v) != s {
			sum += d
		}
		passing[v] = sum
	}
}

// between counts the shortest paths from one source at a time. It has few branches because they would be unpredictable.
type between struct {
	*network
	inside   []uint8 // 1 for a switch in the hull
	adapters []uint8
	queue    []int32   // the switches by hops from the source, with space for one extra write
	more     []uint8   // 1 for a switch that is not in the queue yet
	hops     []int32   // -1 outside
	paths    []uint64  // the number of shortest paths to a switch of the next level
	level    []uint64  // the same for the switches of the current level
	counts   []float64 // the same as doubles, for division
}

func newBetween(h *hull) *between {
	n := len(h.switches)
	w := &between{
		network: h.network, inside: make([]uint8, n), adapters: h.adapters, queue: make([]int32, n+1),
		more: make([]uint8, n),
		hops: slices.Repeat([]int32{-1}, n), paths: make([]uint64, n), level: make([]uint64, n),
		counts: make([]float64, n),
	}
	for s, inside := range h.inside {
		w.inside[s] = uint8(one(inside))
	}
	return w
}

// count counts the shortest paths from switch s to the switches in the hull.
func (w *between) count(s int32) {
	copy(w.more, w.inside)
	clear(w.paths)
	queue := w.queue[:cap(w.queue)]
	queue[0], w.more[s], w.paths[s] = s, 0, 1
	low, high := 0, 1
	for hops := int32(0); low < high; hops++ {
		for i, u := range queue[low:high] {
			w.hops[u], w.level[i], w.counts[u] = hops, w.paths[u], float64(w.paths[u])
		}
		low, high = high, w.follow(queue, low, high)
	}
	w.queue = queue[:high]
}

// follow continues the paths from the switches in a range of the queue. It returns the end of the queue after the
// switches that it has added.
func (w *between) follow(queue []int32, low, high int) int {
	end, more, paths := high, w.more, w.paths
	for i, u := range queue[low:high] {
		come := w.level[i]
		for _, c := range w.lengths[u] {
			v := c.to()
			queue[end] = int32(v)
			end += int(more[v])
			more[v] = 0
			paths[v] += come
		}
	}
	return end
}

// accumulate computes the dependency of source switch s on each switch. For an adapter on s the dependencies are the
// same except at s, through which its packets pass.
func (w *between) accumulate(s int32, share []float64) {
	clear(share)
	hops, counts := w.hops, w.counts
	for i := len(w.queue) - 1; i > 0; i-- {
		v := w.queue[i]
		for range w.adapters[v] {
			share[v]++
		}
		ends, count, before := 1+share[v], counts[v], hops[v]-1
		for _, c := range w.lengths[v] {
			u := c.to()
			part := counts[u] / count
			share[u] += only(hops[u] == before, float64(part*ends)) // rounded before it is added
		}
	}
	for range int(w.adapters[s]) - 1 {
		share[s]++
	}
}

// only returns x if the argument holds is true, and 0 otherwise.
func only(holds bool, x float64) float64 {
	return math.Float64frombits(math.Float64bits(x) & -one(holds))
}
