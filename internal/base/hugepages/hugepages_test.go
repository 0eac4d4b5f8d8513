// SPDX-License-Identifier: Apache-2.0

package hugepages

import (
	"runtime"
	"testing"
)

func TestMakeIsZeroAndOfItsLength(t *testing.T) {
	for _, n := range []int{0, 1, size/4 - 1, size / 4, 3*size + 5} {
		s := Make[uint32](n)
		if len(s) != n {
			t.Fatalf("Make(%d) made %d values", n, len(s))
		}
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("Make(%d): value %d is %d", n, i, s[i])
			}
			s[i] = 1
		}
	}
}

// TestWithin checks ranges whose ends could share a huge page with other memory.
func TestWithin(t *testing.T) {
	const at = 7 * size
	for _, c := range []struct{ from, to, start, pages uintptr }{
		{at, at + size, at, 1},
		{at, at + size - 1, at, 0},
		{at + 1, at + 2*size, at + size, 1},
		{at + 1, at + 2*size - 1, at + size, 0},
		{at - 1, at + 2*size + 1, at, 2},
		{at, at + size/2, at, 0},
		{at + 1, at + 2, at, 0},
	} {
		start, length := within(c.from, c.to-c.from)
		if length != c.pages*size || c.pages > 0 && start != c.start {
			t.Errorf("from %#x to %#x: %d bytes from %#x, want %d huge pages from %#x", c.from, c.to, length, start,
				c.pages, c.start)
		}
	}
}

// TestHeap checks that the memory is freed.
func TestHeap(t *testing.T) {
	used := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	for _, n := range []int{0, 1, 16 << 20, 1 << 62} {
		Heap(n)
		if now := used(); now > before+8<<20 {
			t.Errorf("Heap(%d) keeps %d MB", n, (now-before)>>20)
		}
	}
}
