// SPDX-License-Identifier: Apache-2.0

package nue

// central is the switch that most shortest paths between the destinations of a VL pass through (Brandes, "A
// Faster Algorithm for Betweenness Centrality", 2001), the first of several. Adapters count as nodes that hang on
// their switch. Sums are rounded one after the other as OpenSM's doubles are, so that equals stay equal.
// O(switches x (channels + destinations)).
func (h *hull) central() int32 {
	n := len(h.switches)
	w := &between{hull: h, paths: make([]uint64, n), share: make([]float64, n), before: make([]int32, len(h.to)), befores: make([]int32, n)}
	passing := make([]float64, n)
	for s := range int32(n) {
		if h.inside[s] {
			w.count(s)
			w.accumulate(s, passing)
		}
	}
	best, most := int32(-1), -1.0
	for s, p := range passing {
		if h.inside[s] && p > most {
			best, most = int32(s), p
		}
	}
	return best
}

// between is the scratch memory of [hull.central].
type between struct {
	*hull
	paths []uint64  // how many shortest paths come to a switch
	share []float64 // what depends on it
	// before are the switches before each on shortest paths, once for each cable: befores of them, in the place of its channels.
	before, befores []int32
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

// accumulate adds what depends on each switch for the source s, and again for each adapter on it: these differ
// only at s itself, which is passed through by what its adapters send.
func (w *between) accumulate(s int32, passing []float64) {
	clear(w.share)
	sources := int(w.adapters[s])
	for i := len(w.queue) - 1; i >= 0; i-- {
		v := w.queue[i]
		ends := int(w.adapters[v])
		if v == s {
			ends--
		}
		for range ends {
			w.share[v]++
		}
		for _, u := range w.before[w.first[v] : w.first[v]+w.befores[v]] {
			part := float64(w.paths[u]) / float64(w.paths[v])
			w.share[u] += float64(part * (1 + w.share[v])) // rounded before it is added
		}
		for range sources {
			passing[v] += w.share[v]
		}
		if v != s {
			passing[v] += w.share[v]
		}
	}
}
