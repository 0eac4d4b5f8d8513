// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/umad/umadtest"
)

// clockJumps runs a recorder and watch on a kernel of its own, whose clock is set forward by two hours, and then back
// by three. The program follows the script.
const clockJumps = `#!/bin/sh
export PATH=/bin XDG_STATE_HOME=/state HOME=/
busybox tail -c +SIZE "$0" >/ibconsole
busybox chmod 755 /ibconsole
set_by() { busybox date -s "@$(($(busybox date +%s) + $1))" >/dev/null; sleep 12; }
of='sim:fattree:2,4 traffic=30%'
/ibconsole -s "$of" record every=1 traffic=1 sweep=1 >/record 2>&1 &
recorder=$!
/ibconsole -s "$of" -c 'watch 1' >/watch 2>&1 &
watcher=$!
sleep 20
set_by 7200
set_by -10800
kill -TERM $recorder; wait $recorder; echo "recorder: $?"
kill -TERM $watcher; wait $watcher; echo "watch: $?"
echo "<<record"; cat /record; echo "<<watch"; cat /watch
set_by 14400 # so that all samples are in the past
/ibconsole -s "$of" --json -c 'counters history leaf-01/1 since=2d all'
/ibconsole -s "$of" --json -c 'problems since=2d; record alerts' 2>&1
exit 0
`

// TestClockJumps sets the clock of the machine while the program records and watches. No rate is negative or wrong, no
// alert and no change is reported, and the steps are reported. It needs a kernel of its own, so it runs in full only.
func TestClockJumps(t *testing.T) {
	if !testenv.Full() {
		t.Skip("emulating a machine takes two minutes; IBCONSOLE_FULL=1 runs it")
	}
	run := umadtest.Kernel(t, false)
	script := strings.Replace(clockJumps, "SIZE", fmt.Sprintf("%05d", len(clockJumps)+len("+1")), 1)
	if at := len(script) + 1; !strings.Contains(script, fmt.Sprintf("+%05d ", at)) {
		t.Fatalf("the program begins at byte %d: %.200s", at, script)
	}
	file := filepath.Join(t.TempDir(), "jumps")
	if err := os.WriteFile(file, append([]byte(script), mustRead(t, program)...), 0o755); err != nil {
		t.Fatal(err)
	}
	out, status := run(file)
	if status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	for _, want := range []string{
		"recorder: 0\n", "watch: 0\n", "the clock was set forward by ", "the clock was set back by ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if bad := regexp.MustCompile(`alert started.*|alerts?":\[\{.*|.*:-[0-9].*|(link|node) (lost|appeared).*`).
		FindString(out); bad != "" {
		t.Errorf("reported: %s", bad)
	}
	samples := 0
	for line := range strings.Lines(out) {
		var row struct {
			Rates map[string]float64 `json:"per_second"`
		}
		if json.Unmarshal([]byte(line), &row) != nil || len(row.Rates) == 0 {
			continue
		}
		samples++
		// 30 % of 400 Gb/s are 3.75e9 words a second.
		if rate := row.Rates["PortXmitData"]; rate < 3e9 || rate > 4.5e9 {
			t.Errorf("%g words a second: %s", rate, line)
		}
	}
	t.Logf("%d samples with traffic", samples)
	if samples < 10 {
		t.Errorf("%d samples with traffic", samples)
	}
}
