// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric/trend/trendtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session/sessiontest"
)

func TestIbdiagnetDiff(t *testing.T) {
	folder := t.TempDir()
	hot, lost, f := trendtest.Folders(t, folder, 8)
	for command, wants := range map[string][]string{
		"ibdiagnet diff " + folder: {
			"2026-11-02 03:00:00", "2026-11-09 03:00:00",
			"worse   link down           " + f.PortName(lost.A),
			"worse   temperature         " + f.PortName(hot.A), "50 C", "64 C", "values 50, 52, 54, 56, 58, 60, 62, 64",
			"worse   received power      " + f.PortName(hot.A), "-4.0 dBm", "-7.5 dBm",
			"worse   SymbolErrorCounter  " + f.PortName(hot.A), "+168", "4 worse, 0 changed, 0 better",
		},
		"ibdiagnet diff " + folder + " since=2026-11-08T12:00": {
			"2026-11-08 03:00:00", "link down", "+24", "2 worse, 0 changed, 0 better", // not two degrees and 0.5 dB
		},
	} {
		out, err := on(t, "sim:fattree:2,4", command)
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", command, want, out)
			}
		}
	}
}

// TestForecast compares forecasts from folders with the answers of the made series: 64 degrees on the last day and two
// more each day reach 70 after three days; -7.5 dBm reach -10 after five days. The first folder does not count, so
// seven folders are the least.
func TestForecast(t *testing.T) {
	folder := t.TempDir()
	hot, _, f := trendtest.Folders(t, folder, 8)
	out, err := on(t, "sim:fattree:2,4", "forecast "+folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		f.PortName(hot.A), "temperature", "2026-11-12 03:00:00", "52 C      64 C", "overdue", " ago",
		"received power", "2026-11-14 03:00:00", "2 cross (2 overdue), 0 beyond their limit",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	folder = t.TempDir()
	trendtest.FoldersFrom(t, folder, time.Now().AddDate(0, 0, -8), 8) // the last one is a day old
	out, err = on(t, "sim:fattree:2,4", "forecast "+folder)
	if err != nil || !strings.Contains(out, "48 hours") || !strings.Contains(out, "4.0 days") ||
		strings.Contains(out, "overdue") {
		t.Errorf("%v\n%s", err, out)
	}
	folder = t.TempDir()
	trendtest.Folders(t, folder, 6)
	out, err = on(t, "sim:fattree:2,4", "forecast "+folder)
	if err != nil || !strings.Contains(out, " 0 cross, 0 beyond") {
		t.Errorf("five readings: %v\n%s", err, out)
	}
}

// TestPartialFolder checks that a folder with a truncated file is reported, and that what it seems to lack does not
// count as lost.
func TestPartialFolder(t *testing.T) {
	folder := t.TempDir()
	trendtest.Folders(t, folder, 2)
	file := filepath.Join(folder, "h-day", "ibdiagnet2.db_csv") // the later one
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)/3], 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = shell.New(sessiontest.Open(t, "sim:fattree:2,4")).Run(t.Context(), "test", "ibdiagnet diff "+folder,
		&shell.Output{W: &out, Notes: &out, Form: answer.FormJSON})
	if text := out.String(); err != nil || !strings.Contains(text, "truncated") ||
		!strings.Contains(text, `"verdict":"unknown"`) {
		t.Errorf("%v\n%s", err, text)
	}
}
