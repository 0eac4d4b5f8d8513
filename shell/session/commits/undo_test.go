// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/shell/session/survey"
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

// simulation is a history that consoles share, each of which simulates the same subnet on its own.
type simulation struct {
	*subnet
	dir string
}

// console opens a console with a subnet of its own.
func (l *simulation) console() *session.Session {
	l.T.Helper()
	l.subnet = newSubnet(l.T, "fattree:2,8")
	n := l.subnet
	s, err := session.Open(l.T.Context(), source.Source{Kind: source.Sim}, session.Options{
		StateDir: l.dir, Client: mad.Fast(), Later: true, Dial: func(context.Context) (mad.Transport, error) {
			conn, err := n.Open()
			return n.Wrap(conn), err
		},
	})
	if err == nil {
		err = errors.Join(s.Start(l.T.Context()), s.SetWrite(true))
	}
	if err != nil {
		l.T.Fatal(err)
	}
	l.T.Cleanup(func() { _ = s.Close() })
	return s
}

// leave opens a console whose commit is interrupted.
func (l *simulation) leave() *session.Session {
	l.T.Helper()
	s := l.console()
	l.Route(s, "minhop", "scatter_ports=1")
	err := l.cut(3, context.Canceled, func(ctx context.Context) error {
		_, err := commits.Commit(ctx, s, yes)
		return err
	})
	if err == nil || s.State().Interrupted == "" || s.State().Elsewhere != "" {
		l.T.Fatalf("the commit was not interrupted: %v, %q, %q", err, s.State().Interrupted, s.State().Elsewhere)
	}
	return s
}

// outcome returns the outcome of the first commit.
func (l *simulation) outcome(s *session.Session) history.Outcome {
	l.T.Helper()
	store, err := s.History()
	if err != nil {
		l.T.Fatal(err)
	}
	all, err := store.Journal(l.T.Context(), s.Subnet())
	if err != nil || len(all) == 0 {
		l.T.Fatal(all, err)
	}
	return all[len(all)-1].Outcome
}

// TestLeftInASimulation interrupts a commit to a simulated subnet. A new console, which simulates the subnet again,
// notes the commit at its start, and has no interrupted commit. Its own commits leave the entry alone. Resume and
// rollback end the entry, and claim nothing that was not written.
func TestLeftInASimulation(t *testing.T) {
	for _, end := range []string{"resume", "rollback", "rollback of the entry"} {
		l := &simulation{dir: t.TempDir(), subnet: newSubnet(t, "fattree:2,8")}
		first := l.leave()
		s := l.console()
		st := s.State()
		if st.Interrupted != "" || !strings.Contains(st.Elsewhere, "was interrupted in another console") {
			t.Fatalf("at the start: %q, %q", st.Interrupted, st.Elsewhere)
		}
		r, err := survey.Problems(t.Context(), s, survey.Options{})
		if err != nil || slices.ContainsFunc(r.Problems, func(p problems.Problem) bool {
			return p.Kind == problems.CommitInterrupted
		}) {
			t.Errorf("problems: %+v, %v", r.Problems, err)
		}
		all, err := s.Journal().Commits(t.Context())
		if err != nil || !strings.HasSuffix(string(all[0].Outcome), "in the simulation of another console") {
			t.Errorf("the journal has %+v, %v", all, err)
		}
		held := l.Held()
		switch end {
		case "resume":
			_, err = commits.Resume(t.Context(), s, yes)
		case "rollback":
			_, _, err = commits.Rollback(t.Context(), s, 0, yes)
		default:
			l.Route(s, "minhop", "scatter_ports=2")
			if _, err = commits.Commit(t.Context(), s, yes); err != nil || l.outcome(s) != history.Interrupted {
				t.Errorf("a commit of the other console: %v; the first is %q", err, l.outcome(s))
			}
			_, _, err = commits.Rollback(t.Context(), s, all[0].After, yes)
		}
		if err != nil || l.outcome(s) != history.Lost || s.State().Elsewhere != "" {
			t.Errorf("%s: %v; the entry is %q, the console notes %q", end, err, l.outcome(s), s.State().Elsewhere)
		}
		if changed := l.Held() != held; changed != (end == "resume") {
			t.Errorf("%s: the switches were changed: %v", end, changed)
		}
		if err := first.FindInterrupted(t.Context()); err != nil || first.State().Interrupted != "" {
			t.Errorf("%s: the first console has %q, %v", end, first.State().Interrupted, err)
		}
	}
}

// TestRollbackElsewhere rolls back a commit that another console made to its own simulation of the subnet. Its entry
// stays as it is, whether or not there was something to write.
func TestRollbackElsewhere(t *testing.T) {
	l := &simulation{dir: t.TempDir(), subnet: newSubnet(t, "fattree:2,8")}
	s := l.console()
	l.Route(s, "minhop", "scatter_ports=1")
	rep, err := commits.Commit(t.Context(), s, yes)
	if err != nil {
		t.Fatal(err)
	}
	for _, writes := range []bool{false, true} {
		other := l.console()
		if writes {
			l.Route(other, "minhop", "scatter_ports=2")
			if _, err := commits.Commit(t.Context(), other, yes); err != nil {
				t.Fatal(err)
			}
		}
		opt := yes
		opt.AllowOverwrite = true
		back, _, err := commits.Rollback(t.Context(), other, rep.Journal, opt)
		if err != nil || (back.Written != nil) != writes || l.outcome(other) != history.Done {
			t.Errorf("the rollback wrote %+v, %v; the entry is %q", back.Written, err, l.outcome(other))
		}
	}
}

// TestRollbackOfNothing rolls back a commit that wrote nothing. The entry of the commit stays as it is.
func TestRollbackOfNothing(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	s := n.Console()
	n.Route(s, "minhop", "scatter_ports=1")
	rep, err := commits.Commit(t.Context(), s, yes)
	if err == nil {
		_, _, err = commits.Rollback(t.Context(), s, 0, yes)
	}
	all, jerr := s.Journal().Commits(t.Context())
	store, serr := s.History()
	if err := errors.Join(err, jerr, serr); err != nil {
		t.Fatal(err)
	}
	first := all[len(all)-1]
	if err := store.End(t.Context(), first.ID, history.NothingWritten); err != nil {
		t.Fatal(err)
	}
	if _, _, err := commits.Rollback(t.Context(), s, rep.Journal, yes); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Journal().Commits(t.Context()); err != nil || all[len(all)-1].Outcome != history.NothingWritten {
		t.Errorf("%v, %+v", err, all)
	}
}

// TestWriterIsNamed resumes and rolls back a commit that another console is just carrying out. The errors name the
// process.
func TestWriterIsNamed(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	a, b := n.Console(), n.Console()
	n.Route(b, sessiontest.Engines[0]...)
	var errs []error
	err := n.cut(9, errRefused, func(ctx context.Context) error {
		n.wire.then = func() {
			_, err := commits.Resume(t.Context(), a, yes)
			_, _, back := commits.Rollback(t.Context(), a, 0, commits.Options{})
			errs = []error{err, back}
		}
		_, err := commits.Commit(ctx, b, yes)
		return err
	})
	if err == nil || len(errs) != 2 {
		t.Fatal(err, errs)
	}
	for _, err := range errs {
		writer := fmt.Sprintf("process %d of ", os.Getpid())
		for _, part := range []string{writer, ", since ", "hint: wait until it ends"} {
			if !errors.Is(err, history.ErrLocked) || !strings.Contains(err.Error(), part) {
				t.Errorf("the error is %v", err)
			}
		}
	}
}
