// SPDX-License-Identifier: Apache-2.0

package inorder

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSort lays it beside slices.SortStableFunc, with many equals and few.
func TestSort(t *testing.T) {
	type pair struct{ key, place int }
	for range 500 {
		n := rand.IntN(200)
		got := make([]pair, n)
		for i := range got {
			got[i] = pair{rand.IntN(1 + rand.IntN(n)), i}
		}
		want := slices.Clone(got)
		byKey := func(a, b pair) int { return a.key - b.key }
		slices.SortStableFunc(want, byKey)
		Sort(got, byKey)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
