// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	records "example.org/ibconsole/history"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/shell/session"
)

// happened returns the screen of a subnet in whose history the link from leaf-01 to spine-01 goes down and then the
// tables change: states 1, 2 and 3. A third event has no states.
func happened(t *testing.T) *driver {
	made, _ := routed(t, "fattree:2,8")
	f := made.Activated()
	tables := fabric.NewTables(f, reroute(t, f), "live")
	cable := linkBetweenSwitches(f)
	less := f.Without([]fabric.Link{cable})
	back := newFake(f)
	at := time.Date(2026, 11, 22, 3, 12, 5, 0, time.Local)
	pic := func(id session.Kind, f *fabric.Fabric, lft *fabric.LFT) *session.Picture {
		return &session.Picture{
			Kind: session.Recorded + id, Fabric: f, Tables: fabric.NewTables(f, lft, "live"), When: at,
		}
	}
	rerouted := reroute(t, less)
	back.recalls = map[int64]*session.Picture{1: pic("1", f, tables.LFT), 2: pic("2", less, tables.LFT),
		3: pic("3", less, rerouted)}
	back.state.Live = &session.Picture{
		Kind: session.Live, Fabric: less, Tables: fabric.NewTables(less, rerouted, "live"), When: time.Unix(0, 0),
	}
	back.moments = []timeline.Moment{
		{Event: records.Event{When: at.Add(-time.Hour), Text: "the connection is back"}},
		{
			Event: records.Event{
				When: at, What: "link", Text: "leaf-01/5 to spine-01/1: link down",
				Who: "cable; counted by 03:10:00: symbol errors 114",
			}, Before: 1, After: 2,
		},
		{
			Event: records.Event{
				When: at.Add(2 * time.Second), What: "tables", Text: "forwarding tables: 40 entries of 12 switches " +
					"changed", Who: "probably the master subnet manager 0x100001 on node-0001/1 (priority 14)",
			}, Before: 2, After: 3,
		},
	}
	d := driveBackend(t, back)
	d.m.now = func() time.Time { return time.Unix(0, 0) }
	return d
}

// TestTimelinePane checks that events are listed newest first with their probable cause, that Enter shows the states
// after and before one in every pane, that arrows, comma and point go from event to event, and that B returns to the
// present.
func TestTimelinePane(t *testing.T) {
	d := happened(t)
	d.press("2", "/", "node-0005", "enter", "t", "/", "node-0001", "enter", "T", "esc", "7", "b", "z")
	d.sees("11-22 03:12:07  tables", "11-22 03:12:05  link", "probably the master", "3 events")
	d.press("G", "enter").sees("! Enter: the history has no states before and after this event").press("g")
	d.press("enter").sees("HISTORY, after 03:12:07", "v shows the state before, B the present")
	d.press("enter").sees("HISTORY, before 03:12:07", "v shows the state after",
		"  before  ").press("v").sees("HISTORY, after 03:12:07", "  after   ")
	d.press("z", "4").sees("before: dead end: the link of spine-01/1 is down")
	d.press("6", "z").sees("paths       before", "56           28").press("z")
	d.press("3").sees("changed against history 2")
	d.press(",").sees("HISTORY, after 03:12:05", "0 changed against history 1")
	d.press(",").sees("! ,: there is no earlier event with states before and after it")
	d.press("7", "right").sees("HISTORY, after 03:12:07").press("right").sees("there is no later event").press(
		"left").sees(
		"HISTORY, after 03:12:05")
	d.press("B").sees("the panes show live").misses("HISTORY, ").press("B").sees(
		"! B: the panes show the present state")
	d.press("2", ".").sees("HISTORY, after 03:12:07")
}

// TestGoldenTimeline compares the timeline on a small and a usual screen.
func TestGoldenTimeline(t *testing.T) {
	d := happened(t)
	d.press("7", "b", "enter")
	golden(t, filepath.Join("panes", "timeline-120x36"), d.screen())
	d.size(80, 24)
	golden(t, filepath.Join("panes", "timeline-80x24"), d.screen())
}
