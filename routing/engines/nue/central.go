// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// central is the switch that most shortest paths between the destinations of a VL pass through (Brandes, "A
// Faster Algorithm for Betweenness Centrality", 2001), the first of several. Adapters count as nodes that hang on
// their switch. Sums are rounded one after the other as OpenSM's doubles are, so that equals stay equal.
// O(switches x (channels + destinations)).
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
		return best, routing.Refuse(Name, "no switch is central, as 64 bits do not count the shortest paths; OpenSM's nue ends with a segmentation fault here")
	}
	return best, nil
}

// sourcesAtOnce is how many sources are counted for at a time, by all processors.
const sourcesAtOnce = 64

// add adds what depends on each switch for a source, once for itself and once for each adapter on it.
func (h *hull) add(s int32, share, passing []float64) {
	for v, d := range share {
		for range h.adapters[s] {
			passing[v] += d
		}
		if int32(v) != s {
			passing[v] += d
		}
	}
}

// between counts shortest paths from one source after the other, level by level: a level is the switches that are as many hops
// from the source. It has few branches: nothing would predict them.
type between struct {
	*network
	inside   []bool
	adapters []uint8
	queue    []int32 // the switches by level, with room for one that does not stay
	levels   []level
	// more is 1 for a switch that is not in the queue yet, and passed for one in a level before the present one.
	more, passed []uint8
	paths        []uint64 // how many shortest paths come to a switch
	// Last channels of shortest paths, once for each cable, with room for one that does not stay: from these switches to those.
	before, after []int32
	// By switch: paths as OpenSM divides them, and what depends on a switch and ends there.
	counts, ends []float64
}

// level is where a level ends in the queue, and where the channels into it end.
type level struct{ queue, channels int }

func newBetween(h *hull) *between {
	n, cables := len(h.switches), len(h.to)/2
	return &between{
		network: h.network, inside: h.inside, adapters: h.adapters, queue: make([]int32, n+1),
		more: make([]uint8, n), passed: make([]uint8, n), paths: make([]uint64, n),
		before: make([]int32, cables+1), after: make([]int32, cables+1), counts: make([]float64, n), ends: make([]float64, n),
	}
}

// count counts the shortest paths from a switch to those inside.
func (w *between) count(s int32) {
	for v, inside := range w.inside {
		w.passed[v], w.more[v] = 0, 0
		if inside {
			w.more[v] = 1
		}
	}
	w.more[s], w.paths[s], w.counts[s] = 0, 1, 1
	w.queue[0], w.levels = s, append(w.levels[:0], level{1, 0})
	for low, high := 0, 1; low < high; {
		for _, u := range w.queue[low:high] {
			w.passed[u] = 1
		}
		low, high = high, w.nextLevel(w.queue, low, high, w.more)
		w.levels = append(w.levels, level{high, w.enter(low, high)})
	}
}

// enter counts the paths to the level from low to high, and returns where the channels into it end.
func (w *between) enter(low, high int) int {
	n := w.levels[len(w.levels)-1].channels
	before, after, passed, paths := w.before, w.after, w.passed, w.paths
	for _, v := range w.queue[low:high] {
		sum := uint64(0)
		for _, u := range w.to[w.first[v]:w.first[v+1]] {
			before[n], after[n] = u, v
			n += int(passed[u])
			sum += paths[u] & -uint64(passed[u])
		}
		paths[v], w.counts[v] = sum, float64(sum)
	}
	return n
}

// accumulate finds what depends on each switch for the source s, or for an adapter on it. These differ only
// at s itself, which is passed through by what its adapters send.
func (w *between) accumulate(s int32, share []float64) {
	clear(share)
	before, after := w.before, w.after
	for i := len(w.levels) - 1; i > 0; i-- {
		from, to := w.levels[i-1], w.levels[i]
		for _, v := range w.queue[from.queue:to.queue] {
			for range w.adapters[v] {
				share[v]++
			}
			w.ends[v] = 1 + share[v]
		}
		for k := to.channels - 1; k >= from.channels; k-- {
			u, v := before[k], after[k]
			part := w.counts[u] / w.counts[v]
			share[u] += float64(part * w.ends[v]) // rounded before it is added
		}
	}
	for range int(w.adapters[s]) - 1 {
		share[s]++
	}
}
