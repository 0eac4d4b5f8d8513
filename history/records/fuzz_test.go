// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
)

// FuzzOpen reads everything in a record that was changed at one place.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), records.FileName)
	s, err := records.Open(f.Context(), path)
	if err != nil {
		f.Fatal(err)
	}
	for n := range 3 {
		r := numbered(n)
		r.Samples = r.Samples[:50]
		if err := s.Keep(f.Context(), r); err != nil {
			f.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	testenv.FuzzFile(f, path, func(t *testing.T, path string) {
		s, err := records.Open(t.Context(), path)
		if err != nil {
			return
		}
		now := firstRound().Add(time.Hour)
		_, _, _, _ = s.Span(t.Context(), "a")
		_, _ = s.Totals(t.Context(), "a", counters.Errors, time.Time{}, now)
		_, _ = s.Port(t.Context(), "a", key(3), time.Time{}, now)
		_, _, _ = s.Problems(t.Context(), "a", time.Time{}, now)
		_, _ = s.Outages(t.Context(), "a", time.Time{}, now)
		_, _ = s.HostSets(t.Context(), "a", time.Time{}, now)
		_ = s.RollUp(t.Context(), now)
		_ = s.Trim(t.Context(), now)
		_ = s.Close()
	})
}
