// SPDX-License-Identifier: Apache-2.0

package components

import (
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// TestOf compares the components of random graphs with those by definition: two vertices are in one component if each
// can be reached from the other.
func TestOf(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 300, 3000) {
		n := 1 + r.IntN(12)
		edges := make([][]int32, n)
		reach := make([][]bool, n)
		for v := range n {
			reach[v] = make([]bool, n)
			reach[v][v] = true
		}
		for range r.IntN(2 * n) {
			a, b := r.IntN(n), r.IntN(n)
			edges[a], reach[a][b] = append(edges[a], int32(b)), true
		}
		for k := range n {
			for a := range n {
				for b := range n {
					reach[a][b] = reach[a][b] || reach[a][k] && reach[k][b]
				}
			}
		}
		next := func(v int32) []int32 { return edges[v] }
		part, count := Of(n, nil, next)
		met := map[int32]bool{}
		for a := range n {
			met[part[a]] = true
			for b := range n {
				if same := reach[a][b] && reach[b][a]; same != (part[a] == part[b]) {
					t.Fatalf("%v: vertices %d and %d in components %d and %d", edges, a, b, part[a], part[b])
				}
				if reach[a][b] && part[a] < part[b] {
					t.Fatalf("%v: component %d leads to %d", edges, part[a], part[b])
				}
			}
		}
		if int(count) != len(met) {
			t.Fatalf("%v: %d components, expected %d", edges, count, len(met))
		}
		part, _ = Of(n, []int32{0}, next)
		for v := range n {
			if (part[v] == None) == reach[0][v] {
				t.Fatalf("%v: component %d of vertex %d, from vertex 0", edges, part[v], v)
			}
		}
	}
}
