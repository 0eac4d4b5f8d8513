// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortKeys compares the order with that of the standard library, ascending and descending, for few and many rows.
func TestSortKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, fewKeys, fewKeys + 1, 10_000} {
		for _, most := range []int64{1, 2, 300, 1 << 40, math.MaxInt64} {
			by, rows := make([]int64, n), make([]int32, n)
			for i := range n {
				by[i], rows[i] = r.Int64N(most)-r.Int64N(most), int32(i)
			}
			for _, down := range []bool{false, true} {
				want := slices.Clone(rows)
				slices.SortStableFunc(want, func(a, b int32) int {
					if down {
						a, b = b, a
					}
					return cmp.Compare(by[a], by[b])
				})
				var k sortKeys
				k.begin(n)
				k.take(rows, 0, n, func(row int) int64 { return by[row] }, down)
				k.sort()
				for i := range want {
					if k.list[i].row != want[i] {
						t.Fatalf("%d rows up to %d, down %v: line %d is row %d, want %d", n, most, down, i,
							k.list[i].row, want[i])
					}
				}
			}
		}
	}
}

// TestEach checks that each row is handed out once.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, manyRows - 1, manyRows, manyRows + 1, 10*manyRows + 7} {
		seen := make([]int, n)
		each(n, func(from, to int) {
			for i := from; i < to; i++ {
				seen[i]++
			}
		})
		if i := slices.IndexFunc(seen, func(times int) bool { return times != 1 }); i >= 0 {
			t.Errorf("of %d rows row %d was handed out %d times", n, i, seen[i])
		}
	}
}
