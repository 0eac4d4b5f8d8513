// SPDX-License-Identifier: Apache-2.0

package counters_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// counting is a port that counts, and the plain model of what was counted: every event is noted as it happens.
type counting struct {
	wide    counters.Set
	shown   counters.Values // what the registers hold
	truth   counters.Values // what happened since the last reading
	cleared counters.Set    // since then
	wrapped counters.Set    // since then
	before  counters.Values // at the last reading
}

func (c *counting) count(k counters.Counter, n uint64) {
	c.truth[k] += n
	if !c.wide.Has(k) {
		c.shown[k] = min(c.shown[k]+n, counters.Greatest()[k])
		return
	}
	if c.shown[k]+n < n {
		c.wrapped |= counters.Of(k)
	}
	c.shown[k] += n
}

func (c *counting) clear(which counters.Set) {
	for k := range which.All() {
		c.shown[k] = 0
	}
	c.cleared |= which
}

// restart gives the port the values that one has which has counted for years, some about to wrap.
func (c *counting) restart(rnd *rand.Rand) {
	for k := range counters.All.All() {
		c.shown[k] = 1<<50 + rnd.Uint64N(1<<58)
		if limit := counters.Greatest()[k]; !c.wide.Has(k) {
			c.shown[k] = rnd.Uint64N(limit + 1)
		} else if k != counters.XmitPackets && rnd.IntN(4) == 0 { // something is never about to wrap
			c.shown[k] = math.MaxUint64 - rnd.Uint64N(1<<40)
		}
	}
}

// step lets some seconds go by.
func (c *counting) step(rnd *rand.Rand, seconds float64) {
	c.truth, c.cleared, c.wrapped = counters.Values{}, 0, 0
	c.before = c.shown
	for range rnd.IntN(3) + 1 {
		for k := range counters.All.All() {
			if rnd.IntN(3) == 0 {
				continue
			}
			most := uint64(seconds) << rnd.IntN(36) // three at most fit into what a port can
			if !c.wide.Has(k) {
				most = min(most, counters.Greatest()[k])
			}
			c.count(k, rnd.Uint64N(most+1))
		}
		if rnd.IntN(8) == 0 {
			c.clear([]counters.Set{counters.Errors, counters.Data, counters.All}[rnd.IntN(3)])
		}
	}
}

func (c *counting) reading(f *fabric.Fabric, p fabric.PortIndex, at time.Time) *counters.Reading {
	port := counters.Port{Port: p, At: at, Has: counters.All &^ (counters.Data &^ c.wide), Wide: c.wide}
	for k := range port.Has.All() {
		port.Values[k] = c.shown[k]
		if limit := counters.Greatest()[k]; c.wide.Has(k) && c.shown[k] == math.MaxUint64 || !c.wide.Has(k) &&
			c.shown[k] == limit {
			port.Stopped |= counters.Of(k)
		}
	}
	return &counters.Reading{Fabric: f, Ports: []counters.Port{port}}
}

// check holds what was made of two readings against what happened.
func (c *counting) check(t *testing.T, d *counters.Delta, seconds float64) {
	t.Helper()
	if math.Abs(d.Seconds-seconds) > 1e-6 {
		t.Fatalf("%g s, want %g", d.Seconds, seconds)
	}
	for k := range d.Has.All() {
		got, truth := d.Increase[k], c.truth[k]
		fell := c.shown[k] < c.before[k]
		switch {
		case d.Stopped.Has(k) != (c.shown[k] == math.MaxUint64 || !c.wide.Has(k) &&
			c.shown[k] == counters.Greatest()[k]):
			t.Fatalf("%v stands at %d, stopped: %v", k, c.shown[k], d.Stopped.Has(k))
		case got > truth:
			t.Fatalf("%v: %d, and only %d were counted (%d, then %d, cleared %v)", k, got, truth, c.before[k],
				c.shown[k], c.cleared.Has(k))
		case d.Wrapped.Has(k) && (!c.wrapped.Has(k) || got != truth):
			t.Fatalf("%v: said to be wrapped with %d, counted %d, wrapped %v", k, got, truth, c.wrapped.Has(k))
		case c.cleared == 0 && d.Cleared != 0:
			t.Fatalf("%v: said to be cleared, and nothing was", k)
		case c.cleared.Has(k) && fell && !d.Cleared.Has(k):
			t.Fatalf("%v: cleared, and that was not said", k)
		case !c.cleared.Has(k) && !d.AtLeast().Has(k) && got != truth:
			t.Fatalf("%v: %d, want %d", k, got, truth)
		}
	}
}

// TestDeltasOfRandomReadings compares deltas with a simple model: saturation, wraps of 64 bits, clears of all kinds,
// ports that are sometimes missing. Unmarked increases are exact, and no increase exceeds the counted one.
func TestDeltasOfRandomReadings(t *testing.T) {
	rnd := testenv.Rand(t)
	f, _ := routed(t, "fattree:2,4")
	ports := counters.AllPorts(f)
	const readings = 10_000
	wraps, clears, stops := 0, 0, 0
	for done := 0; done < readings; {
		c := counting{wide: []counters.Set{0, counters.Data, counters.All}[rnd.IntN(3)]}
		c.restart(rnd)
		var ledger counters.Ledger
		at := time.Unix(1_000_000, 0)
		p := ports[rnd.IntN(len(ports))]
		if d := ledger.Take(c.reading(f, p, at)); len(d) > 0 {
			t.Fatal("a delta of one reading")
		}
		for range 20 {
			seconds := float64(1 + rnd.IntN(600))
			at = at.Add(time.Duration(seconds) * time.Second)
			c.step(rnd, seconds)
			if rnd.IntN(5) == 0 { // others answered
				other := ports[(int(p)+1)%len(ports)]
				_ = ledger.Take(&counters.Reading{Fabric: f, Ports: []counters.Port{{Port: other, At: at}}})
			}
			d := ledger.Take(c.reading(f, p, at))
			if len(d) != 1 {
				t.Fatalf("%d deltas", len(d))
			}
			c.check(t, &d[0], seconds)
			wraps, clears, stops = wraps+len64(d[0].Wrapped), clears+len64(d[0].Cleared), stops+len64(d[0].Stopped)
			done++
		}
	}
	if wraps == 0 || clears == 0 || stops == 0 {
		t.Errorf("%d wraps, %d clears, %d stops: too few", wraps, clears, stops)
	}
}

func len64(s counters.Set) (n int) {
	for range s.All() {
		n++
	}
	return n
}

// TestStanding checks that a counter at its greatest value is reported with the time of its first reading there, until
// it is cleared.
func TestStanding(t *testing.T) {
	f, _ := routed(t, "fattree:2,4")
	port := counters.AllPorts(f)[0]
	var l counters.Ledger
	at := time.Unix(1000, 0)
	take := func(value uint64, stopped bool) []counters.Standing {
		p := counters.Port{Port: port, At: at, Has: counters.Errors}
		if p.Values[counters.SymbolErrors] = value; stopped {
			p.Stopped = counters.Of(counters.SymbolErrors)
		}
		l.Take(&counters.Reading{Fabric: f, Ports: []counters.Port{p}})
		at = at.Add(time.Minute)
		return l.Standing(counters.KeyOf(f, port))
	}
	if s := take(5, false); s != nil {
		t.Error(s)
	}
	since := at
	for range 3 {
		if s := take(65535, true); len(s) != 1 ||
			s[0] != (counters.Standing{Counter: counters.SymbolErrors, Value: 65535, Since: since}) {
			t.Error(s)
		}
	}
	if s := take(0, false); s != nil {
		t.Error(s)
	}
	if l.Forget(at); l.Standing(counters.KeyOf(f, port)) != nil ||
		len(l.Take(&counters.Reading{Fabric: f, Ports: []counters.Port{{Port: port, At: at}}})) != 0 {
		t.Error("a forgotten port is still known")
	}
}

// TestRound checks that a round reads every port once, in portions and on time.
func TestRound(t *testing.T) {
	began := time.Unix(1000, 0)
	ports := make([]fabric.PortIndex, 1000)
	for i := range ports {
		ports[i] = fabric.PortIndex(i)
	}
	r := counters.NewRound(ports, began, 10*time.Second)
	next := 0
	for ms := 0; ms <= 10_000; ms += 250 {
		for _, p := range r.Due(began.Add(time.Duration(ms) * time.Millisecond)) {
			if int(p) != next {
				t.Fatalf("port %d, want %d", p, next)
			}
			next++
		}
		if want := ms / 10; next != want { // 100 ports a second
			t.Fatalf("%d ports after %d ms, want %d", next, ms, want)
		}
	}
	if r.Left() != 0 || len(counters.NewRound(ports, began, 0).Due(began)) != len(ports) {
		t.Error("ports are left")
	}
}

// BenchmarkRound reads the errors of 96,000 ports of 2,000 switches in the program, as fast as it goes.
func BenchmarkRound(b *testing.B) {
	f, s := routed(b, "fattree:3,40")
	c := open(b, s, f.SMPort, mad.Fast())
	ports := counters.AllPorts(f)
	var known counters.Known
	var l counters.Ledger
	opts := counters.Options{What: counters.Errors, Known: &known}
	take := func() {
		r, err := counters.ReadRound(b.Context(), c, f, opts, 0, ports...)
		if err != nil || len(r.Ports) != len(ports) {
			b.Fatal(len(r.Ports), err)
		}
		l.Take(r)
	}
	take()
	for b.Loop() {
		take()
	}
	b.ReportMetric(float64(len(ports)), "ports")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ports)), "ns/port")
}
