// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"
	"testing"
)

// TestWidths: figures worked out by hand. Columns with a rank go first, then a third of what those have at least that
// share, then columns from the right; what is left over is shared.
func TestWidths(t *testing.T) {
	table := Table{
		Cols: []Column{{Wide: 6}, {Least: 15, Share: 2}, {Wide: 5}, {Least: 9}, {Wide: 7, Rank: 1}, {Wide: 5}},
	}
	for _, x := range []struct {
		w    int
		want []int
	}{
		{63, []int{6, 19, 5, 11, 7, 5}}, // 57 needed, 6 over: 4 and 2
		{57, []int{6, 15, 5, 9, 7, 5}},
		{50, []int{6, 16, 5, 10, 0, 5}}, // 48 without the one of rank 1
		{42, []int{6, 10, 5, 8, 0, 5}},  // 6 short: 5 of the first that shares, 1 of the next
		{38, []int{6, 12, 5, 9, 0, 0}},  // 8 is a third of both, 10 short: the last one goes, and 3 are still short
		{20, []int{6, 12, 0, 0, 0, 0}},
	} {
		if got := table.widths(x.w); !slices.Equal(got, x.want) {
			t.Errorf("in %d cells the columns have %v, want %v", x.w, got, x.want)
		}
	}
}
