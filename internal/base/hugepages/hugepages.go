// SPDX-License-Identifier: Apache-2.0

// Package hugepages allocates large tables that the kernel may put in pages of 2 MiB, if it does so only on request
// (transparent_hugepage/enabled is madvise). With pages of 4 KiB, page faults and TLB misses cost as much time as
// filling the tables.
package hugepages

import (
	"reflect"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// size is the size of a huge page on amd64, and on arm64 with pages of 4 KiB.
const size = 2 << 20

// Make returns n zero values. It advises the kernel, which need not follow; only the time differs.
func Make[T any](n int) []T {
	s := make([]T, n)
	start, length := within(reflect.ValueOf(s).Pointer(), uintptr(n)*reflect.TypeFor[T]().Size())
	if length > 0 {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, length, unix.MADV_HUGEPAGE)
	}
	return s
}

// Heap makes the next n bytes of the heap use huge pages, which the runtime does not request. It allocates them,
// requests huge pages, and frees them untouched, so the system provides no page before it is needed. This takes a
// garbage collection, so Heap ignores less than 16 MB.
func Heap(n int) {
	if n < 16<<20 {
		return
	}
	Make[byte](min(n, 256<<20))
	collecting.Lock()
	defer collecting.Unlock()
	runtime.GC()
}

// collecting is held during garbage collections: on one processor, two concurrent ones may wait for each other for
// ever.
var collecting sync.Mutex

// within returns the start and the total length of the whole huge pages in a range of memory.
func within(start, length uintptr) (uintptr, uintptr) {
	before := -start % size
	if length < before+size {
		return start, 0
	}
	return start + before, (length - before) / size * size
}
