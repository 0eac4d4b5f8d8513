// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/shell/session"
)

// TestPlannedOutages disables a port, enables it and disables it again with a drain, while a recorder looks. The events
// and reports name these commits. The outages are planned: neither the ledger of flaps nor the problems nor the morning
// report count them as flaps.
func TestPlannedOutages(t *testing.T) {
	s, run := keeping(t, "sim:fattree:2,6")
	must := func(command string) string {
		t.Helper()
		out, err := run(command, false) // commands that write wait for the sweeps of the recorder
		for end := time.Now().Add(time.Minute); errors.Is(err, session.ErrBusy) && time.Now().Before(end) &&
			!strings.Contains(command, " yes"); {
			time.Sleep(10 * time.Millisecond)
			out, err = run(command, false)
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		return out
	}
	outages := func() (ended, open int) {
		store, err := s.Recorded().Store(t.Context())
		if err != nil {
			return 0, 0
		}
		all, err := store.Outages(t.Context(), s.Subnet(), time.Now().Add(-time.Hour), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].Up.IsZero() {
				open++
			} else {
				ended++
			}
		}
		return ended, open
	}
	await := func(ended, open int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if e, o := outages(); e == ended && o == open {
				return
			}
		}
		e, o := outages()
		t.Fatalf("%d ended outages and %d open ones, want %d and %d", e, o, ended, open)
	}
	must("write on; engine updn; route; commit yes")
	must("record start every=0.2 traffic=0.2 sweep=0.2")
	must("port disable spine-01/1 yes force-unreachable force-interrupt")
	await(0, 1)
	must("rollback yes")
	await(1, 0)
	must("drain link spine-01/1 yes port=disable")
	await(1, 1)
	must("undrain link spine-01/1 yes")
	await(2, 0)
	for command, wants := range map[string][]string{
		"changes since=1h": {"commit, done", "port disable spine-01/1, rolled back",
			"rollback of port disable spine-01/1, done", "drain link spine-01/1 (ports), rolled back",
			"link down (planned: port disable spine-01/1)", "link up (planned: drain link spine-01/1 (ports))"},
		"flaps": {"0 (2 planned)", "0 flaps, 2 planned outages"},
		"report morning since=1h": {"port disable spine-01/1, rolled back", "2 outages (2 planned)",
			"drain link spine-01/1 (ports)", "0 links flapped"},
	} {
		out := strings.ReplaceAll(must(command), `\`, "") // of Markdown
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", command, want, out)
			}
		}
	}
	if out := must("problems"); strings.Contains(out, "flapping") {
		t.Errorf("planned outages are flaps:\n%s", out)
	}
}
