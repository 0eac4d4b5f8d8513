// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestWorkYields checks that a slow filter of a long list lets keys in between, and in the end selects the same rows in
// the same order as a fast one, with the cursor on its row.
func TestWorkYields(t *testing.T) {
	const rows, each = 60_000, 10 * time.Microsecond
	list := func(cost time.Duration) *Table {
		table := &Table{
			Cols: []Column{
				{Name: "row", Text: func(row int) string {
					return fmt.Sprint(row)
				}, Order: func(row int) int64 { return int64(row % 1000) }},
			},
		}
		table.ID = func(row int) uint64 { return uint64(row) }
		table.Match = func(row int) bool {
			for began := time.Now(); time.Since(began) < cost; {
				runtime.Gosched()
			}
			return row%3 == 0
		}
		table.Height = 20
		table.Build(rows)
		table.Find(30_000)
		return table
	}
	filter, err := ParseFilter("x")
	if err != nil {
		t.Fatal(err)
	}
	slow, quick := list(each), list(0)
	for _, table := range []*Table{slow, quick} {
		table.Filt, table.Sorted = filter, -1
		table.Again()
	}
	if !slow.Working() {
		t.Error("a slow filter was applied to all rows at once")
	}
	if n := len(slow.Order); n >= rows/3 || slow.N != n {
		t.Errorf("%d rows passed at once, %d are shown", n, slow.N)
	}
	turns := 0
	for ; slow.Working(); turns++ {
		slow.Work()
	}
	if turns < 2 {
		t.Errorf("the filter took %d more turns", turns)
	}
	quick.WorkAll()
	if !slices.Equal(slow.Order, quick.Order) || len(slow.Order) != rows/3 {
		t.Errorf("%d rows passed in turns and %d at once, or in another order", len(slow.Order), len(quick.Order))
	}
	if row, ok := slow.Selected(); !ok || row != 30_000 {
		t.Errorf("row %d is selected, want 30000", row)
	}
	if quick.Working() || quick.N != rows/3 {
		t.Errorf("%d rows are shown at the end", quick.N)
	}
}
