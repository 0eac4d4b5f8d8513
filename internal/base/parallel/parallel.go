// SPDX-License-Identifier: Apache-2.0

// Package parallel distributes work that cannot fail over all processors.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls work(i) for every i from 0 to n-1, on all processors, and returns when all calls have returned. If work
// panics, Each panics.
func Each(n int, work func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var crash Crash
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				crash.Recover(func() { work(i) })
			}
		})
	}
	wg.Wait()
	crash.Repanic()
}

// Crash passes the first panic of several goroutines to the goroutine that waits for them.
type Crash struct{ first atomic.Pointer[string] }

// Recover calls the function work. If work panics, Recover stores the panic with its stack for [Crash.Repanic].
func (c *Crash) Recover(work func()) {
	defer func() {
		if p := recover(); p != nil {
			why := fmt.Sprintf("%v\n%s", p, debug.Stack())
			c.first.CompareAndSwap(nil, &why)
		}
	}()
	work()
}

// Repanic panics with the panic that [Crash.Recover] stored. It does nothing if no call of work panicked.
func (c *Crash) Repanic() {
	if why := c.first.Load(); why != nil {
		panic(*why)
	}
}
