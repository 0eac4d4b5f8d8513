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

// reads starts a recording and returns what its first rounds read, until the function enough returns true.
func reads(t *testing.T, opt Options, enough func([]round) bool) []round {
	t.Helper()
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var rounds []round
	done := make(chan struct{})
	opt.File, opt.Subnet = filepath.Join(t.TempDir(), records.FileName), "a"
	opt.Read = func(_ context.Context, opts counters.Options, long time.Duration) (*counters.Reading, error) {
		mu.Lock()
		defer mu.Unlock()
		before := enough(rounds)
		if rounds = append(rounds, round{opts.What, opts.Details, long}); enough(rounds) && !before {
			close(done)
		}
		return &counters.Reading{Fabric: f}, nil
	}
	opt.Failed = func(err error) { t.Error(err) }
	opt.OnReading = func(*counters.Reading, []counters.Delta) {}
	opt.Observe = func(context.Context, *records.Store, *Outcome) error { return nil }
	r, err := Start(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	return rounds
}

// round is what a round reads, and its duration.
type round struct {
	what    counters.Set
	details bool
	long    time.Duration
}

// TestServedCountersAreReadAtOnce checks that counters that are served are all read at once at the start, and in each
// round after that. Without a server, data counters are read at their own interval.
func TestServedCountersAreReadAtOnce(t *testing.T) {
	for _, serve := range []bool{true, false} {
		opt := Options{Errors: 20 * time.Millisecond, Traffic: time.Hour, Details: true}
		if serve {
			opt.Scrapes, opt.Shortest = make(chan time.Duration), time.Hour
		}
		rounds := reads(t, opt, func(r []round) bool { return len(r) >= 3 })
		if atOnce := rounds[0].long == 0; atOnce != serve {
			t.Errorf("serve %t: the first round takes %v", serve, rounds[0].long)
		}
		for i, got := range rounds[:3] {
			if whole := got.what&records.Traffic == records.Traffic; whole != (serve || i == 0) {
				t.Errorf("serve %t: round %d reads the traffic: %t", serve, i, whole)
			}
			if i != 1 && (got.what == counters.All && got.details) != serve {
				t.Errorf("serve %t: round %d reads %b, details %t", serve, i, got.what, got.details)
			}
		}
	}
}

// TestScrapeReadsDataCounters checks that a scrape begins a round of the data counters that ends before the next
// scrape, and that more scrapes than one per shortest interval do not begin more rounds.
func TestScrapeReadsDataCounters(t *testing.T) {
	const shortest, gap = 300 * time.Millisecond, 500 * time.Millisecond
	scrapes := make(chan time.Duration, 1)
	began := time.Now()
	rounds := reads(t, Options{Errors: time.Hour, Traffic: time.Hour, Scrapes: scrapes, Shortest: shortest},
		func(r []round) bool {
			select {
			case scrapes <- map[bool]time.Duration{true: gap, false: 0}[len(r) == 2]:
			default:
			}
			return len(r) >= 5
		})
	if took := time.Since(began); took < 3*shortest {
		t.Errorf("%d rounds in %v", len(rounds), took)
	}
	for i, got := range rounds[2:5] {
		if got.what != counters.Data || got.long != shortest*9/10 && got.long != gap*9/10 {
			t.Errorf("round %d reads %b in %v, want %b", i+2, got.what, got.long, counters.Data)
		}
	}
}
