// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
)

func networkOf(t *testing.T, spec string) *network {
	t.Helper()
	return newNetwork(gentest.WithLIDs(t, spec), &routing.Options{})
}

// If growByLevels is certain, the tree is that of OpenSM's heap, with any equally long paths.
func TestLevelsGiveTheTreeOfTheHeap(t *testing.T) {
	sure := 0
	for _, spec := range []string{"random:1,0,3", "torus:5x4,links=3,hosts=2", "random:30,5,60", "hypercube:5",
		"fattree:3,4"} {
		n := networkOf(t, spec)
		lengths := slices.Clone(n.length)
		for range 100 {
			for c := range n.length {
				n.length[c] = lengths[c] + stepTo(0, rand.Uint64N(40))
			}
			tree, heap := newTree(n), newTree(n)
			root := int32(rand.IntN(len(n.switches)))
			heap.growByHeap(root)
			if !tree.growByLevels(root) {
				continue
			}
			sure++
			if !slices.Equal(tree.up, heap.up) || !slices.Equal(tree.distance, heap.distance) ||
				tree.complete() != heap.complete() {
				t.Fatalf("%s: a tree from %d by %d, want %d", spec, root, tree.up, heap.up)
			}
		}
	}
	if sure < 250 {
		t.Errorf("%d of 500 trees grew without the heap", sure)
	}
}

// Of five switches in a row the middle one is on the most paths. If only the last two are destinations, it is the first
// of these in the order of LIDs.
func TestCentralSwitch(t *testing.T) {
	n := networkOf(t, "mesh:5")
	var all []target
	for _, e := range n.f.EndPorts {
		if target, ok := n.target(e); ok && target.local != 0 {
			all = append(all, target)
		}
	}
	slices.SortFunc(all, func(a, b target) int { return int(n.switches[a.sw] - n.switches[b.sw]) })
	for first, want := range map[int]string{0: "sw-2", 3: "sw-3"} {
		root, err := newHull(n, all[first:]).central(t.Context())
		if got := n.f.SwitchNode(n.switches[root]).Desc; err != nil || got != want {
			t.Errorf("from switch %d on: %s, want %s (%v)", first, got, want, err)
		}
	}
}

// 36 switches in a row with four cables between neighbours have 4^32 shortest paths over 33 switches, which is 0 in 64
// bits: no switch is central then. OpenSM 3.3.23 crashes with a segmentation fault.
func TestTooManyShortestPaths(t *testing.T) {
	n := networkOf(t, "mesh:36,links=4")
	if _, err := (Engine{}).Route(t.Context(), n.f, routing.Options{}); err == nil ||
		!strings.Contains(err.Error(), "no switch is central") {
		t.Errorf("routed: %v", err)
	}
}
