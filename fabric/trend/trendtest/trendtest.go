// SPDX-License-Identifier: Apache-2.0

// Package trendtest provides series of readings for tests.
package trendtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/health"
)

// Folders is [FoldersFrom] for successive days from 2026-11-02.
func Folders(t testing.TB, folder string, days int) (hot, lost fabric.Link, f *fabric.Fabric) {
	t.Helper()
	return FoldersFrom(t, folder, time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), days)
}

// FoldersFrom writes folders of ibdiagnet of successive days from a time on, for a small tree. The module of the first
// link warms up by two degrees a day from 50, its received power falls by 0.5 dB a day from -4, all other modules stay
// at 45 degrees, and the last day has one link less.
func FoldersFrom(t testing.TB, folder string, first time.Time, days int) (hot, lost fabric.Link, f *fabric.Fabric) {
	t.Helper()
	f = gentest.WithLIDs(t, "fattree:2,4")
	links := f.Links()
	hot, lost = links[0], links[len(links)-1]
	for day := range days {
		state := f
		if day == days-1 {
			state = f.Without([]fabric.Link{lost})
		}
		db := &ibdiagnet.DB{Fabric: state, When: first.AddDate(0, 0, day),
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
	return hot, lost, f
}
