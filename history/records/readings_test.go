// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
)

// meter is a counter of a port, and the plain model of it: each event is noted as it happens.
type meter struct {
	register uint64
	greatest uint64
	counted  uint64 // since the last reading
	before   uint64 // the register at the last reading
	lost     bool   // a part of counted is not in the register
}

func (m *meter) count(n uint64) {
	m.counted += n
	switch {
	case m.greatest == math.MaxUint64:
		m.register += n // it wraps
	case n > m.greatest-m.register:
		m.register, m.lost = m.greatest, true
	default:
		m.register += n
	}
}

func (m *meter) clear() {
	m.register, m.lost = 0, true
}

// interval is the time between two readings of a port, and what it counted.
type interval struct {
	until      time.Time // as the clock of the recorder showed it
	took       time.Duration
	grown      [2]uint64
	exact      [2]bool
	wasCleared bool
	// hidden is set if the port was cleared, and no register is lower than before. No reader can find that. If a
	// register is lower that was about to wrap, the clear looks like a wrap, and likeWrap is set too.
	hidden, likeWrap bool
}

// TestReadings reads two ports in random sequences: counters wrap, reach their maximum and are cleared, readings are
// missing, the recorder restarts, the clock is set forward and back. Each stored figure must be what was counted, or a
// lower bound that is marked as one (a counter that is 0 after a clear has no figure), and each rate must be for the
// time that passed. Where several intervals end at one time of a clock that was set back, a period has all of them.
func TestReadings(t *testing.T) {
	r := testenv.Rand(t)
	f := gentest.Fabric(t, "fattree:2,4")
	for range testenv.Count(t, 100, 10_000) {
		sequence(t, r, f)
		if t.Failed() {
			return
		}
	}
}

// levels is the number of times that a figure is rounded: as a sample, as a part of minutes, and as a part of hours.
const levels = 3

var read = [2]counters.Counter{counters.SymbolErrors, counters.XmitData}

func sequence(t *testing.T, r *rand.Rand, f *fabric.Fabric) {
	t.Helper()
	s, err := records.Open(t.Context(), filepath.Join(t.TempDir(), records.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	passed := time.Unix(1_700_000_000, 0) // as a clock shows it that is never set
	shift := time.Duration(0)             // of the clock of the recorder
	ports := counters.AllPorts(f)[:2]
	meters := [2][2]meter{}
	for i := range meters {
		meters[i] = [2]meter{{greatest: math.MaxUint64}, {greatest: math.MaxUint64}}
		if r.IntN(2) == 0 { // an agent without 64-bit counters of errors
			meters[i][0].greatest = counters.Greatest()[read[0]]
		}
		if r.IntN(3) == 0 {
			meters[i][1].register = math.MaxUint64 - r.Uint64N(1<<20)
		}
	}
	var ledger counters.Ledger
	var last [2]time.Time // of the readings of this run of the recorder
	var all [2][]interval
	for range 4 + r.IntN(12) {
		took := time.Duration(10+r.IntN(110)) * time.Second
		passed = passed.Add(took)
		for i := range meters {
			for k := range meters[i] {
				if m := &meters[i][k]; r.IntN(3) > 0 {
					m.count(r.Uint64N(1 << r.IntN(18)))
				}
			}
			if r.IntN(6) == 0 {
				for k := range meters[i] {
					meters[i][k].clear()
				}
			}
		}
		switch r.IntN(8) {
		case 0: // no round
			continue
		case 1: // the recorder restarts
			ledger, last = counters.Ledger{}, [2]time.Time{}
		case 2:
			shift += time.Duration(r.IntN(4*3600)-2*3600) * time.Second
		}
		reading := &counters.Reading{Fabric: f}
		for i, port := range ports {
			if r.IntN(6) == 0 {
				continue // it does not answer
			}
			p := counters.Port{Port: port, At: passed, Has: counters.Of(read[:]...)}
			x := interval{until: passed.Add(shift), took: passed.Sub(last[i])}
			isLower := false
			for k, c := range read {
				m := &meters[i][k]
				isLower = isLower || m.register < m.before && m.before < math.MaxUint64/2
				x.likeWrap = x.likeWrap || m.lost && m.before >= math.MaxUint64/2
				if p.Values[c] = m.register; m.greatest == math.MaxUint64 {
					p.Wide |= counters.Of(c)
				}
				if m.register == m.greatest {
					p.Stopped |= counters.Of(c)
				}
				x.grown[k], x.exact[k] = m.counted, !m.lost && m.register != m.greatest
				x.hidden = x.hidden || m.lost
				x.wasCleared = x.hidden
				m.counted, m.before, m.lost = 0, m.register, false
			}
			x.hidden, x.likeWrap = x.hidden && !isLower, x.likeWrap && !isLower
			if reading.Ports = append(reading.Ports, p); !last[i].IsZero() {
				all[i] = append(all[i], x)
			}
			last[i] = passed
		}
		samples := records.Samples(reading, ledger.Take(reading))
		for i := range samples {
			samples[i].Until = samples[i].Until.Add(shift)
		}
		now := passed.Add(shift)
		if len(samples) == 0 {
			continue
		}
		if err := errors.Join(s.Keep(t.Context(), records.Round{Subnet: "a", What: counters.Of(read[:]...),
			Every: time.Minute, Samples: samples}), s.RollUp(t.Context(), now), s.Trim(t.Context(), now)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		since := passed.Add(time.Duration(r.IntN(12*3600)-9*3600) * time.Second)
		until := since.Add(time.Duration(r.IntN(6*3600)) * time.Second)
		checkPeriod(t, s, f, ports, &all, since, until)
	}
	checkPeriod(t, s, f, ports, &all, passed.Add(-100*time.Hour), passed.Add(100*time.Hour))
}

// checkPeriod compares the recorded counts of a period with the intervals that end in it.
func checkPeriod(t *testing.T, s *records.Store, f *fabric.Fabric, ports []fabric.PortIndex, all *[2][]interval,
	since, until time.Time) {
	t.Helper()
	got, err := s.Recorded(t.Context(), "a", counters.Of(read[:]...), since, until)
	if err != nil {
		t.Fatal(err)
	}
	for i, port := range ports {
		var counts [2]records.Count
		for _, total := range got.Totals {
			for _, n := range total.Counts {
				for k, c := range read {
					if n.Counter == c && total.Key == counters.KeyOf(f, port) {
						counts[k] = n
					}
				}
			}
		}
		var want [2]uint64
		exact, took, isRead := [2]bool{true, true}, time.Duration(0), false
		isHidden, likeWrap, wasCleared := false, false, false
		for _, x := range all[i] {
			if !x.until.After(since) || x.until.After(until) {
				continue
			}
			isRead, took = true, took+x.took
			isHidden, likeWrap = isHidden || x.hidden, likeWrap || x.likeWrap
			wasCleared = wasCleared || x.wasCleared
			for k := range want {
				want[k] += x.grown[k]
				exact[k] = exact[k] && x.exact[k]
			}
		}
		if got.Read[counters.KeyOf(f, port)] != isRead {
			t.Fatalf("port %d from %v to %v: read is %v", i, since, until, !isRead)
		}
		for k := range want {
			n := &counts[k]
			slack := uint64(0)
			if read[k] == counters.XmitData {
				slack = want[k]*levels/512 + levels // each level rounds
			}
			switch {
			case n.Increase > want[k]+slack && !likeWrap:
				t.Fatalf("%v of port %d from %v to %v: %d, truly %d", read[k], i, since, until, n.Increase, want[k])
			case n.Increase+slack < want[k] && !n.AtLeast && !isHidden && (n.Increase > 0 || !wasCleared):
				t.Fatalf("%v of port %d from %v to %v: %d and not marked, truly %d", read[k], i, since, until,
					n.Increase, want[k])
			case exact[k] && n.AtLeast:
				t.Fatalf("%v of port %d from %v to %v: marked without reason", read[k], i, since, until)
			}
			// Each level may take the usual time, which is at most 1/63 longer than a shorter one.
			most := took.Seconds()*(math.Pow(64./63, levels)-1) + 0.01
			if n.Increase > 0 && math.Abs(n.Seconds-took.Seconds()) > most {
				t.Fatalf("%v of port %d from %v to %v: %g s, truly %v", read[k], i, since, until, n.Seconds, took)
			}
		}
	}
}
