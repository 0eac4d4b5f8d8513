// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
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
	type episode struct {
		opened, seen, closed time.Time
		first, last          string
		changes              int
	}
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
			present, what := map[string]bool{}, map[string]string{}
			for port := range 8 {
				if r.IntN(3) == 0 {
					continue
				}
				p := problems.Problem{Kind: problems.Slow, Severity: problems.Warning, What: fmt.Sprint(r.IntN(9)),
					At: problems.Place{GUID: 7, Port: port}}
				found, present[p.ID()], what[p.ID()] = append(found, p), true, p.What
			}
			opened, closed, err := s.Observe(t.Context(), "a", now, found, always)
			if err != nil {
				t.Fatal(err)
			}
			wantOpened, wantClosed := 0, 0
			for id := range present {
				if !isOpen[id] {
					all[id] = append(all[id], &episode{opened: now, first: what[id]})
					wantOpened++
				}
				isOpen[id] = true
				e := all[id][len(all[id])-1]
				if e.last != what[id] {
					e.changes++
				}
				e.seen, e.last = now, what[id]
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
				n := len(e.Evidence)
				return x.opened.Equal(e.Since) && x.seen.Equal(e.Seen) && x.closed.Equal(e.Closed) &&
					n == min(x.changes, 16) && e.Evidence[0].What == x.first && e.Evidence[n-1].What == x.last
			}) {
				t.Fatalf("no episode of %s from %v, seen %v, closed %v, with %v", e.ID(), e.Since, e.Seen, e.Closed,
					e.Evidence)
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

// always is a check of a problem that is always possible.
func always(*problems.Problem) bool { return true }

// TestSetClock lets problems and outages come and go on a simulated clock that is set forward and back now and then.
// Recorders that run know by how much; between two recorders it is unknown. It checks that the length of each problem
// and the bounds of each outage are true for the time that passed.
func TestSetClock(t *testing.T) {
	r := testenv.Rand(t)
	a, b := fabric.End{GUID: 7, Port: 1}, fabric.End{GUID: 9, Port: 2}
	slow := problems.Problem{Kind: problems.Slow, What: "slow", At: problems.Place{GUID: 7, Port: 3}}
	for range testenv.Count(t, 8, 200) {
		s := open(t, filepath.Join(t.TempDir(), records.FileName))
		passed, clock := time.Duration(0), time.UnixMilli(1_700_000_000_000)
		type span struct{ began, ended time.Duration }
		var wantProblems, wantDown []span
		isSlow, isDown := false, false
		var lastUp time.Time
		set := func(step time.Duration, isKnown bool) {
			clock = clock.Add(step)
			if !lastUp.IsZero() {
				lastUp = lastUp.Add(step)
			}
			if !isKnown {
				step, lastUp = 0, time.Time{}
			}
			if err := s.SetClock(t.Context(), "a", clock, step); err != nil {
				t.Fatal(err)
			}
		}
		back := false // the clock was set back while no recorder ran
		for range 60 {
			d := time.Duration(20+r.IntN(100)) * time.Second
			passed, clock = passed+d, clock.Add(d)
			switch r.IntN(12) {
			case 0:
				set(time.Duration(r.IntN(7200)-3600)*time.Second, true)
			case 1:
				set(-time.Duration(r.IntN(3600))*time.Second-d, false)
				back = true
			default:
				set(0, true)
			}
			if r.IntN(4) == 0 {
				if isSlow = !isSlow; isSlow {
					wantProblems = append(wantProblems, span{began: passed})
				} else {
					wantProblems[len(wantProblems)-1].ended = passed
				}
			}
			var changes []records.LinkChange
			if r.IntN(4) == 0 {
				isDown = !isDown
				changes = []records.LinkChange{{When: clock, Up: !isDown, A: a, B: b, WasUp: lastUp}}
				if isDown {
					wantDown = append(wantDown, span{began: passed})
				} else {
					wantDown[len(wantDown)-1].ended = passed
				}
			}
			if !isDown {
				lastUp = clock
			}
			if err := s.ObserveLinks(t.Context(), "a", clock, changes, nil, func(_, _ fabric.End) bool {
				return !isDown
			}); err != nil {
				t.Fatal(err)
			}
			var found []problems.Problem
			if isSlow {
				found = append(found, slow)
			}
			if _, _, err := s.Observe(t.Context(), "a", clock, found, always); err != nil {
				t.Fatal(err)
			}
		}
		from, to := clock.Add(-1000*time.Hour), clock.Add(1000*time.Hour)
		got, _, err := s.Problems(t.Context(), "a", from, to)
		if err != nil || len(got) > len(wantProblems) || !back && len(got) != len(wantProblems) {
			t.Fatalf("%d problems, want %d: %v", len(got), len(wantProblems), err)
		}
		for _, e := range got {
			length := e.Closed.Sub(e.Since)
			if e.Closed.IsZero() {
				length = e.Seen.Sub(e.Since)
			}
			if !slices.ContainsFunc(wantProblems, func(x span) bool {
				end := x.ended
				if e.Closed.IsZero() {
					end = passed
				}
				return length == end-x.began || back && length <= end-x.began
			}) {
				t.Fatalf("no problem lasted %v: %v", length, wantProblems)
			}
		}
		down, err := s.Outages(t.Context(), "a", from, to)
		if err != nil {
			t.Fatal(err)
		}
		for i := range down {
			o := &down[i]
			least := o.AtLeast(from, to)
			most, isBounded := o.AtMost(from, to)
			if !slices.ContainsFunc(wantDown, func(x span) bool {
				if o.Up.IsZero() {
					return least <= passed-x.began
				}
				return least <= x.ended-x.began && (!isBounded || most >= x.ended-x.began)
			}) {
				t.Fatalf("no outage lasted %v to %v: %v", least, most, wantDown)
			}
		}
	}
}

// TestUncheckedStaysOpen checks that a problem whose check was not possible stays open, as last seen.
func TestUncheckedStaysOpen(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), records.FileName))
	now := time.UnixMilli(1_700_000_000_000)
	p := problems.Problem{Kind: problems.Rising, What: "x", At: problems.Place{GUID: 7, Port: 3}}
	for i, found := range [][]problems.Problem{{p}, {}} {
		if _, _, err := s.Observe(t.Context(), "a", now.Add(time.Duration(i)*time.Minute), found,
			func(*problems.Problem) bool { return false }); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := s.Problems(t.Context(), "a", now, now.Add(time.Hour))
	if err != nil || len(all) != 1 || !all[0].Closed.IsZero() || !all[0].Seen.Equal(now) {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestEvidenceOfRisingErrors: the increase of each minute is no evidence, another counter or severity is.
func TestEvidenceOfRisingErrors(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), records.FileName))
	now := time.UnixMilli(1_700_000_000_000)
	texts := []string{
		"leaf-01/3 to spine-01/1 in 1m0s: SymbolErrors +5", "leaf-01/3 to spine-01/1 in 58s: SymbolErrors +1900",
		"leaf-01/3 to spine-01/1 in 1m0s: SymbolErrors +7",
		"leaf-01/3 to spine-01/1 in 1m0s: SymbolErrors +7, LinkDowned +1",
		"leaf-01/3 to spine-01/1 in 59s: SymbolErrors +1, LinkDowned +2",
	}
	for i, text := range texts {
		p := problems.Problem{Severity: problems.Warning, Kind: problems.Rising, What: text,
			At: problems.Place{GUID: 7, Port: 3}}
		if i == len(texts)-1 {
			p.Severity = problems.Error
		}
		if _, _, err := s.Observe(t.Context(), "a", now.Add(time.Duration(i)*time.Minute), []problems.Problem{p},
			always); err != nil {
			t.Fatal(err)
		}
	}
	all, _, err := s.Problems(t.Context(), "a", now, now.Add(time.Hour))
	if err != nil || len(all) != 1 || all[0].What != texts[4] {
		t.Fatalf("%+v, %v", all, err)
	}
	var got []string
	for _, e := range all[0].Evidence {
		got = append(got, e.What)
	}
	if want := []string{texts[0], texts[3], texts[4]}; !slices.Equal(got, want) {
		t.Errorf("evidence %q, want %q", got, want)
	}
}
