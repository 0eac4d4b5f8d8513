// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The first three are calculated by hand, the others are from the table in OpenSM's osm_mesh.c.
func TestShapes(t *testing.T) {
	known := shapes()
	for _, c := range []struct {
		sizes      []int
		polynomial polynomial
	}{
		{[]int{2}, polynomial{0}},
		{[]int{2, 2}, polynomial{-4, 0}},
		{[]int{6, 2}, polynomial{32, 24, 0}},
		{[]int{5, 3, 2}, polynomial{96, 215, 160, 42, 0}},
		{[]int{5, 5, 5}, polynomial{-297, -864, -909, -416, -75, 0}},
		{[]int{6, 6, 6, 3}, polynomial{0, 0, -2304, -4864, -3552, -1136, -145, 0}},
		{[]int{6, 6, 2, 2, 2, 2}, polynomial{0, -2048, -5888, -6656, -3760, -1088, -136, 0}},
		{[]int{2, 2, 2, 2, 2, 2, 2, 2}, polynomial{-1792, -6144, -8960, -7168, -3360, -896, -112, 0}},
	} {
		m := torusMatrix(c.sizes)
		if got := characteristic(m); got != c.polynomial {
			t.Errorf("%d: polynomial %d, want %d", c.sizes, got, c.polynomial)
		}
		if d := known[shape{len(m), c.polynomial}]; d != len(c.sizes) {
			t.Errorf("%d is known as of %d dimensions", c.sizes, d)
		}
	}
	// The number of different lines of the table.
	if len(known) != 100 {
		t.Errorf("%d shapes, want 100", len(known))
	}
	if d := known[shape{8, characteristic(torusMatrix([]int{5, 5, 5, 5}))}]; d != 0 {
		t.Errorf("a torus of 5x5x5x5 is known as of %d dimensions; OpenSM's table does not have it", d)
	}
}

// The polynomial does not depend on the order of neighbours, and is modulo 2^32.
func TestPolynomialOfOtherOrders(t *testing.T) {
	m := [][]int32{{0, far, 2, 4}, {far, 0, 3, 2}, {2, 3, 0, 1}, {4, 2, 1, 0}}
	want := characteristic(m)
	for range 20 {
		order := rand.Perm(len(m))
		p := make([][]int32, len(m))
		for i := range p {
			for j := range m {
				p[i] = append(p[i], m[order[i]][order[j]])
			}
		}
		if got := characteristic(p); got != want {
			t.Fatalf("order %d: %d, want %d", order, got, want)
		}
	}
}

func TestMergeSortIsStable(t *testing.T) {
	for n := range 40 {
		list := make([]int32, n)
		for i := range list {
			list[i] = rand.Int32N(5)<<8 | int32(i)
		}
		want := slices.Clone(list)
		slices.Sort(want)
		mergeSort(list, make([]int32, n), func(a, b int32) bool { return a>>8 <= b>>8 })
		if !slices.Equal(list, want) {
			t.Fatalf("%x, want %x", list, want)
		}
	}
}
