// SPDX-License-Identifier: Apache-2.0

package parallel

import (
	"strings"
	"sync/atomic"
	"testing"
)

// TestPanicReachesTheCaller checks that a panic of work reaches the caller, with the stack of its origin, after the
// rest of the work.
func TestPanicReachesTheCaller(t *testing.T) {
	var done atomic.Int64
	defer func() {
		text, _ := recover().(string)
		if !strings.HasPrefix(text, "boom") || !strings.Contains(text, "parallel_test.go") || done.Load() != 99 {
			t.Errorf("recovered %q, %d done", text, done.Load())
		}
	}()
	Each(100, func(i int) {
		if i == 50 {
			panic("boom")
		}
		done.Add(1)
	})
}
