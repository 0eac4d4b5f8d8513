// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
)

func open(t testing.TB, file string) *records.Store {
	t.Helper()
	s, err := records.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func key(i int) counters.Key { return counters.Key{GUID: 0x100 + uint64(i/40), Num: uint8(i % 40)} }

func sample(i int, until time.Time, seconds float64) records.Sample {
	return records.Sample{
		Key: key(i), Name: fmt.Sprintf("leaf-%02d/%d", i/40, i%40), Until: until,
		Delta: counters.Delta{Seconds: seconds, Has: counters.All},
	}
}

// TestKeep stores rounds and reads ports: errors are exact, data within 1 in 512.
func TestKeep(t *testing.T) {
	rnd := testenv.Rand(t)
	s := open(t, filepath.Join(t.TempDir(), records.FileName))
	began := time.UnixMilli(1_700_000_000_000)
	const ports = 2500 // three blocks
	var want [5][ports]records.Sample
	for n := range want {
		r := records.Round{Subnet: "a", What: counters.All, Every: time.Minute}
		for i := range ports {
			if rnd.IntN(10) == 0 {
				continue // it did not answer
			}
			x := sample(i, began.Add(time.Duration(n+1)*time.Minute), 60)
			if rnd.IntN(20) == 0 {
				x.Seconds = 180
			}
			for c := range counters.All.All() {
				if rnd.IntN(3) > 0 {
					x.Increase[c] = rnd.Uint64() >> rnd.IntN(64)
				}
			}
			x.Cleared, x.Stopped, x.Wrapped = counters.Set(rnd.Uint32())&counters.All,
				counters.Of(counters.SymbolErrors), counters.Of(counters.XmitData)
			if rnd.IntN(8) == 0 {
				x.Has = counters.Errors
				x.Cleared, x.Stopped, x.Wrapped = 0, 0, 0
			}
			for c := range (counters.All &^ x.Has).All() {
				x.Increase[c] = 0
			}
			want[n][i] = x
			r.Samples = append(r.Samples, x)
		}
		rnd.Shuffle(len(r.Samples), func(i, j int) { r.Samples[i], r.Samples[j] = r.Samples[j], r.Samples[i] })
		if err := s.Keep(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < ports; i += 11 {
		got, err := s.Port(t.Context(), "a", key(i), time.Time{}, began.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for n := range want {
			x := want[n][i]
			if x.Name == "" {
				continue
			}
			if len(got) == 0 || !got[0].Until.Equal(x.Until) {
				t.Fatalf("port %d: no sample of round %d", i, n)
			}
			same(t, got[0], x)
			got = got[1:]
		}
		if len(got) > 0 {
			t.Fatalf("port %d: %d extra samples", i, len(got))
		}
	}
	if _, err := s.Port(t.Context(), "b", key(0), time.Time{}, began); !errors.Is(err, records.ErrNoPort) {
		t.Error(err)
	}
}

func same(t *testing.T, got, want records.Sample) {
	t.Helper()
	if got.Key != want.Key || got.Name != want.Name || got.Seconds != want.Seconds || got.Has != want.Has ||
		got.Cleared != want.Cleared || got.Stopped != want.Stopped || got.Wrapped != want.Wrapped {
		t.Fatalf("%+v\nwant %+v", got, want)
	}
	for c := range counters.All.All() {
		a, b := got.Increase[c], want.Increase[c]
		if c < counters.XmitWait && a != b || b < 512 && a != b || max(a, b)-min(a, b) > b/512 {
			t.Fatalf("%v: %d, want %d", c, a, b)
		}
	}
}

// model holds the expected increases of one error counter, by port and time.
type model struct {
	at    []time.Time
	ports []map[int]uint64
}

func (m *model) sum(port int, since, until time.Time) (n uint64) {
	for i, at := range m.at {
		if at.After(since) && !at.After(until) {
			n += m.ports[i][port]
		}
	}
	return n
}

// TestRollUp stores rounds of seconds and some of minutes for most of a day, rolls up occasionally, and reads random
// periods: no sample is lost or counted twice, in fine samples and in hours.
func TestRollUp(t *testing.T) {
	rnd := testenv.Rand(t)
	s := open(t, filepath.Join(t.TempDir(), records.FileName))
	now := time.UnixMilli(1_700_000_000_000)
	began := now
	var m model
	const ports = 30
	for now.Sub(began) < 20*time.Hour {
		every := time.Duration(10+rnd.IntN(20)) * time.Second
		if rnd.IntN(3) > 0 {
			every = time.Minute * time.Duration(1+rnd.IntN(10))
		}
		now = now.Add(every)
		r := records.Round{Subnet: "a", What: counters.Errors, Every: every}
		counted := map[int]uint64{}
		for i := range ports {
			x := sample(i, now, every.Seconds())
			if rnd.IntN(4) == 0 {
				x.Increase[counters.SymbolErrors] = rnd.Uint64N(1000)
				counted[i] = x.Increase[counters.SymbolErrors]
			}
			r.Samples = append(r.Samples, x)
		}
		if err := s.Keep(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		m.at, m.ports = append(m.at, now), append(m.ports, counted)
		if rnd.IntN(10) == 0 {
			if err := s.RollUp(t.Context(), now); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask := func(since, until time.Time) {
		t.Helper()
		totals, err := s.Totals(t.Context(), "a", counters.Errors, since, until)
		if err != nil {
			t.Fatal(err)
		}
		of := map[counters.Key]uint64{}
		for _, total := range totals {
			of[total.Key] = total.Counts[0].Increase
		}
		for i := range ports {
			want := m.sum(i, since, until)
			samples, err := s.Port(t.Context(), "a", key(i), since, until)
			if err != nil {
				t.Fatal(err)
			}
			var fine uint64
			for _, x := range samples {
				fine += x.Increase[counters.SymbolErrors]
			}
			if of[key(i)] != want || fine != want {
				t.Fatalf("port %d from %v to %v: %d by the hour, %d fine, want %d", i, since, until, of[key(i)],
					fine, want)
			}
		}
	}
	for range 20 {
		since := began.Add(time.Duration(rnd.Int64N(int64(now.Sub(began)))))
		ask(since, since.Add(time.Duration(rnd.Int64N(int64(now.Sub(since))+1))))
	}
	// A day later seconds are removed, two weeks later minutes: the totals stay the same.
	later := now
	for _, age := range []time.Duration{25 * time.Hour, 15 * 24 * time.Hour} {
		for later.Before(now.Add(age)) {
			later = later.Add(time.Hour)
			if err := errors.Join(s.RollUp(t.Context(), later), s.Trim(t.Context(), later)); err != nil {
				t.Fatal(err)
			}
		}
		ask(began.Add(-time.Hour), later)
	}
	samples, err := s.Port(t.Context(), "a", key(0), began, later)
	if err != nil || len(samples) > 22 || len(samples) < 20 {
		t.Errorf("%d samples of 20 hours, %v", len(samples), err)
	}
}

// TestBound fills the file beyond its limit: the bytes in use stay below it, and the newest samples are kept.
func TestBound(t *testing.T) {
	rnd := testenv.Rand(t)
	s := open(t, filepath.Join(t.TempDir(), records.FileName))
	const bound = 1 << 20
	if err := s.SetSize(t.Context(), bound); err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(1_700_000_000_000)
	for range 400 {
		now = now.Add(time.Minute)
		r := records.Round{Subnet: "a", What: counters.Data, Every: time.Minute}
		for i := range 1000 {
			x := sample(i, now, 60)
			for c := range counters.Data.All() {
				x.Increase[c] = rnd.Uint64() >> 20
			}
			r.Samples = append(r.Samples, x)
		}
		err := errors.Join(s.Keep(t.Context(), r), s.RollUp(t.Context(), now), s.Trim(t.Context(), now))
		if err != nil {
			t.Fatal(err)
		}
		if used, err := s.Used(t.Context()); err != nil || used > bound {
			t.Fatalf("%d bytes in use, want at most %d; %v", used, bound, err)
		}
	}
	all, err := s.Port(t.Context(), "a", key(0), time.Time{}, now)
	if err != nil || len(all) < 5 || !all[len(all)-1].Until.Equal(now) {
		t.Errorf("%d samples, %v", len(all), err)
	}
}

// TestManyRead reads in several goroutines while samples are stored: none waits for ever or sees a part of a round.
func TestManyRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), records.FileName)
	s := open(t, file)
	began := time.UnixMilli(1_700_000_000_000)
	done := make(chan error, 4)
	const rounds = 40
	for range cap(done) {
		other := open(t, file)
		go func() {
			seen := 0
			for seen < rounds {
				all, err := other.Totals(t.Context(), "a", counters.Errors, began, began.Add(24*time.Hour))
				if err != nil {
					done <- err
					return
				}
				for _, x := range all {
					if x.Counts[0].Increase != all[0].Counts[0].Increase {
						done <- fmt.Errorf("%d errors of one port, %d of another", x.Counts[0].Increase,
							all[0].Counts[0].Increase)
						return
					}
				}
				if len(all) > 0 {
					seen = int(all[0].Counts[0].Increase)
				}
			}
			done <- nil
		}()
	}
	for n := range rounds {
		r := records.Round{Subnet: "a", What: counters.Errors, Every: time.Second}
		for i := range 3000 {
			x := sample(i, began.Add(time.Duration(n+1)*time.Second), 1)
			x.Increase[counters.SymbolErrors] = 1
			r.Samples = append(r.Samples, x)
		}
		if err := s.Keep(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestRecorded records twice. The times before, between and after are not in the spans, before and after rolling up. A
// port that did not respond was not read, and one that counted nothing was.
func TestRecorded(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), records.FileName))
	hour := time.UnixMilli(1_700_000_000_000).Truncate(time.Hour)
	at := func(minutes float64) time.Time { return hour.Add(time.Duration(minutes * float64(time.Minute))) }
	const ports, silent, quiet = 2000, 3, 1500
	for _, run := range []float64{10, 40} {
		for n := range 30 { // ten seconds each
			r := records.Round{Subnet: "a", What: counters.Errors, Every: 10 * time.Second}
			for i := range ports {
				x := sample(i, at(run).Add(time.Duration(n+1)*10*time.Second), 10)
				if x.Has = counters.Errors; i != quiet {
					x.Increase[counters.SymbolErrors] = 1
				}
				if i != silent {
					r.Samples = append(r.Samples, x)
				}
			}
			if err := s.Keep(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	spans := func(from, to float64) []records.Span {
		t.Helper()
		r, err := s.Recorded(t.Context(), "a", counters.Of(counters.SymbolErrors), at(from), at(to))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Spans) > 0 && (r.Read[key(silent)] || !r.Read[key(quiet)] || len(r.Read) != ports-1 ||
			len(r.Totals) != ports-2) {
			t.Errorf("%d ports read, %d counted; that of %d: %v, of %d: %v", len(r.Read), len(r.Totals), silent,
				r.Read[key(silent)], quiet, r.Read[key(quiet)])
		}
		return r.Spans
	}
	is := func(what string, got, want []records.Span) {
		t.Helper()
		if !slices.EqualFunc(got, want, func(a, b records.Span) bool {
			return a.Since.Equal(b.Since) && a.Until.Equal(b.Until)
		}) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	both := []records.Span{{Since: at(10), Until: at(15)}, {Since: at(40), Until: at(45)}}
	is("seconds", spans(-60, 60), both)
	is("nothing before", spans(-60, 9), nil)
	is("nothing between", spans(16, 39), nil)
	is("a part", spans(12, 42), []records.Span{{Since: at(12), Until: at(15)}, {Since: at(40), Until: at(42)}})
	is("an incomplete round", spans(38, 45.2), []records.Span{{Since: at(40), Until: at(45.2)}})
	none, err := s.Recorded(t.Context(), "a", counters.Of(counters.XmitData), at(0), at(60))
	if err != nil || none.Spans != nil || len(none.Read) > 0 {
		t.Errorf("traffic, which was not read: %v, %v, %v", none.Spans, none.Read, err)
	}
	other, err := s.Recorded(t.Context(), "b", counters.Errors, at(0), at(60))
	if err != nil || other.Spans != nil {
		t.Errorf("another subnet: %v, %v", other.Spans, err)
	}
	r := records.Recorded{Since: at(0), Until: at(60), Spans: both}
	is("gaps", r.Gaps(), []records.Span{{Since: at(0), Until: at(10)}, {Since: at(15), Until: at(40)},
		{Since: at(45), Until: at(60)}})
	if total := records.TotalTime(both); total != 10*time.Minute {
		t.Errorf("the total time is %v", total)
	}
	if err := s.RollUp(t.Context(), at(24*60)); err != nil {
		t.Fatal(err)
	}
	is("rolled up to minutes", spans(5, 50), both)
}
