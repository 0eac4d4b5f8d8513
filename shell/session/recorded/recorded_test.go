// SPDX-License-Identifier: Apache-2.0

package recorded

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
)

// TestLatestRecords: of two files that have the subnet the one with the latest is asked.
func TestLatestRecords(t *testing.T) {
	dir := t.TempDir()
	c := New(Options{History: func() string {
		return filepath.Join(dir, "history")
	}, Subnet: func() string { return "a subnet" }})
	t.Cleanup(func() { _ = c.Close() })
	at := time.Unix(1_700_000_000, 0)
	var stores [2]*records.Store
	for i := range stores {
		store, err := c.open(t.Context(), t.TempDir()+"/"+records.FileName)
		if err != nil {
			t.Fatal(err)
		}
		x := records.Sample{Key: counters.Key{GUID: 1, Num: 1}, Until: at.Add(time.Duration(i) * time.Hour)}
		x.Seconds, x.Has = 60, counters.Errors
		if err := store.Keep(t.Context(), records.Round{Subnet: "a subnet", What: counters.Errors, Every: time.Minute,
			Samples: []records.Sample{x}}); err != nil {
			t.Fatal(err)
		}
		stores[i] = store
	}
	for _, order := range [][]string{{stores[0].File(), stores[1].File()}, {stores[1].File(), stores[0].File()}} {
		if got, err := c.storeIn(t.Context(), order...); err != nil || got != stores[1] {
			t.Errorf("of %v: %v, %v", order, got.File(), err)
		}
	}
	if _, err := c.storeIn(t.Context(), "", t.TempDir()+"/none"); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}
