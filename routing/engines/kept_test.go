// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"math/rand/v2"
	"testing"

	simulated "example.org/ibconsole/fabric/failures"

	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/calibration"
	"example.org/ibconsole/shell/session/settings"
)

// TestCalibrationAfterLosses: an OpenSM keeps routes when links fail, so its tables are not the recomputed ones. A
// calibration reports that, whether it saw the subnet before or not, and the next what-if equals OpenSM's tables.
// Different settings are distinguished from that.
func TestCalibrationAfterLosses(t *testing.T) {
	repeat(t, 3, 60, 6, func(t *testing.T, r *rand.Rand, _ int) { calibrateThroughFailures(t, r) })
}

func calibrateThroughFailures(t *testing.T, r *rand.Rand) {
	l := newLife(t, r, []string{[]string{"minhop", "updn", "dnup"}[r.IntN(3)]}, false)
	l.run(t)
	s := sessionOn(t, l)
	calibrated(t, l, s, true)
	kept := 0
	for range 4 {
		before := l.lost
		if !l.loseLink(r, between(l.whole.Without(l.lost))) {
			break
		}
		l.run(t)
		simulateEvents(t, s, l.whole, before, l.lost)
		if _, err := s.Route(t.Context(), compute.KeepAsOpenSM); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		if err := sameLFTs(l.manager.dir, &routing.Result{Tables: s.State().Staged.Tables}); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		if _, err := s.Restore(t.Context(), nil, simulated.Failure{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := calibrated(t, l, s, true); c.Differ > 0 {
			kept++
			if c.Kept != calibration.KeptSeen {
				t.Errorf("%s: kept routes are %q", l, c.Kept)
			}
			fresh := sessionOn(t, l)
			if c := calibrated(t, l, fresh, true); c.Kept != calibration.KeptPossible {
				t.Errorf("%s: kept routes are %q in a new session", l, c.Kept)
			}
			if err := fresh.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("routes were kept %d times: %s", kept, l)
	set, err := settings.Parse(t.Context(), []string{"sssp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.SetSettings(set)
	if c, err := s.Calibrate(t.Context()); err != nil || c.Differ > 0 && (c.Explained() || !s.State().Estimate) {
		t.Errorf("%s: sssp explains it: %+v, %v", l, c, err)
	}
}

func calibrated(t *testing.T, l *life, s *session.Session, explained bool) calibration.Calibration {
	t.Helper()
	c, err := s.Calibrate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Explained() != explained || s.State().Estimate == explained {
		t.Errorf("%s: %d of %d entries differ, kept %q", l, c.Differ, c.Entries, c.Kept)
	}
	return c
}

// TestCalibrationAgain: repeated calibrations of the same tables give the same result, also after a sweep. An OpenSM,
// with its unicast cache or without, has lost leaf switches, hosts and links since the first one.
func TestCalibrationAgain(t *testing.T) {
	repeat(t, 4, 40, 7, func(t *testing.T, r *rand.Rand, i int) {
		l := newLife(t, r, []string{"minhop"}, i%2 == 0)
		l.run(t)
		s := sessionOn(t, l)
		calibrated(t, l, s, true)
		for range 3 {
			now := l.whole.Without(l.lost)
			if !l.loseSwitch(r, now) && !l.loseLink(r, hostLinks(now)) && !l.loseLink(r, between(now)) {
				break
			}
			l.run(t)
			var first calibration.Calibration
			for again := range 3 {
				if again != 1 {
					if _, err := s.Sweep(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				c, err := s.Calibrate(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if again == 0 {
					first = c
				}
				if c.Kept != first.Kept || c.Differ != first.Differ || c.Explained() != first.Explained() ||
					s.State().Estimate == c.Explained() {
					t.Errorf("%s: calibration %d: %d differ, kept %q; the first one: %d, %q", l, again+1, c.Differ,
						c.Kept, first.Differ, first.Kept)
				}
			}
			t.Logf("%d differ, kept %q: %s", first.Differ, first.Kept, l)
		}
	})
}
