// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/history/records"
)

// What is served is read whole and at once when the recording starts, and whole in each round after that; what is not
// served spreads its first round as every other.
func TestServedCountersAreReadAtOnce(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	type round struct {
		what counters.Set
		long time.Duration
	}
	for _, serve := range []bool{true, false} {
		var mu sync.Mutex
		var rounds []round
		enough := make(chan struct{})
		r, err := Start(t.Context(), Options{
			File: filepath.Join(t.TempDir(), records.FileName), Subnet: "a", Errors: 20 * time.Millisecond,
			Traffic: time.Hour, Serve: serve,
			Read: func(_ context.Context, opts counters.Options, long time.Duration) (*counters.Reading, error) {
				mu.Lock()
				defer mu.Unlock()
				if rounds = append(rounds, round{opts.What, long}); len(rounds) == 3 {
					close(enough)
				}
				return &counters.Reading{Fabric: f}, nil
			},
			Failed: func(err error) { t.Error(err) }, OnReading: func(*counters.Reading, []counters.Delta) {},
			Observe: func(context.Context, *records.Store) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		<-enough
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		if atOnce := rounds[0].long == 0; atOnce != serve {
			t.Errorf("serve %t: the first round takes %v", serve, rounds[0].long)
		}
		for i, got := range rounds[:3] {
			if whole := got.what&records.Traffic == records.Traffic; whole != (serve || i == 0) {
				t.Errorf("serve %t: round %d reads the traffic: %t", serve, i, whole)
			}
		}
	}
}
