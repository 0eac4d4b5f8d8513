// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/simulated"
	"example.org/ibconsole/shell/session/survey"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recording"
)

// recordedRounds waits until so many rounds more were read.
func recordedRounds(t *testing.T, s *session.Session, more int) {
	t.Helper()
	st, _ := recording.StatusOf(s)
	for want := st.Rounds + more; st.Rounds < want; st, _ = recording.StatusOf(s) {
		if st.Failed != nil {
			t.Fatal(st.Failed)
		}
		select {
		case <-t.Context().Done():
			t.Fatal("nothing is recorded")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func totals(t *testing.T, s *session.Session, what counters.Set) map[counters.Key]records.Total {
	t.Helper()
	store, err := s.Recorded().Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.Totals(t.Context(), s.Subnet(), what, time.Time{}, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	of := map[counters.Key]records.Total{}
	for _, x := range all {
		of[x.Key] = x
	}
	return of
}

// TestRecordTraffic records a simulated subnet with traffic: the rates are those that were put in, but for the time
// that a reading takes. Sweeps go on meanwhile, another console asks, and no second one records.
func TestRecordTraffic(t *testing.T) {
	dir := t.TempDir()
	s := sessiontest.OpenIn(t, "sim:fattree:2,8 traffic=50%", dir)
	if _, err := s.Recorded().Store(t.Context()); !errors.Is(err, recorded.ErrNone) {
		t.Skipf("this machine has records: %v", err)
	}
	if err := recording.End(s); !errors.Is(err, recording.ErrNotRecording) {
		t.Error(err)
	}
	began := time.Now()
	if err := recording.Begin(t.Context(), s, recording.Settings{
		Every: 200 * time.Millisecond, Traffic: 400 * time.Millisecond, Sweep: time.Minute,
	}); err != nil {
		t.Fatal(err)
	}
	if st := s.State(); !st.Recording || st.Every != time.Minute {
		t.Errorf("recording %t, sweeps every %v", st.Recording, st.Every)
	}
	other := sessiontest.OpenIn(t, "sim:fattree:2,8 traffic=50%", dir)
	if err := recording.Begin(t.Context(), other, recording.Settings{
		Every: time.Second, Traffic: time.Second,
	}); !errors.Is(err, history.ErrRecording) || !recording.Elsewhere(other) {
		t.Errorf("a second one: %v", err)
	}
	recordedRounds(t, s, 4)
	if _, err := s.SweepLight(t.Context()); err != nil {
		t.Error(err)
	}
	recordedRounds(t, s, 8)
	if err := recording.End(s); err != nil {
		t.Fatal(err)
	}
	long := time.Since(began).Seconds()
	st := s.State()
	if st.Recording || st.Every != 0 {
		t.Errorf("stopped: recording %t, sweeps every %v", st.Recording, st.Every)
	}
	want, err := simulated.Traffic(t.Context(), st.Live.Tables, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	f := st.Live.Fabric
	of := totals(t, other, records.Traffic)
	busiest := 0.0
	for _, p := range counters.AllPorts(f) {
		got := of[counters.KeyOf(f, p)]
		if want[p] == 0 {
			continue
		}
		found := false
		for _, c := range got.Counts {
			if c.Counter != counters.XmitData {
				continue
			}
			found = true
			rate := 4 * c.PerSecond()
			busiest = max(busiest, rate*8/1e9/f.Ports[p].Gbps())
			if rate < 0.75*want[p] || rate > 1.25*want[p] || float64(c.Increase) > long*want[p]/4*1.01 {
				t.Errorf("%s: %.4g bytes a second in %.2f s, want %.4g", f.PortName(p), rate, c.Seconds, want[p])
			}
		}
		if !found {
			t.Errorf("%s: no traffic", f.PortName(p))
		}
	}
	if busiest < 0.375 || busiest > 0.625 {
		t.Errorf("the busiest link is used by %.2f of its rate, want half", busiest)
	}
}

// TestRecordIbsim has ibsim's console raise counters while they are recorded: errors to the unit, through a reset.
func TestRecordIbsim(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, sessiontest.TwoSwitches))
	ibsimtest.OpenSM(t, sim)
	s := sessiontest.OpenIn(t, "ibsim:"+sim.Name, t.TempDir())
	if err := recording.Begin(t.Context(), s, recording.Settings{
		Every: 100 * time.Millisecond, Traffic: 100 * time.Millisecond,
	}); err != nil {
		t.Fatal(err)
	}
	f := s.State().Live.Fabric
	sw := f.NodesByDescription("edge/7")[0]
	port := f.PortAt(sw, 8)
	recordedRounds(t, s, 2) // what was before
	if r, err := survey.Problems(t.Context(), s, survey.Options{Quick: true}); err != nil ||
		slices.ContainsFunc(r.Unchecked, func(u problems.Unchecked) bool { return u.Try == "show counters" }) {
		t.Errorf("problems do not know what is recorded: %+v, %v", r.Unchecked, err)
	}
	for _, step := range []int{5, 12, 40, 7} { // 5, 7 and 28 more; then somebody cleared, and 7 at least
		sim.Console(fmt.Sprintf("PerformanceSet \"S1\"[8] PortCounters.SymbolErrorCounter=%d", step))
		recordedRounds(t, s, 2)
	}
	if err := recording.End(s); err != nil {
		t.Fatal(err)
	}
	all := totals(t, s, counters.Errors&^counters.Of(counters.XmitWait))
	got := all[counters.KeyOf(f, port)]
	if len(got.Counts) != 1 || got.Counts[0].Counter != counters.SymbolErrors || got.Counts[0].Increase != 47 ||
		!got.Counts[0].AtLeast {
		t.Errorf("%+v, want 47 symbol errors at least", got)
	}
	// A counter of 16 bits that stands at its greatest value is known to do so since it was first seen, until it is
	// cleared.
	sim.Console(`PerformanceSet "S1"[8] PortCounters.SymbolErrorCounter=65535`)
	var first time.Time
	for range 2 {
		if _, _, err := s.Counters(t.Context(), port); err != nil {
			t.Fatal(err)
		}
		list := s.State().Standing[counters.KeyOf(f, port)]
		if len(list) != 1 || list[0].Counter != counters.SymbolErrors || !first.IsZero() &&
			!list[0].Since.Equal(first) {
			t.Fatalf("%+v", list)
		}
		first = list[0].Since
	}
	sim.Console(`PerformanceSet "S1"[8] PortCounters.SymbolErrorCounter=3`)
	if _, _, err := s.Counters(t.Context(), port); err != nil || len(s.State().Standing) != 0 {
		t.Errorf("%v, %v", s.State().Standing, err)
	}
	if len(all) != 1 || port == fabric.None {
		t.Errorf("%d ports have errors", len(all))
	}
}

// TestRecordsExplain: problems, and the causes that are given for events, know what was recorded, by this session or by
// another one of the machine: of the last hour, not of the last two readings alone.
func TestRecordsExplain(t *testing.T) {
	dir := t.TempDir()
	tree, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	var net strings.Builder
	if err := ibnet.Write(&net, tree, ibnet.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, net.String()))
	ibsimtest.OpenSM(t, sim)
	recorder, other := sessiontest.OpenIn(t, "ibsim:"+sim.Name, dir), sessiontest.OpenIn(t, "ibsim:"+sim.Name, dir)
	if err := recording.Begin(t.Context(), recorder, recording.Settings{Every: 100 * time.Millisecond,
		Traffic: 100 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	f := recorder.State().Live.Fabric
	leaf := f.NodesByDescription("leaf-02")[0]
	port, at := f.PortAt(leaf, 3), fmt.Sprintf(`"S-%016x"[3]`, f.Nodes[leaf].GUID)
	recordedRounds(t, recorder, 2)
	sim.Console("PerformanceSet " + at + " PortCounters.SymbolErrorCounter=65")
	recordedRounds(t, recorder, 4) // the last ones have no error
	sessions := map[string]*session.Session{"that records": recorder, "next to it": other}
	for name, s := range sessions {
		r, err := survey.Problems(t.Context(), s, survey.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := counters.SymbolErrors.String() + " +65"
		if !slices.ContainsFunc(r.Problems, func(p problems.Problem) bool {
			return p.Kind == problems.Rising && strings.Contains(p.What, want) &&
				strings.HasPrefix(p.What, f.PortName(port))
		}) {
			t.Errorf("problems of the session %s: no %q in %+v", name, want, r.Problems)
		}
		if slices.ContainsFunc(r.Unchecked, func(u problems.Unchecked) bool { return u.Try == "show counters" }) {
			t.Errorf("problems of the session %s advise to read counters: %+v", name, r.Unchecked)
		}
	}
	sim.Console("Unlink " + at)
	for name, s := range sessions {
		if _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		events := s.State().Events
		i := slices.IndexFunc(events, func(e session.Event) bool {
			return e.Change != nil && e.Change.Kind == fabric.LinkDown
		})
		if want := counters.SymbolErrors.String() + " 65"; i < 0 || !strings.Contains(events[i].Who, want) ||
			!strings.HasPrefix(events[i].Who, "cable; recorded from ") {
			t.Errorf("the event of the session %s: no %q in %+v", name, want, events)
		}
	}
}
