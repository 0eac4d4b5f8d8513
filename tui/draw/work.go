// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"example.org/ibconsole/internal/base/prose"
)

// turnTime is the maximum time that a key press waits while a list is filtered and sorted.
const turnTime = 4 * time.Millisecond

// Working reports whether some rows have not been filtered or sorted yet.
func (t *Table) Working() bool { return t.sifted < t.Size || t.unsorted }

// Work filters and sorts more rows. When it has finished, it moves the cursor to the remembered row.
func (t *Table) Work() {
	if t.work(); !t.Working() {
		t.release()
	}
}

// WorkAll filters and sorts all rows.
func (t *Table) WorkAll() {
	for t.Working() {
		t.Work()
	}
}

// Progress returns a text with the progress of filtering or sorting.
func (t *Table) Progress() string {
	if t.sifted < t.Size {
		return "filtering " + Done(t.sifted, t.Size)
	}
	return "sorting"
}

// work filters and sorts rows, for at most turnTime.
func (t *Table) work() {
	until := time.Now().Add(turnTime)
	t.sift(until)
	if t.sifted == t.Size && t.unsorted {
		t.unsorted = !t.sort(until)
	}
	t.Resize(len(t.Order), t.Height)
}

// inTurns calls the function work concurrently with ranges of the indexes up to n-1, until a time. The argument from is
// the first index. It returns the number up to which all ranges are done.
func inTurns(from, n int, until time.Time, work func(from, to int)) int {
	for from < n && time.Now().Before(until) {
		part := min(n-from, manyRows*min(runtime.GOMAXPROCS(0), 4))
		each(part, func(a, b int) { work(from+a, from+b) })
		from += part
	}
	return from
}

// sift applies the filter to more rows, in their original order.
func (t *Table) sift(until time.Time) {
	match := t.Match
	if match == nil {
		match = t.matchText
	}
	keep := make([]bool, t.Size-t.sifted)
	first := t.sifted
	t.sifted = inTurns(first, t.Size, until, func(from, to int) {
		for row := from; row < to; row++ {
			keep[row-first] = match(row)
		}
	})
	for row := first; row < t.sifted; row++ {
		if keep[row-first] {
			t.Order = append(t.Order, int32(row))
		}
	}
}

// sorting is a sort of rows by a column.
type sorting struct {
	keyed int      // the number of rows whose key is known
	texts []string // the keys of a column without an order
	order []int32  // the places of the rows in Table.Order once ended is closed
	ended chan struct{}
}

// sort sorts the filtered rows and reports whether it has finished. It reads the columns only while it runs.
func (t *Table) sort(until time.Time) bool {
	if t.Sorted == 0 || len(t.Order) == 0 {
		return true
	}
	col, down := &t.Cols[max(t.Sorted, -t.Sorted)-1], t.Sorted < 0
	if col.gone() {
		return true
	}
	s := t.sorting
	if s == nil {
		s = &sorting{}
		t.sorting = s
		if col.Order == nil {
			s.texts = make([]string, len(t.Order))
		} else {
			t.keys.begin(len(t.Order))
		}
	}
	s.keyed = inTurns(s.keyed, len(t.Order), until, func(from, to int) {
		if col.Order != nil {
			t.keys.take(t.Order, from, to, col.Order, down)
			return
		}
		for i := from; i < to; i++ {
			s.texts[i] = col.Cell(int(t.Order[i]))
		}
	})
	switch {
	case s.keyed < len(t.Order):
		return false
	case col.Order != nil:
		t.keys.sort()
		for i, k := range t.keys.list {
			t.Order[i] = k.row
		}
	case !s.sortTexts(down, until):
		return false
	default:
		rows := slices.Clone(t.Order)
		for i, place := range s.order {
			t.Order[i] = rows[place]
		}
	}
	t.sorting = nil
	return true
}

// sortTexts sorts rows by their texts and reports whether it has finished. It sorts long lists in the background.
func (s *sorting) sortTexts(down bool, until time.Time) bool {
	if s.ended == nil {
		s.ended, s.order = make(chan struct{}), make([]int32, len(s.texts))
		for i := range s.order {
			s.order[i] = int32(i)
		}
		sort := func() {
			slices.SortStableFunc(s.order, func(a, b int32) int {
				c := cmp.Or(prose.Natural(s.texts[a], s.texts[b]), cmp.Compare(s.texts[a], s.texts[b]))
				return prose.When(down, -c, c)
			})
			close(s.ended)
		}
		if len(s.texts) <= manyRows {
			sort()
		} else {
			go sort()
		}
	}
	select {
	case <-s.ended:
		return true
	case <-time.After(time.Until(until)):
		return false
	}
}
