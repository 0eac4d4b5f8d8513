// SPDX-License-Identifier: Apache-2.0

package nue

import "slices"

// hull is the set of switches on shortest paths between the destinations of a VL. Each switch in the set counts as a
// destination for the following steps. O(switches x channels).
type hull struct {
	*network
	inside []bool
	// adapters counts the destinations on each switch, in 8 bits like OpenSM. hosted marks the switches that are
	// destinations themselves or have destinations on their ports.
	adapters []uint8
	hosted   []bool
	far      []int32
	queue    []int32
}

func newHull(n *network, part []target) *hull {
	h := &hull{network: n, inside: make([]bool, len(n.switches)), adapters: make([]uint8, len(n.switches)),
		far: make([]int32, len(n.switches))}
	for _, t := range part {
		h.inside[t.sw] = true
		if t.local != 0 {
			h.adapters[t.sw]++
		}
	}
	h.hosted = slices.Clone(h.inside)
	missing := 0
	for _, in := range h.inside {
		if !in {
			missing++
		}
	}
	for s := int32(0); int(s) < len(h.inside) && missing > 0; s++ {
		if h.inside[s] {
			h.measure(s)
			missing -= h.enclose(s)
		}
	}
	return h
}

// measure counts the hops from switch s to all other switches.
func (h *hull) measure(s int32) {
	for i := range h.far {
		h.far[i] = -1
	}
	h.far[s] = 0
	h.queue = append(h.queue[:0], s)
	for i := 0; i < len(h.queue); i++ {
		u := h.queue[i]
		for _, v := range h.to[h.first[u]:h.first[u+1]] {
			if h.far[v] < 0 {
				h.far[v] = h.far[u] + 1
				h.queue = append(h.queue, v)
			}
		}
	}
}

// enclose adds to the hull the switches on shortest paths from switch s to the other switches of the hull. It returns
// the number of added switches.
func (h *hull) enclose(s int32) int {
	more := 0
	done := make([]bool, len(h.inside))
	done[s] = true
	for v := range h.inside {
		if !h.inside[v] || done[v] {
			continue
		}
		done[v] = true
		h.queue = append(h.queue[:0], int32(v))
		for i := 0; i < len(h.queue); i++ {
			v := h.queue[i]
			for _, u := range h.to[h.first[v]:h.first[v+1]] {
				if !done[u] && h.far[u]+1 == h.far[v] {
					done[u] = true
					h.queue = append(h.queue, u)
					if !h.inside[u] {
						h.inside[u] = true
						more++
					}
				}
			}
		}
	}
	return more
}
