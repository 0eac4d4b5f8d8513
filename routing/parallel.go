// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// ForEach calls work(worker, i) for every i from 0 to n-1 on all processors, and waits for all calls. The argument
// worker, a number below Workers(), identifies scratch memory. ForEach stops early and returns the error of ctx if ctx
// ends. If work panics, ForEach panics with the first panic and its stack.
func ForEach(ctx context.Context, n int, progress func(done, total int), work func(worker, i int)) error {
	var next, done atomic.Int64
	var wg sync.WaitGroup
	var crash atomic.Pointer[string]
	for worker := range min(Workers(), n) {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					why := fmt.Sprintf("%v\n%s", p, debug.Stack())
					crash.CompareAndSwap(nil, &why)
					next.Store(int64(n))
				}
			}()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				work(worker, i)
				if progress == nil {
					continue
				}
				if d := int(done.Add(1)); d%16 == 0 || d == n {
					progress(d, n)
				}
			}
		})
	}
	wg.Wait()
	if why := crash.Load(); why != nil {
		panic(*why)
	}
	return ctx.Err()
}

// Workers returns the number of goroutines that [ForEach] uses.
func Workers() int { return runtime.GOMAXPROCS(0) }
