// SPDX-License-Identifier: Apache-2.0

// Package inorder sorts what is small or seldom sorted. [slices.SortFunc] and [slices.SortStableFunc] are compiled anew
// for each type, 15 KB of the program each time; of this little is.
package inorder

import (
	"cmp"
	"slices"
)

// Sort sorts by compare, and keeps the order of equals. O(n log n), and memory for a copy.
func Sort[S ~[]E, E any](s S, compare func(a, b E) int) {
	order := numbers(len(s), func(a, b int32) int { return compare(s[a], s[b]) })
	before := slices.Clone(s)
	for i, from := range order {
		s[i] = before[from]
	}
}

// numbers are those below n in the order of compare; equals ascend.
func numbers(n int, compare func(a, b int32) int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := compare(a, b); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return order
}
