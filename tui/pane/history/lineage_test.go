// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/history"
	"example.org/ibconsole/tui/draw"
)

// TestLineage uses a history drawn by hand: a sweep, two routings, a commit, another sweep, a rollback of the commit
// and a commit that failed.
func TestLineage(t *testing.T) {
	e := func(id int64, kind history.Kind) history.Entry { return history.Entry{ID: id, Kind: kind} }
	list := []history.Entry{
		e(12, history.Sweep), e(11, history.Commit), e(10, history.Commit), e(9, history.Commit), e(8, history.Commit),
		e(7, history.Sweep), e(6, history.Commit), e(5, history.Commit), e(4, history.Route), e(3, history.Load),
		e(2, history.Route), e(1, history.Sweep),
	}
	journal := []history.JournalEntry{
		{ID: 3, Before: 10, After: 11, Outcome: history.Failed}, {ID: 2, Before: 8, After: 9, Outcome: history.Done,
			Note: history.RollbackNote},
		{ID: 1, Before: 5, After: 6, Outcome: history.RolledBack},
	}
	entries := Join(list, journal)
	parents := lineage(entries)
	if want := []int64{10, 10, 9, 5, 7, 6, 5, 1, 1, 1, 1, 0}; !slices.Equal(parents, want) {
		t.Errorf("parents %v, want %v", parents, want)
	}
	want := []string{
		"o",       // 12, a sweep
		"| *",     // 11, a commit that failed
		"o-'",     // 10, the state before it
		"*",       // 9, the rollback, which continues from 5
		"| o",     // 8, the state before it
		"| o",     // 7
		"| *",     // 6, the commit that was rolled back
		"o-'",     // 5
		"| o",     // 4, staged only
		"| | o",   // 3
		"| | | o", // 2
		"o-^-^-'", // 1
	}
	if got := drawLineage(entries, parents); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	unicode := draw.Environment(func(string) string { return "C.UTF-8" }).Glyphs()
	if got := lanes(&unicode, "| o-+-^-'"); got != "│ ○─┼─┴─╯" {
		t.Errorf("in Unicode %q", got)
	}
}
