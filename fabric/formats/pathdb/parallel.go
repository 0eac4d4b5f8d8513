// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls work for every number below n, on all processors.
func parallel(n int, work func(i int)) {
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
