// SPDX-License-Identifier: Apache-2.0

package heap4

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLeastOf4(t *testing.T) {
	for range 10000 {
		var e [Branches]uint64
		want := 0
		for i := range e {
			e[i] = Element(rand.Uint64N(3), rand.Int32())
			if e[i]>>32 <= e[want]>>32 {
				want = i
			}
		}
		if got := leastOf4(&e); got != want {
			t.Fatalf("%x: %d, want %d", e, got, want)
		}
	}
}

// What comes out is in ascending order whatever was deleted or came nearer, and places are where elements stand.
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
					t.Fatalf("%x in place %d, its place is %d and its distance %d", e, i, h.Place[uint32(e)], want[int32(uint32(e))])
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
