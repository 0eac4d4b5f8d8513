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

// ForEach calls work(worker, i) for every i below n, spread over all processors, and waits for the end. The
// worker number, below Workers(), names scratch memory. It stops early with ctx's error. A panic of work
// becomes one of the caller, with the stack of the first.
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

// Workers is the number of goroutines that [ForEach] uses.
func Workers() int { return runtime.GOMAXPROCS(0) }
