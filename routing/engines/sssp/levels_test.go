// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"slices"
	"testing"

	"example.org/ibconsole/routing"
)

// The levels, helped by the heap where switches are equally near, find the arcs that the heap alone finds.
func TestLevelsFindWhatTheHeapFinds(t *testing.T) {
	for _, spec := range []string{"random:60,7,200", "hypercube:6,2", "dragonfly:4,2,2", "torus:5x4x3,2", "mesh:5x2,2,links=2", "fattree:3,8"} {
		g := graphOf(t, spec)
		quick, plain := newSearch(g), newSearch(g)
		unsure := 0
		for _, to := range g.targets(&routing.Options{}) {
			distance := uint64(1)
			if to.local == 0 {
				distance = 0
			}
			quick.run(to.sw, to.local == 0)
			unsure += len(quick.unsure)
			plain.byHeap(to.sw, distance, infinity-1)
			if !slices.Equal(quick.by, plain.via) || !slices.Equal(quick.distance, plain.soFar) {
				t.Fatalf("%s to LID %d: arcs %d at %d, want %d at %d", spec, to.lid, quick.by, quick.distance, plain.via, plain.soFar)
			}
			quick.use()
		}
		if unsure == 0 {
			t.Errorf("%s has no switches that are equally near", spec)
		}
	}
}
