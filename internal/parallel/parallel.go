// SPDX-License-Identifier: Apache-2.0

// Package parallel spreads work that cannot fail over all processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls work for every number below n, on all processors, and waits for the end.
func Each(n int, work func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	wg.Wait()
}
