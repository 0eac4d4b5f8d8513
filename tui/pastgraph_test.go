// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/history"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
)

// TestLineage draws a history as it is drawn by hand: a sweep, two routings on paper, a
// commit, another sweep, a rollback of the commit and a commit that failed.
func TestLineage(t *testing.T) {
	e := func(id int64, kind history.Kind) history.Entry { return history.Entry{ID: id, Kind: kind} }
	list := []history.Entry{
		e(12, history.Sweep), e(11, history.Commit), e(10, history.Commit), e(9, history.Commit), e(8, history.Commit),
		e(7, history.Sweep), e(6, history.Commit), e(5, history.Commit), e(4, history.Route), e(3, history.Load), e(2, history.Route), e(1, history.Sweep),
	}
	journal := []history.JournalEntry{
		{ID: 3, Before: 10, After: 11, Outcome: history.Failed}, {ID: 2, Before: 8, After: 9, Outcome: history.Done, Note: session.RollbackNote},
		{ID: 1, Before: 5, After: 6, Outcome: history.RolledBack},
	}
	entries := joinJournal(list, journal)
	parents := lineage(entries)
	if want := []int64{10, 10, 9, 5, 7, 6, 5, 1, 1, 1, 1, 0}; !slices.Equal(parents, want) {
		t.Errorf("parents %v, want %v", parents, want)
	}
	want := []string{
		"o",       // 12, a sweep
		"| *",     // 11, a commit that failed
		"o-'",     // 10, what was there before it
		"*",       // 9, the rollback, which goes on from 5
		"| o",     // 8, what was there before it
		"| o",     // 7
		"| *",     // 6, the commit that was taken back
		"o-'",     // 5
		"| o",     // 4, on paper alone
		"| | o",   // 3
		"| | | o", // 2
		"o-^-^-'", // 1
	}
	if got := drawLineage(entries, parents); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	th, d := looks()[0], driveBackend(t, newFake(star(t, "one", "a")))
	if got := lanes(&th.glyphs, "| o-+-^-'"); got != "│ ○─┼─┴─╯" {
		t.Errorf("in Unicode %q", got)
	}
	d.m.back.(*fake).entries = entries
	d.press("7", "z").sees("○─┴─┴─╯", "takes back 6, done", "12 entries").press("s").misses("○─┴")
}

// TestHistoryStory: somebody commits, takes that back and commits something else; the
// history draws what was gone back from as a branch, and says what differs.
func TestHistoryStory(t *testing.T) {
	src, err := session.ParseSource("sim:fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), src, session.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()})
	d.press(":", "fail link leaf-01 3; route; write on; commit yes; restore all; rollback yes; engine updn; route; commit yes", "enter", "7", "z")
	d.sees("●        6", "commit, done", "●        4", "commit, takes back 2, done", "│ ●      2", "commit, rolled back", "○─╯      1")
	d.press("G", "P").sees("! P: nothing is known from before this entry").press("k", "P").sees("diff 1 2", "entries")
}
