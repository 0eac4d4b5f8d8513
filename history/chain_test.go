// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"example.org/ibconsole/history"
)

// TestSettle ends chains of commits and checks the outcomes that a user sees.
func TestSettle(t *testing.T) {
	ctx := context.Background()
	tb := tables(t, "torus:3x3")
	const resumed, rollback = history.ResumedNote, history.RollbackNote
	type commit struct {
		ends int // position in the list, from 1
		note string
		how  history.Outcome // before the chain is ended
	}
	for _, c := range []struct {
		name    string
		commits []commit
		first   int // of the open chain
		by      int
		back    bool
		want    []history.Outcome
	}{
		{"done", []commit{{0, "", ""}}, 1, 1, false, []history.Outcome{history.Done}},
		{
			"a rollback", []commit{{0, "", history.Done}, {1, rollback, ""}}, 2, 2, false,
			[]history.Outcome{history.RolledBack, history.Done},
		},
		{"resumed twice", []commit{{0, "", history.Interrupted}, {1, resumed, history.Interrupted},
			{1, resumed, ""}}, 1, 3, false,
			[]history.Outcome{history.Finished, history.Finished, history.Done}},
		{"rolled back, resumed and rolled back", []commit{
			{0, "", ""}, {1, rollback, history.Interrupted}, {1, resumed, history.NothingWritten},
			{1, resumed, history.Interrupted}, {1, rollback, ""},
		}, 1, 5, true,
			[]history.Outcome{history.RolledBack, history.Finished, history.NothingWritten, history.RolledBack,
				history.Done}},
		{"nothing left to write", []commit{{0, "", history.Interrupted}}, 1, 0, false, []history.Outcome{history.Done}},
		{
			"nothing left to roll back", []commit{{0, "", history.Interrupted}}, 1, 0, true,
			[]history.Outcome{history.RolledBack},
		},
		{"a rollback, resumed", []commit{
			{0, "", history.Done}, {1, rollback, history.Interrupted}, {2, history.ResumedRollbackNote, ""},
		}, 2, 3, false,
			[]history.Outcome{history.RolledBack, history.Finished, history.Done}},
		{"a rollback, rolled back", []commit{{0, "", history.Done}, {1, rollback, history.Interrupted},
			{2, rollback, ""}}, 2, 3, true,
			[]history.Outcome{history.Done, history.RolledBack, history.Done}},
		{"overwritten", []commit{{0, "", history.Interrupted}, {1, resumed, history.Interrupted}, {0, "", ""}},
			3, 3, false,
			[]history.Outcome{history.WrittenOver, history.WrittenOver, history.Done}},
		{"overwritten, and that rolled back", []commit{{0, "", history.Interrupted}, {0, "", history.Interrupted},
			{2, rollback, ""}}, 2, 3, true,
			[]history.Outcome{history.Interrupted, history.RolledBack, history.Done}},
		{"failed in an older program", []commit{{0, "", history.Failed}, {1, resumed, ""}}, 2, 2, false,
			[]history.Outcome{history.Finished, history.Done}},
	} {
		s := store(t, t.TempDir())
		var ids []int64
		id := func(position int) int64 {
			if position == 0 {
				return 0
			}
			return ids[position-1]
		}
		for _, x := range c.commits {
			e := entry(history.Commit)
			e.Note = x.note
			j, err := s.Begin(ctx, id(x.ends), snapshot(e, tb), snapshot(e, tb))
			if err == nil && x.how != "" {
				err = s.End(ctx, j.ID, x.how)
			}
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, j.ID)
		}
		open, found, err := s.Open(ctx, "a", nil)
		if err != nil || !found || open.First.ID != id(c.first) {
			t.Fatalf("%s: %+v is open, %v, %v", c.name, open.First, found, err)
		}
		if _, other, err := s.Open(ctx, "b", nil); other || err != nil {
			t.Errorf("%s: open in another subnet: %v, %v", c.name, other, err)
		}
		if err := s.Settle(ctx, open, id(c.by), c.back); err != nil {
			t.Fatal(err)
		}
		all, err := s.Journal(ctx, "a")
		var got []history.Outcome
		for _, j := range slices.Backward(all) {
			got = append(got, j.Outcome)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q (%v)", c.name, got, c.want, err)
		}
	}
}

// TestOldJournal imports and reads a file of the second version, whose journal did not record which commit another one
// ends.
func TestOldJournal(t *testing.T) {
	ctx := context.Background()
	s := store(t, t.TempDir())
	tb := tables(t, "torus:3x3")
	j, err := s.Begin(ctx, 0, snapshot(entry(history.Commit), tb), snapshot(entry(history.Commit), tb))
	if err != nil || s.End(ctx, j.ID, history.Done) != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "old.db")
	if _, err := s.Export(ctx, file, "a"); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"ALTER TABLE journal DROP COLUMN ends", "ALTER TABLE journal DROP COLUMN others",
		"ALTER TABLE entry DROP COLUMN events", "ALTER TABLE entry DROP COLUMN simulated",
		"ALTER TABLE entry DROP COLUMN seen", "ALTER TABLE journal DROP COLUMN controls",
		"ALTER TABLE journal DROP COLUMN halfway", "PRAGMA user_version = 2"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	others := store(t, t.TempDir())
	if n, err := others.Import(ctx, file); err != nil || n == 0 {
		t.Fatalf("%d imported, %v", n, err)
	}
	old, err := history.OpenFile(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	for _, s := range []*history.Store{others, old} {
		if all, err := s.Journal(ctx, "a"); err != nil || len(all) != 1 || all[0].Outcome != history.Done {
			t.Errorf("%+v, %v", all, err)
		}
	}
}
