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

// between counts shortest paths from one source after the other.
type between struct {
	*network
	inside   []bool
	adapters []uint8
	far      []int32
	queue    []int32
	paths    []uint64 // how many shortest paths come to a switch
	// before are the switches before each on shortest paths, once for each cable: befores of them, in the place of its channels.
	before, befores []int32
}

func newBetween(h *hull) *between {
	n := len(h.switches)
	return &between{
		network: h.network, inside: h.inside, adapters: h.adapters, far: make([]int32, n), paths: make([]uint64, n),
		before: make([]int32, len(h.to)), befores: make([]int32, n),
	}
}

// count counts the shortest paths from a switch to those inside.
func (w *between) count(s int32) {
	for i := range w.far {
		w.far[i], w.paths[i], w.befores[i] = -1, 0, 0
	}
	w.far[s], w.paths[s] = 0, 1
	w.queue = append(w.queue[:0], s)
	for i := 0; i < len(w.queue); i++ {
		u := w.queue[i]
		for _, v := range w.to[w.first[u]:w.first[u+1]] {
			if !w.inside[v] {
				continue
			}
			if w.far[v] < 0 {
				w.far[v] = w.far[u] + 1
				w.queue = append(w.queue, v)
			}
			if w.far[v] == w.far[u]+1 {
				w.paths[v] += w.paths[u]
				w.before[w.first[v]+w.befores[v]] = u
				w.befores[v]++
			}
		}
	}
}

// accumulate finds what depends on each switch for the source s, or for an adapter on it. These differ only
// at s itself, which is passed through by what its adapters send.
func (w *between) accumulate(s int32, share []float64) {
	clear(share)
	for i := len(w.queue) - 1; i >= 0; i-- {
		v := w.queue[i]
		ends := int(w.adapters[v])
		if v == s {
			ends--
		}
		for range ends {
			share[v]++
		}
		for _, u := range w.before[w.first[v] : w.first[v]+w.befores[v]] {
			part := float64(w.paths[u]) / float64(w.paths[v])
			share[u] += float64(part * (1 + share[v])) // rounded before it is added
		}
	}
}
