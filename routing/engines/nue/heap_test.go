// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/routing/engines/heap4"
)

// The heap returns switches in the same order as heap4, after any insertions and removals, equally near ones included.
func TestHeapIsThatOfOpenSM(t *testing.T) {
	for range 300 {
		n := 1 + rand.Int32N(100)
		plain, h := heap4.Heap{Place: make([]int32, n)}, newHeap(int(n))
		inside := map[int32]bool{}
		for range 300 {
			switch sw := rand.Int32N(n); {
			case !inside[sw]:
				distance := rand.Uint64N(20)
				plain.Insert(sw, distance)
				h.insert(stepTo(sw, distance))
				inside[sw] = true
			case rand.IntN(3) == 0:
				plain.Delete(sw)
				h.remove(sw)
				inside[sw] = false
			default:
				want := plain.Take()
				e := h.take()
				sw := int32(e.to())
				if heap4.Element(e.distance(), sw) != want {
					t.Fatalf("of %d switches comes %d at %d, want %x", n, sw, e.distance(), want)
				}
				inside[sw] = false
			}
			if h.n != len(plain.Elements) {
				t.Fatalf("%d switches, want %d", h.n, len(plain.Elements))
			}
		}
	}
}
