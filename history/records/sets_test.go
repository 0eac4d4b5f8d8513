// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
)

// TestHostSets defines, changes and deletes sets of hosts, over a gap without a recorder and a clock that is set. Each
// set has the time in which it was known to be defined.
func TestHostSets(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), records.FileName))
	start := time.UnixMilli(1_790_000_000_000)
	now := start
	observe := func(after time.Duration, sets ...records.HostSet) {
		t.Helper()
		now = now.Add(after)
		if err := s.ObserveSets(t.Context(), "a", now, sets); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := records.HostSet{Name: "a", Hosts: "n[1-4]"}, records.HostSet{Name: "b", Hosts: "n5,n6"},
		records.HostSet{Name: "a", Hosts: "n[1-3]"}
	observe(0, a)
	observe(time.Minute, a, b)
	observe(time.Minute, b, c) // a lost a host
	observe(time.Hour, c)      // no recorder ran for an hour: the end of b is unknown
	observe(time.Minute, c)
	list := func(since, until time.Duration) []string {
		t.Helper()
		all, err := s.HostSets(t.Context(), "a", start.Add(since), start.Add(until))
		if err != nil {
			t.Fatal(err)
		}
		return prose.Words(all, func(h records.HostSet) string {
			end := "now"
			if u := h.Until(now); !u.IsZero() {
				end = u.Sub(start).String()
			}
			return fmt.Sprintf("%s %s %v-%s", h.Name, h.Hosts, h.Began.Sub(start), end)
		})
	}
	want := []string{"a n[1-4] 0s-2m0s", "b n5,n6 1m0s-2m0s", "a n[1-3] 2m0s-2m0s", "a n[1-3] 1h2m0s-now"}
	if got := list(0, 2*time.Hour); !slices.Equal(got, want) {
		t.Errorf("all sets: %q, want %q", got, want)
	}
	if got := list(0, 30*time.Second); !slices.Equal(got, want[:1]) {
		t.Errorf("in the first half minute: %q", got)
	}
	if got := list(2*time.Hour, 3*time.Hour); !slices.Equal(got, want[3:]) {
		t.Errorf("at the end: %q", got)
	}
	now = now.Add(-30 * time.Minute) // the clock
	if err := s.SetClock(t.Context(), "a", now, -30*time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := list(0, 2*time.Hour); len(got) != 4 || got[2] != "a n[1-3] 32m0s-now" && got[3] != "a n[1-3] 32m0s-now" {
		t.Errorf("after the clock was set back by half an hour: %q", got)
	}
}
