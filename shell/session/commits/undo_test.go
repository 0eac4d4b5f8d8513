// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"errors"
	"testing"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/source"
)

// TestRollbackWithoutNumber undoes one commit after the other. An undrain is undone like a commit, and then the drain
// is in force again. A rollback that was itself rolled back does not count.
func TestRollbackWithoutNumber(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	s := n.Console()
	d := commits.Drain{What: "link", Name: "a/1"}
	held := []string{n.Held()}
	var ids []int64
	for _, engine := range []string{"scatter_ports=1", "scatter_ports=2"} {
		opt := yes
		if len(ids) == 1 {
			opt.Note = d.Note(false)
		}
		n.Route(s, "minhop", engine)
		rep, err := commits.Commit(t.Context(), s, opt)
		if err != nil {
			t.Fatal(err)
		}
		ids, held = append(ids, rep.Journal), append(held, n.Held())
	}
	back := func(what string, id int64, note, want string, drained bool) (entry int64) {
		t.Helper()
		opt := yes
		opt.Note = note
		rep, _, err := commits.Rollback(t.Context(), s, id, opt)
		if err != nil || n.Held() != want {
			t.Fatalf("%s: %v, or other tables", what, err)
		}
		all, err := commits.Drains(t.Context(), s)
		if err != nil || (len(all) == 1) != drained {
			t.Fatalf("%s: %+v, %v", what, all, err)
		}
		return rep.Journal
	}
	back("undrain", ids[1], d.UndrainNote(false), held[1], false)
	back("undo the undrain", 0, "", held[2], true)
	back("undrain again", ids[1], d.UndrainNote(false), held[1], false)
	back("undo it again", 0, "", held[2], true)
	back("undo the drain", 0, "", held[1], false)
	undo := back("undo the first commit", 0, "", held[0], false)
	if _, _, err := commits.Rollback(t.Context(), s, 0, yes); !errors.Is(err, commits.ErrAllUndone) {
		t.Fatal(err)
	}
	back("take that back", undo, "", held[1], false)
	back("undo the first commit again", 0, "", held[0], false)
}

// TestLeftInASimulation checks that another console of a simulated subnet, which begins with the same tables, finishes
// an interrupted commit or rolls it back, and that it then has no interrupted commit.
func TestLeftInASimulation(t *testing.T) {
	for _, resume := range []bool{true, false} {
		n := newSubnet(t, "fattree:2,8")
		console := func() *session.Session {
			s, err := session.Open(t.Context(), source.Source{Kind: source.Sim}, session.Options{
				StateDir: n.Dir, Client: mad.Fast(), Later: true, Dial: func(context.Context) (mad.Transport, error) {
					conn, err := n.Open()
					return n.Wrap(conn), err
				},
			})
			if err == nil {
				err = errors.Join(s.Start(t.Context()), s.SetWrite(true))
			}
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := console()
		n.Route(s, "minhop", "scatter_ports=1")
		err := n.cut(3, context.Canceled, func(ctx context.Context) error {
			_, err := commits.Commit(ctx, s, yes)
			return err
		})
		if err == nil {
			t.Fatal("the commit was not interrupted")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = console()
		if resume {
			_, err = commits.Resume(t.Context(), s, yes)
		} else {
			_, _, err = commits.Rollback(t.Context(), s, 0, yes)
		}
		if err != nil {
			t.Errorf("resume %v: %v", resume, err)
		}
		if c, found, err := s.Journal().Interrupted(t.Context()); found || err != nil {
			t.Errorf("resume %v: interrupted is %+v, %v", resume, c, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
