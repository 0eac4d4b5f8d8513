// SPDX-License-Identifier: Apache-2.0

// Package parallel distributes work that cannot fail to all processors.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls work for every number below n, on all processors, and waits for the end. It panics if work panics.
func Each(n int, work func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var crash Crash
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				crash.Keep(func() { work(i) })
			}
		})
	}
	wg.Wait()
	crash.Again()
}

// Crash carries the first panic of several goroutines to the one that waits for them.
type Crash struct{ first atomic.Pointer[string] }

// Keep calls work. If it panics, Keep recovers and keeps the panic with its stack.
func (c *Crash) Keep(work func()) {
	defer func() {
		if p := recover(); p != nil {
			why := fmt.Sprintf("%v\n%s", p, debug.Stack())
			c.first.CompareAndSwap(nil, &why)
		}
	}()
	work()
}

// Again panics with the kept panic, if there is one.
func (c *Crash) Again() {
	if why := c.first.Load(); why != nil {
		panic(*why)
	}
}
