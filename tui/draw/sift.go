// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"runtime"
	"time"
)

const siftTime = 4 * time.Millisecond // how long a key waits at most for the filter of a list

// Sift begins to leave only the rows that the filter lets through, of rows in the order that they come in. Where that
// takes longer than a key may wait, [Table.SiftOn] goes on with it between keys, and [Table.Sifting] reports true until
// it is done.
func (t *Table) Sift() {
	if t.Prepare != nil {
		t.Prepare()
	}
	t.Order, t.sifted = t.Order[:0], 0
	t.siftSome()
}

// Sifting reports whether there are rows that the filter was not applied to.
func (t *Table) Sifting() bool { return t.sifted < t.Size }

// SiftOn applies the filter to more rows. Behind the last one it sorts them and goes to the row that is held.
func (t *Table) SiftOn() {
	t.siftSome()
	if t.Sifting() {
		t.Resize(len(t.Order), t.Height)
		return
	}
	t.arrange()
	t.Resize(len(t.Order), t.Height)
	t.release()
}

// SiftAll applies the filter to all rows that are left.
func (t *Table) SiftAll() {
	for t.Sifting() {
		t.SiftOn()
	}
}

// SiftText returns how far the filter is.
func (t *Table) SiftText() string { return fmt.Sprintf("filtering %d%%", 100*t.sifted/max(t.Size, 1)) }

func (t *Table) siftSome() {
	match := t.Match
	if match == nil {
		match = t.matchText
	}
	keep := make([]bool, manyRows*min(runtime.GOMAXPROCS(0), 4))
	for began := time.Now(); t.Sifting() && time.Since(began) < siftTime; {
		first := t.sifted
		n := min(len(keep), t.Size-first)
		each(n, func(from, to int) {
			for i := from; i < to; i++ {
				keep[i] = match(first + i)
			}
		})
		for i := range n {
			if keep[i] {
				t.Order = append(t.Order, int32(first+i))
			}
		}
		t.sifted += n
	}
}
