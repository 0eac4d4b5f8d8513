// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	records "example.org/ibconsole/history"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/tui/pane/history"
)

// TestHistoryBranches checks that a rollback is drawn as a branch, and only in the order of time.
func TestHistoryBranches(t *testing.T) {
	e := func(id int64, kind records.Kind) records.Entry { return records.Entry{ID: id, Kind: kind} }
	list := []records.Entry{
		e(12, records.Sweep), e(11, records.Commit), e(10, records.Commit), e(9, records.Commit), e(8, records.Commit),
		e(7, records.Sweep), e(6, records.Commit), e(5, records.Commit), e(4, records.Route), e(3, records.Load),
		e(2, records.Route), e(1, records.Sweep),
	}
	journal := []records.JournalEntry{
		{ID: 3, Before: 10, After: 11, Outcome: records.Failed}, {ID: 2, Before: 8, After: 9, Outcome: records.Done,
			Note: records.RollbackNote},
		{ID: 1, Before: 5, After: 6, Outcome: records.RolledBack},
	}
	entries := history.Join(list, journal)
	d := driveBackend(t, newFake(star(t, "one", "a")))
	d.m.back.(*fake).entries = entries
	d.press("7", "z").sees("○─┴─┴─╯", "rolls back 6, done", "12 entries").press("s").misses("○─┴")
}

// TestHistoryStory commits, rolls back and commits again: the history draws the commit that was rolled back as a
// branch, and shows differences.
func TestHistoryStory(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: t.TempDir()})
	d := driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()})
	d.press(":", "fail link leaf-01 3; route; write on; commit yes; restore all; rollback yes; engine updn; route; "+
		"commit yes", "enter", "7", "z")
	d.sees("●        6", "commit, done", "●        4", "commit, rolls back 2, done", "│ ●      2",
		"commit, rolled back", "○─╯      1")
	d.press("G", "P").sees("! P: no entry before this one is known").press("k", "P").sees("diff 1 2", "entries")
	d.press("7", "b", "g").sees("rollback, done", "console of").press("enter").sees("HISTORY, after ").press(
		"left").sees(
		"HISTORY, after ", "rollback, done): v shows the state before")
	d.press("d").sees("diff 3 4")
}

// TestRollbackByKeys commits, and rolls the commit back with the keys 7 U y. The switches then have the tables from
// before the commit.
func TestRollbackByKeys(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: t.TempDir()})
	d := driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()}).size(120, 36)
	before := s.State().Live.Tables.LFT.Clone()
	same := func() bool { return slices.Equal(entriesOf(before), entriesOf(s.State().Live.Tables.LFT)) }
	d.press(":", "fail link leaf-01 3; route; write on; commit yes", "enter")
	if same() {
		t.Fatal("the commit changes nothing")
	}
	d.press("7", "U").sees("Rollback").press("G", "y").sees("Completed:")
	if !same() {
		t.Error("the tables differ from those before the commit")
	}
}

func entriesOf(t *fabric.LFT) (all []byte) {
	for s := range t.Switches() {
		all = append(all, t.Row(fabric.SwitchIndex(s))...)
	}
	return all
}

// TestHistoryKeys brings back past routes with the keys 7 G I C y, compares two marked entries and two times, and
// offers the shown entry in the form that writes a file.
func TestHistoryKeys(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: t.TempDir()})
	d := driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()}).size(120, 36)
	d.press(":", "fail link leaf-01 3; route; write on; commit yes; restore all; unstage", "enter")
	d.press("7", "G", "I").sees("STAGED history 1")
	d.press("C", "y").sees("Completed:").press("esc", ":diff 1 live", "enter").sees("no difference in links")
	d.press("7", "g", " ", "G", " ", "d").sees("diff 1 4")
	d.press(":at 2020-01-01 00:00 now", "enter").sees("diff '2020-01-01 00:00' now")
	d.press("7", "M", "G", "enter", "D").sees("history 1, as of")
}

// TestHistoryOfWhatIf checks that a route of the history is not shown as a state of the switches, and that every pane
// marks the route of a what-if.
func TestHistoryOfWhatIf(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: t.TempDir(), Record: true})
	d := driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()}).size(160, 40)
	d.press(":", "route; fail switch spine-01; route; restore all; unstage", "enter", "7", "z")
	d.sees("what-if: switch spine-01 failed")
	d.press("g", "enter").sees("WHAT-IF, history 2", ", computed at").misses(", recorded at")
	for _, pane := range []string{"2", "3", "4", "6"} {
		d.press(pane, "z").sees("WHAT-IF, history 2").misses("HISTORY").press("z")
	}
	d.press("7", "g", "j", "enter").sees("STAGED, history 1", ", computed at").misses(", recorded at", "WHAT-IF")
}
