// SPDX-License-Identifier: Apache-2.0

// Package hugepages allocates large tables in memory that the kernel may map with pages of 2 MiB. This is for kernels
// that use such pages only on request (transparent_hugepage/enabled is madvise). With pages of 4 KiB, page faults and
// TLB misses take as much time as filling the tables.
package hugepages

import (
	"reflect"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// size is the size of a huge page on amd64, and on arm64 with pages of 4 KiB.
const size = 2 << 20

// Make returns a slice of n zero values, and asks the kernel to use huge pages for it. If the kernel does not, only the
// speed differs.
func Make[T any](n int) []T {
	s := make([]T, n)
	start, length := within(reflect.ValueOf(s).Pointer(), uintptr(n)*reflect.TypeFor[T]().Size())
	if length > 0 {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, length, unix.MADV_HUGEPAGE)
	}
	return s
}

// Heap makes the next n bytes of the heap use huge pages, which the Go runtime does not request by itself. It allocates
// n bytes (at most 256 MB), requests huge pages, and frees the memory unused, so the system provides no page too early.
// This takes a garbage collection, so Heap does nothing for less than 16 MB.
func Heap(n int) {
	if n < 16<<20 {
		return
	}
	Make[byte](min(n, 256<<20))
	collecting.Lock()
	defer collecting.Unlock()
	runtime.GC()
}

// collecting is held during garbage collections. On a single processor, two concurrent garbage collections may wait for
// each other forever.
var collecting sync.Mutex

// The function within returns the start of the first whole huge page in a range of memory, and the total length of the
// whole huge pages.
func within(start, length uintptr) (uintptr, uintptr) {
	before := -start % size
	if length < before+size {
		return start, 0
	}
	return start + before, (length - before) / size * size
}
