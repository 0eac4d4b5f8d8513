// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
)

// TestLedger makes random problems come and go, closes the file now and then, and compares the episodes with those of a
// list in memory.
func TestLedger(t *testing.T) {
	r := testenv.Rand(t)
	file := filepath.Join(t.TempDir(), records.FileName)
	now := time.UnixMilli(1_700_000_000_000)
	type episode struct{ opened, seen, closed time.Time }
	all, isOpen := map[string][]*episode{}, map[string]bool{}
	var began, last time.Time
	for range testenv.Count(t, 5, 20) {
		s, err := records.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + r.IntN(20) {
			now = now.Add(time.Minute)
			if began.IsZero() {
				began = now
			}
			var found []problems.Problem
			present := map[string]bool{}
			for port := range 8 {
				if r.IntN(3) == 0 {
					continue
				}
				p := problems.Problem{Kind: problems.Slow, Severity: problems.Warning, What: fmt.Sprint(r.IntN(9)),
					At: problems.Place{GUID: 7, Port: port}}
				found, present[p.ID()] = append(found, p), true
			}
			opened, closed, err := s.Observe(t.Context(), "a", now, found)
			if err != nil {
				t.Fatal(err)
			}
			wantOpened, wantClosed := 0, 0
			for id := range present {
				if !isOpen[id] {
					all[id] = append(all[id], &episode{opened: now})
					wantOpened++
				}
				isOpen[id] = true
				all[id][len(all[id])-1].seen = now
			}
			for id, open := range isOpen {
				if open && !present[id] {
					all[id][len(all[id])-1].closed, isOpen[id] = now, false
					wantClosed++
				}
			}
			if len(opened) != wantOpened || len(closed) != wantClosed {
				t.Fatalf("%d opened and %d closed, want %d and %d", len(opened), len(closed), wantOpened, wantClosed)
			}
			last = now
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, file)
	for range 50 {
		since := began.Add(time.Duration(r.Int64N(int64(last.Sub(began)))))
		until := since.Add(time.Duration(r.Int64N(int64(last.Sub(since)))))
		got, spans, err := s.Problems(t.Context(), "a", since, until)
		if err != nil || len(spans) != 1 || spans[0] != (records.Span{Since: since.Truncate(time.Millisecond),
			Until: until.Truncate(time.Millisecond)}) {
			t.Fatalf("observed %v, %v; want %v to %v", spans, err, since, until)
		}
		want := 0
		for _, list := range all {
			for _, e := range list {
				if !e.opened.After(until) && (e.closed.IsZero() || e.closed.After(since)) {
					want++
				}
			}
		}
		if len(got) != want {
			t.Fatalf("%d problems from %v to %v, want %d", len(got), since, until, want)
		}
		for _, e := range got {
			if !slices.ContainsFunc(all[e.ID()], func(x *episode) bool {
				return x.opened.Equal(e.Since) && x.seen.Equal(e.Seen) && x.closed.Equal(e.Closed)
			}) {
				t.Fatalf("no episode of %s from %v, seen %v, closed %v", e.ID(), e.Since, e.Seen, e.Closed)
			}
		}
	}
}

// TestInForce checks that the last acknowledgement counts, from the time at which it was given until its end.
func TestInForce(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), records.FileName))
	at := func(minutes int) time.Time {
		return time.UnixMilli(1_700_000_000_000).Add(time.Duration(minutes) * time.Minute)
	}
	for _, a := range []records.Acknowledgement{
		{ID: "a", Given: at(0), Until: at(10), Who: "x", Reason: "first"},
		{ID: "a", Given: at(5), Until: at(60), Who: "x", Reason: "longer"},
		{ID: "a", Given: at(20), Until: at(20), Who: "y", Reason: "ended"},
	} {
		if err := s.Acknowledge(t.Context(), "net", a); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Acknowledgements(t.Context(), "net", at(-1))
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	for minutes, want := range map[int]string{-1: "", 0: "first", 4: "first", 5: "longer", 15: "longer",
		20: "", 90: ""} {
		if got := records.InForce(all, at(minutes))["a"].Reason; got != want {
			t.Errorf("after %d minutes %q is in force, want %q", minutes, got, want)
		}
	}
}
