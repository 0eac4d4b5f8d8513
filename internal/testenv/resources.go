// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// Held are the things that a program can forget to give back.
type Held struct {
	Descriptors, Goroutines int
	Heap                    uint64 // the number of bytes in use after a garbage collection
}

// Resources counts what the test's process holds now.
func Resources(t testing.TB) Held {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("descriptors cannot be counted: %v", err)
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return Held{Descriptors: len(files), Goroutines: runtime.NumGoroutine(), Heap: mem.HeapAlloc}
}

// heapSlack is by how much the heap may have grown: more than what is pooled, less than a leak of many rounds.
const heapSlack = 4 << 20

const endLimit = 30 * time.Second // how long goroutines may take to end

// Same fails the test if more is held now than then.
func (h Held) Same(t testing.TB) {
	t.Helper()
	now := Resources(t)
	for begun := time.Now(); time.Since(begun) < endLimit; {
		if now.Goroutines <= h.Goroutines && now.Descriptors <= h.Descriptors {
			break
		}
		time.Sleep(10 * time.Millisecond)
		now = Resources(t)
	}
	if now.Descriptors > h.Descriptors || now.Goroutines > h.Goroutines || now.Heap > h.Heap+heapSlack {
		t.Errorf("held before %+v, now %+v", h, now)
	}
}
