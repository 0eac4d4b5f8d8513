// SPDX-License-Identifier: Apache-2.0

package heap4

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Of equally near children the last moves up, whether there are four or fewer.
func TestLastOfEquals(t *testing.T) {
	for range 10000 {
		n := 1 + rand.IntN(Branches)
		h := Heap{Place: make([]int32, n+2)}
		h.Elements = append(h.Elements, Element(0, int32(n)))
		want := int32(0)
		distances := make([]uint64, n)
		for i := range distances {
			distances[i] = rand.Uint64N(3)
			h.Elements = append(h.Elements, Element(distances[i], int32(i)))
			if distances[i] <= distances[want] {
				want = int32(i)
			}
		}
		h.Elements = append(h.Elements, 0)[:n+1]
		h.sink(0, Element(5, int32(n+1)))
		if got := int32(uint32(h.Elements[0])); got != want {
			t.Fatalf("of %d element %d moves up, want %d", distances, got, want)
		}
	}
}

// Elements leave the heap in ascending order after any deletions and changes, and Place is always correct.
func TestHeapOrder(t *testing.T) {
	for range 200 {
		h := Heap{Place: make([]int32, 60)}
		want := map[int32]uint64{}
		for n := range int32(60) {
			want[n] = rand.Uint64N(20)
			h.Insert(n, want[n])
			switch other := rand.Int32N(n + 1); {
			case want[other] == 0:
			case rand.IntN(3) == 0:
				h.Delete(other)
				want[other] = 0
			case rand.IntN(2) == 0:
				want[other]--
				h.Nearer(other, want[other])
			}
			for i, e := range h.Elements {
				if h.Place[uint32(e)] != int32(i) || e>>32 != want[int32(uint32(e))] {
					t.Fatalf("%x in place %d, its place is %d and its distance %d", e, i, h.Place[uint32(e)],
						want[int32(uint32(e))])
				}
			}
		}
		var got []uint64
		for len(h.Elements) > 0 {
			got = append(got, h.Take()>>32)
		}
		if !slices.IsSorted(got) {
			t.Fatalf("out came %d", got)
		}
	}
}
