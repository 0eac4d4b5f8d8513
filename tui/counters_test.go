// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell/session/recording"
)

// TestCounters has a port with increasing symbol errors and a quarter of its link in use, and a port whose LinkDowned
// counter is saturated. A day in twelve parts is two hours each.
func TestCounters(t *testing.T) {
	f, tables := routed(t, "fattree:2,6")
	port := func(name string) fabric.PortIndex {
		for p := range f.NumPorts() {
			if f.PortName(p) == name {
				return p
			}
		}
		t.Fatalf("no port %s", name)
		return fabric.None
	}
	at := time.Now().Add(-90 * time.Minute)
	one, two := port("leaf-01/4"), port("spine-01/2")
	back := newFake(f)
	ports := []recording.Growing{
		{Total: records.Total{
			Key: counters.KeyOf(f, one), Counts: []records.Count{
				{Counter: counters.SymbolErrors, Increase: 7200, Seconds: 7200, First: at, Last: at},
			},
		},
			Port: one, Sum: 7200, PerHour: 3600, First: at, Last: at, Bins: []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100,
				7100}, Use: 0.25, Waits: 12},
		{
			Total: records.Total{
				Key: counters.KeyOf(f, two), Counts: []records.Count{{Counter: counters.LinkDowned, AtLeast: true}},
			}, Port: two, AtLeast: true, Bins: make([]int64, 12), Use: -1,
		},
	}
	read := map[counters.Key]bool{}
	for _, p := range counters.AllPorts(f) {
		read[counters.KeyOf(f, p)] = true
	}
	back.growth = func(since, until time.Time) *recording.Growth {
		return &recording.Growth{
			Since: since, Until: until, Fabric: f, Ports: ports, Spans: []records.Span{{Since: since, Until: until}},
			Read: read,
		}
	}
	d := driveBackend(t, back).size(160, 40)
	d.press("K").sees("errors of the last 24 h", "leaf-01/4", "symbol 7,200", "3,600", at.Format("15:04"), "25 %",
		"spine-01/2", "link downed at its", "before", "2 ports, not recording")
	d.press("i").sees("SymbolErrorCounter").press("esc").press("right").sees("of the last 6 h").press("left",
		"left").sees("of the last 7 d").press("b").sees("XmitWait and XmitDiscards")
	ports[0].Key, ports[0].Use = counters.KeyOf(f, port("leaf-01/6")), 0.425 // the link to a spine
	growth := back.growth
	back = newFake(f) // without recent counters
	back.growth, back.state.Live.Tables = growth, fabric.NewTables(f, tables.LFT, "live")
	d = driveBackend(t, back).size(160, 40)
	d.press("6", "b", "b", "b", "b").sees("nothing was recorded in the hour before the state")
	d.press("K", "6").until("at most 42 % used").sees("heat map of use, upwards", "leaf-01          ··▒")
	d.press("b").sees("heat map of use, downwards", "leaf-01          ···")
	d = driveBackend(t, newFake(f))
	d.press("K").sees("errors now", "not recording; visible ports not read", "leaf-01/1", "not read")
}
