// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/history/records"
)

// TestMerge: what could not be kept is added to what comes after it.
func TestMerge(t *testing.T) {
	at := time.Unix(1000, 0)
	of := func(guid uint64, minute int, n uint64, stopped counters.Set) records.Sample {
		x := records.Sample{Key: counters.Key{GUID: guid, Num: 1}, Until: at.Add(time.Duration(minute) * time.Minute)}
		x.Seconds, x.Has, x.Stopped = 60, counters.Errors, stopped
		x.Increase[counters.SymbolErrors] = n
		return x
	}
	full := counters.Of(counters.SymbolErrors)
	got := merge([]records.Sample{of(1, 1, 5, 0), of(2, 1, 7, full)}, []records.Sample{of(2, 2, 1, 0), of(3, 2, 9, 0)})
	want := []records.Sample{of(1, 1, 5, 0), of(2, 2, 8, full), of(3, 2, 9, 0)}
	want[1].Seconds = 120
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// TestRoundsThatFail reads rounds of which some fail, some have a part of the ports, and some cannot be kept: in the
// end all is there that was counted.
func TestRoundsThatFail(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	ports := counters.AllPorts(f)
	file := filepath.Join(t.TempDir(), records.FileName)
	now := time.Now()
	n := 0
	broken := errors.New("the line is lost")
	read := func(_ context.Context, opts counters.Options, _ time.Duration) (*counters.Reading, error) {
		n++
		now = now.Add(time.Minute)
		r := &counters.Reading{Fabric: f}
		for i, p := range ports {
			if n%3 == 0 && i%2 == 0 && n < 20 {
				continue
			}
			x := counters.Port{Port: p, At: now, Has: opts.What}
			x.Values[counters.RcvErrors] = uint64(n * (1 + i%3))
			r.Ports = append(r.Ports, x)
		}
		if n%5 == 0 && n < 20 {
			return nil, broken
		}
		return r, nil
	}
	heard := 0
	r, err := Start(t.Context(), Options{File: file, Subnet: "a", Read: read, Errors: time.Minute,
		Traffic: 2 * time.Minute,
		Failed:  func(error) {}, OnReading: func(*counters.Reading, []counters.Delta) { heard++ },
		Observe: func(context.Context, *records.Store, *Outcome) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	<-r.ended // from here on rounds are the test's
	whole := r.store
	for n < 20 {
		if n%4 == 1 { // nothing can be kept
			if r.store, err = records.Open(t.Context(), filepath.Join(t.TempDir(), "other")); err != nil {
				t.Fatal(err)
			}
			if err := r.store.Close(); err != nil {
				t.Fatal(err)
			}
		}
		r.round(t.Context(), 2*time.Minute, 0) // so long that errors are due each time
		r.store = whole
	}
	all, err := whole.Totals(t.Context(), "a", counters.Errors, time.Time{}, now)
	if err != nil || len(all) != len(ports) || heard == 0 {
		t.Fatalf("%d ports of %d, %d heard, %v", len(all), len(ports), heard, err)
	}
	of := map[counters.Key]uint64{}
	for _, x := range all {
		of[x.Key] = x.Counts[0].Increase
	}
	for i, p := range ports {
		if got, want := of[counters.KeyOf(f, p)], uint64((n-1)*(1+i%3)); got != want {
			t.Errorf("%s: %d, want %d", f.PortName(p), got, want)
		}
	}
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
}
