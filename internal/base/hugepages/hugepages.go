// SPDX-License-Identifier: Apache-2.0

// Package hugepages makes large tables of memory that the kernel may give in pages of 2 MiB, where it waits to be asked
// (transparent_hugepage/enabled set to madvise): with pages of 4 KiB, taking them and finding one's place in them costs
// as much as filling them.
package hugepages

import (
	"reflect"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// size is that of a huge page on amd64, and on arm64 with pages of 4 KiB.
const size = 2 << 20

// Make makes n zero values. It is advice, which the kernel need not follow: that makes a difference in time alone.
func Make[T any](n int) []T {
	s := make([]T, n)
	start, length := within(reflect.ValueOf(s).Pointer(), uintptr(n)*reflect.TypeFor[T]().Size())
	if length > 0 {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, length, unix.MADV_HUGEPAGE)
	}
	return s
}

// Heap has the next n bytes of the heap lie in huge pages, which the runtime does not ask for: it takes them, asks, and
// gives them back untouched. None is taken from the system before it is needed. It costs a collection of garbage, so
// that less than 16 MB is passed over.
func Heap(n int) {
	if n < 16<<20 {
		return
	}
	Make[byte](min(n, 256<<20))
	collecting.Lock()
	defer collecting.Unlock()
	runtime.GC()
}

// collecting is held while garbage is collected: on one processor, two at once may wait for each other for ever.
var collecting sync.Mutex

// within is where the whole huge pages of a piece of memory start, and how long they are together.
func within(start, length uintptr) (uintptr, uintptr) {
	before := -start % size
	if length < before+size {
		return start, 0
	}
	return start + before, (length - before) / size * size
}
