// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/health"
)

// seriesOf writes folders of successive days: the module of the first link warms up by two degrees a day from 50, its
// received power falls by 0.5 dB a day from -4, all other modules stay at 45 degrees, and the last day has one link
// less.
func seriesOf(t *testing.T, days int) (folder string, hot, lost fabric.Link, f *fabric.Fabric) {
	t.Helper()
	folder = t.TempDir()
	f = gentest.WithLIDs(t, "fattree:2,4")
	links := f.Links()
	hot, lost = links[0], links[len(links)-1]
	for day := range days {
		state := f
		if day == days-1 {
			state = f.Without([]fabric.Link{lost})
		}
		db := &ibdiagnet.DB{Fabric: state, When: time.Date(2026, 11, 2+day, 3, 0, 0, 0, time.UTC),
			Health: &health.Report{}, Counters: &counters.Reading{Fabric: state}}
		for _, l := range links {
			c := &health.Cable{Vendor: "Acme", Part: "MFS1", Serial: fmt.Sprint(l.A), Celsius: 45, Measured: true}
			if l == hot {
				c.Celsius += 5 + 2*day
				c.Rx[0], c.RxLow = health.LevelOf(-4-float64(day)/2), health.LevelOf(-10)
			}
			db.Health.Of(l.A).Cable = c
			p := counters.Port{Port: l.A, Has: counters.Of(counters.LinkDowned, counters.SymbolErrors)}
			if l == hot {
				p.Values[counters.SymbolErrors] = uint64(24 * day)
			}
			db.Counters.Ports = append(db.Counters.Ports, p)
		}
		var out bytes.Buffer
		if err := ibdiagnet.WriteDB(&out, db, nil); err != nil {
			t.Fatal(err)
		}
		// The names are not in the order of time.
		dir := filepath.Join(folder, fmt.Sprintf("%c-day", 'a'+(day*7)%26))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "ibdiagnet2.db_csv"), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, hot, lost, f
}

func TestIbdiagnetDiff(t *testing.T) {
	folder, hot, lost, f := seriesOf(t, 8)
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
	folder, hot, _, f := seriesOf(t, 8)
	out, err := on(t, "sim:fattree:2,4", "forecast "+folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		f.PortName(hot.A), "temperature", "2026-11-12 03:00:00", "3.0 days", "52 C      64 C",
		"received power", "2026-11-14 03:00:00", "2 cross, 0 beyond their limit",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	folder, _, _, _ = seriesOf(t, 6)
	out, err = on(t, "sim:fattree:2,4", "forecast "+folder)
	if err != nil || !strings.Contains(out, " 0 cross, 0 beyond") {
		t.Errorf("five readings: %v\n%s", err, out)
	}
}
