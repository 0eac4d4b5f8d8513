// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
)

// TestOutages lets a link go down and come back at random times. Sweeps look at it now and then, and the record is
// updated less often. Now and then the recorder stops, so that changes are lost. It checks that the stored outages are
// those between sweeps, in any order of their ends, and that the bounds of each period contain the true downtime of the
// outages that sweeps saw.
func TestOutages(t *testing.T) {
	r := testenv.Rand(t)
	a, b := fabric.End{GUID: 9, Port: 1, Name: "leaf-01/1"}, fabric.End{GUID: 7, Port: 2, Name: "spine-01/2"}
	for range testenv.Count(t, 20, 200) {
		s := open(t, filepath.Join(t.TempDir(), records.FileName))
		began := time.UnixMilli(1_700_000_000_000)
		at := func(second int) time.Time { return began.Add(time.Duration(second) * time.Second) }
		const seconds = 600
		down := make([]bool, seconds)
		for i := 1; i < seconds; i++ {
			if down[i] = down[i-1]; r.IntN(15) == 0 {
				down[i] = !down[i]
			}
		}
		seen, lastUp, lastSweep, seenOutages := false, time.Time{}, 0, 0
		var changes []records.LinkChange
		for i := range seconds {
			if r.IntN(4) == 0 { // a sweep
				if down[i] != seen {
					c := records.LinkChange{When: at(i), Up: !down[i], A: a, B: b, WasUp: lastUp, Pairs: 12}
					if r.IntN(2) == 0 {
						c.A, c.B = b, a
					}
					if changes = append(changes, c); down[i] {
						seenOutages++
					}
				}
				if seen, lastSweep = down[i], i; !seen {
					lastUp = at(i)
				}
			}
			if r.IntN(20) != 0 && i < seconds-1 {
				continue
			}
			var missing []records.Outage
			if seen {
				missing = []records.Outage{{A: a, B: b, WasUp: lastUp, Pairs: 12}}
			}
			if err := s.ObserveLinks(t.Context(), "x", at(lastSweep), changes, missing, func(fabric.End,
				fabric.End) bool {
				return !seen
			}); err != nil {
				t.Fatal(err)
			}
			changes = nil
		}
		all, err := s.Outages(t.Context(), "x", began, at(seconds))
		if err != nil || len(all) != seenOutages {
			t.Fatalf("%d outages, want %d: %v", len(all), seenOutages, err)
		}
		since, until := at(r.IntN(300)), at(300+r.IntN(300))
		for i := range all {
			o := &all[i]
			most, bounded := o.AtMost(since, until)
			if o.A.GUID != 7 || o.Pairs != 12 || !bounded && !o.WasUp.IsZero() {
				t.Fatalf("%+v", o)
			}
			if o.WasUp.IsZero() {
				continue // it was down at the first sweep
			}
			end := at(seconds)
			if !o.Up.IsZero() {
				end = o.Up
			}
			var truth time.Duration // in the period
			hidden := false         // a return between two sweeps
			for n := range seconds {
				hidden = hidden || !down[n] && at(n).After(o.Down) && at(n).Before(o.Seen)
				if x := at(n); down[n] && x.After(o.WasUp) && x.Before(end) && !x.Before(since) && x.Before(until) {
					truth += time.Second
				}
			}
			if least := o.AtLeast(since, until); !hidden && least > truth || most < truth {
				t.Fatalf("%+v: %v to %v, truly %v", o, least, most, truth)
			}
		}
	}
}
