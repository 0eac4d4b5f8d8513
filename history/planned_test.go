// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/mad"
)

// TestTookDown asks of outages of a link whether a commit caused them: only the last commit that controlled one of its
// ports can have, and only if sweeps did not see the link up long after it.
func TestTookDown(t *testing.T) {
	begin := time.Unix(1_790_000_000, 0)
	at := func(minute float64) time.Time { return begin.Add(time.Duration(minute * float64(time.Minute))) }
	a, b := fabric.End{GUID: 1, Port: 3}, fabric.End{GUID: 2, Port: 7}
	commit := func(minute float64, o history.Outcome, guid uint64, port uint8, phys mad.PhysState,
		reset bool) history.JournalEntry {
		return history.JournalEntry{Began: at(minute), Outcome: o, Note: "port disable x/3", Controls: []write.Control{
			{GUID: 9, Num: 1, Phys: mad.PhysDisabled}, {GUID: guid, Num: port, Phys: phys, Reset: reset}}}
	}
	type commits = []history.JournalEntry
	const off, on = mad.PhysDisabled, mad.PhysPolling
	for name, x := range map[string]struct {
		journal     commits // the oldest first
		wasUp, down time.Time
		want        bool
	}{
		"disabled":          {commits{commit(0, history.Done, 1, 3, off, false)}, at(-0.5), at(0.5), true},
		"peer disabled":     {commits{commit(0, history.Done, 2, 7, off, false)}, at(-0.5), at(0.5), true},
		"rolled back later": {commits{commit(0, history.RolledBack, 1, 3, off, false)}, at(0), at(1), true},
		"not known up":      {commits{commit(0, history.Done, 1, 3, off, false)}, time.Time{}, at(99), true},
		"another port":      {commits{commit(0, history.Done, 1, 4, off, false)}, at(-0.5), at(0.5), false},
		"disabled later":    {commits{commit(2, history.Done, 1, 3, off, false)}, at(-0.5), at(0.5), false},
		"nothing written": {commits{commit(0, history.NothingWritten, 1, 3, off, false)}, at(-0.5),
			at(0.5), false},
		"reset": {commits{commit(0, history.Done, 1, 3, on, true)}, at(-0.5), at(0.5), true},
		"flaps after a reset": {commits{commit(0, history.Done, 1, 3, on, true)}, at(60), at(60.5),
			false},
		"flaps after it was enabled": {commits{commit(0, history.RolledBack, 1, 3, off, false),
			commit(1, history.Done, 1, 3, on, false)}, at(2), at(2.5), false},
		"disabled again": {commits{commit(0, history.RolledBack, 1, 3, off, false),
			commit(1, history.Done, 1, 3, on, false), commit(2, history.Done, 2, 7, off, false)}, at(2), at(2.5), true},
		"width set since": {commits{commit(0, history.Done, 1, 3, off, false),
			commit(1, history.Done, 1, 3, 0, false)}, at(0.5), at(1.5), true},
	} {
		slices.Reverse(x.journal)
		if j := history.TookDown(x.journal, a, b, x.wasUp, x.down); (j != nil) != x.want {
			t.Errorf("%s: %v", name, j)
		}
	}
}

// TestActions names what commits did, also of commits that undo or finish others.
func TestActions(t *testing.T) {
	journal := []history.JournalEntry{
		{ID: 7, Completes: 4, Note: history.UndrainNote + "link a/1, ports"},
		{ID: 6, Completes: 5, Note: history.ResumedRollbackNote}, {ID: 5, Completes: 4, Note: history.RollbackNote},
		{ID: 4, Completes: 3, Note: history.ResumedNote}, {ID: 3, Note: "drain link a/1, ports"},
		{ID: 2, Completes: 1, Note: history.RollbackNote}, {ID: 1},
	}
	for i, want := range []string{
		"undrain link a/1 (ports)", "rollback of drain link a/1 (ports) (resumed) (resumed)",
		"rollback of drain link a/1 (ports) (resumed)",
		"drain link a/1 (ports) (resumed)", "drain link a/1 (ports)", "rollback", "commit",
	} {
		if got := journal[i].Action(journal); got != want {
			t.Errorf("commit %d: %q, want %q", journal[i].ID, got, want)
		}
	}
}
