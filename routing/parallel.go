// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// ForEach calls work(worker, i) for every i below n, spread over all
// processors, and waits for the end. The worker number, below Workers(), names
// scratch memory. It stops early with ctx's error.
func ForEach(ctx context.Context, n int, progress func(done, total int), work func(worker, i int)) error {
	var next, done atomic.Int64
	var wg sync.WaitGroup
	for worker := range Workers() {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				work(worker, i)
				if d := int(done.Add(1)); progress != nil && (d%16 == 0 || d == n) {
					progress(d, n)
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// Workers is the number of goroutines that [ForEach] uses.
func Workers() int { return runtime.GOMAXPROCS(0) }
