// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell/session/source"
)

// openIn is open with a history.
func openIn(t *testing.T, from, dir string) *Session {
	t.Helper()
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), src, Options{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLatestRecords: of two files that have the subnet the one with the latest is asked.
func TestLatestRecords(t *testing.T) {
	s := openIn(t, "sim:fattree:2,4", t.TempDir())
	at := time.Unix(1_700_000_000, 0)
	var stores [2]*records.Store
	for i := range stores {
		store, err := s.recorded.open(t.Context(), t.TempDir()+"/"+records.FileName)
		if err != nil {
			t.Fatal(err)
		}
		x := records.Sample{Key: counters.Key{GUID: 1, Num: 1}, Until: at.Add(time.Duration(i) * time.Hour)}
		x.Seconds, x.Has = 60, counters.Errors
		if err := store.Keep(t.Context(), records.Round{Subnet: s.Subnet(), What: counters.Errors, Every: time.Minute, Samples: []records.Sample{x}}); err != nil {
			t.Fatal(err)
		}
		stores[i] = store
	}
	for _, order := range [][]string{{stores[0].File(), stores[1].File()}, {stores[1].File(), stores[0].File()}} {
		if got, err := s.recordsIn(t.Context(), order...); err != nil || got != stores[1] {
			t.Errorf("of %v: %v, %v", order, got.File(), err)
		}
	}
	if _, err := s.recordsIn(t.Context(), "", t.TempDir()+"/none"); !errors.Is(err, ErrNoRecords) {
		t.Error(err)
	}
}
