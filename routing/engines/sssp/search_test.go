// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// The plan, together with the heap for equally near switches, finds the same arcs as the heap alone, also in
// consecutive runs for one switch.
func TestPlansFindWhatTheHeapFinds(t *testing.T) {
	for _, spec := range []string{"random:60,7,200", "hypercube:6,2", "dragonfly:4,2,2", "torus:5x4x3,2",
		"mesh:5x2,2,links=2", "fattree:3,8"} {
		g := graphOf(t, spec)
		r := &router{search: newSearch(g), targets: g.targets(&routing.Options{})}
		plans := g.planFor(r.roots())
		defer plans.stop()
		plain := newByHeap(g)
		ties := 0
		for i, to := range r.targets {
			if i == 0 || to.otherPaths(&r.targets[i-1]) {
				r.begin(plans.next())
			}
			r.run(to.local == 0)
			ties += len(r.ties)
			plain.runAll(int32(to.sw), uint64(min(to.local, 1)))
			arcs := slices.Repeat([]int32{fabric.None}, len(g.hosts))
			for _, v := range r.tree {
				arcs[v.sw] = v.arc
			}
			if !slices.Equal(arcs, plain.via) {
				t.Fatalf("%s to LID %d: arcs %d, want %d", spec, to.lid, arcs, plain.via)
			}
			r.use(make([]uint8, len(g.hosts)))
		}
		if ties == 0 {
			t.Errorf("%s has no switches that are equally near", spec)
		}
	}
}

// TestPanicOfPlanner checks that a panic of the planner becomes a panic of next.
func TestPanicOfPlanner(t *testing.T) {
	plans := graphOf(t, "fattree:2,4").planFor([]fabric.SwitchIndex{0, 1 << 20})
	defer plans.stop()
	plans.next()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	plans.next()
}
