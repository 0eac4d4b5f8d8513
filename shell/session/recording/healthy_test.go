// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/limits"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/simtest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/simulated"
)

// TestHealthySubnetRaisesNoAlert records an hour of a healthy subnet under load, by a simulated clock: no alert starts.
// Then one symbol error more than the limit raises one. With IBCONSOLE_FULL=1 the subnet has 11,664 hosts.
func TestHealthySubnetRaisesNoAlert(t *testing.T) {
	spec := "fattree:3,8"
	if testenv.Full() {
		spec = "fattree:3,36"
	}
	f := gentest.WithLIDs(t, spec)
	tables := simtest.Routed(t, f)
	bytes, err := simulated.Traffic(t.Context(), tables, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	subnet := sim.New(f, sim.Options{Tables: tables, Active: true, Now: func() time.Time { return now }})
	subnet.SetTraffic(bytes)
	conn, err := subnet.Open(f.EndPortOf(f.SMPort))
	if err != nil {
		t.Fatal(err)
	}
	client, err := mad.NewClient(conn, mad.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	store, err := records.Open(t.Context(), filepath.Join(t.TempDir(), records.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	tracker := limits.NewTracker(limits.Defaults(), nil)
	ledger, known, data := counters.Ledger{}, counters.Known{}, uint64(0)
	round := func() []*limits.Alert {
		t.Helper()
		opts := counters.Options{What: counters.All, Known: &known}
		reading, err := counters.ReadRound(t.Context(), client, f, opts, 0)
		if err != nil || len(reading.Unanswered) > 0 {
			t.Fatalf("%v, %v", reading.Unanswered, err)
		}
		for i := range reading.Ports {
			reading.Ports[i].At = now
		}
		out := &Outcome{Reading: reading, Grown: ledger.Take(reading)}
		for i := range out.Grown {
			data += out.Grown[i].Increase[counters.XmitData]
		}
		if samples := records.Samples(reading, out.Grown); len(samples) > 0 {
			if err := store.Keep(t.Context(), records.Round{Subnet: "a", What: counters.Errors, Every: time.Minute,
				Samples: samples}); err != nil {
				t.Fatal(err)
			}
		}
		lately, err := store.Recorded(t.Context(), "a", counters.Errors, now.Add(-recorded.Lately), now)
		if err != nil {
			t.Fatal(err)
		}
		figures, err := figuresOf(t.Context(), store, "a", tracker.Rules(), time.Minute, out, &lately)
		if err != nil {
			t.Fatal(err)
		}
		started, _ := tracker.Update(now, f, figures, nil)
		return started
	}
	for minute := range 61 {
		if started := round(); len(started) > 0 {
			t.Fatalf("minute %d: %d alerts: %s", minute, len(started), started[0].What)
		}
		now = now.Add(time.Minute)
	}
	if data == 0 {
		t.Error("the subnet carried no traffic")
	}
	port := f.EndPortOf(f.SMPort)
	c := subnet.Counters(port)
	c.SymbolErrors += 121
	subnet.SetCounters(port, c)
	if started := round(); len(started) != 1 || started[0].Rule.Counter != counters.SymbolErrors {
		t.Errorf("121 symbol errors within an hour: %d alerts", len(started))
	}
}
