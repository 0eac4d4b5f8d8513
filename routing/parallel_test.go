// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
)

func TestForEach(t *testing.T) {
	var sum, last atomic.Int64
	err := ForEach(t.Context(), 1000, func(done, total int) {
		last.Store(int64(max(done, int(last.Load()))))
	}, func(worker, i int) {
		if worker < 0 || worker >= Workers() {
			t.Errorf("worker %d of %d", worker, Workers())
		}
		sum.Add(int64(i))
	})
	if err != nil || sum.Load() != 999*1000/2 || last.Load() != 1000 {
		t.Errorf("sum %d, progress up to %d, error %v", sum.Load(), last.Load(), err)
	}
}

func TestForEachStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int64
	err := ForEach(ctx, 1<<30, nil, func(_, _ int) {
		if done.Add(1) == 10 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after %d", err, done.Load())
	}
}

func TestForEachPanicsInItsCaller(t *testing.T) {
	defer func() {
		why, _ := recover().(string)
		if !strings.HasPrefix(why, "broken\n") || !strings.Contains(why, "TestForEachPanics") {
			t.Errorf("recovered %q", why)
		}
	}()
	_ = ForEach(t.Context(), 100, nil, func(_, i int) {
		if i == 50 {
			panic("broken")
		}
	})
	t.Error("no panic")
}
