// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"testing"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestCommitLeftByAnother: a console that goes on finds, at each kind of reading, that another one left a commit
// open or ended it, and does not take one that is under way for one that was left. Many may look at once.
func TestCommitLeftByAnother(t *testing.T) {
	for name, read := range map[string]func(*session.Session) error{
		"full":  func(s *session.Session) error { _, err := s.Sweep(t.Context()); return err },
		"light": func(s *session.Session) error { _, err := s.SweepLight(t.Context()); return err },
	} {
		t.Run(name, func(t *testing.T) {
			n := newSubnet(t, "fattree:2,8")
			a, b := n.Console(), n.Console()
			says := func() string {
				t.Helper()
				if err := read(a); err != nil {
					t.Fatal(err)
				}
				return a.State().Interrupted
			}
			n.Route(b, sessiontest.Engines[0]...)
			meanwhile := ""
			err := n.cut(9, errRefused, func(ctx context.Context) error {
				n.wire.then = func() { meanwhile = says() }
				_, err := commits.Commit(ctx, b, yes)
				return err
			})
			if err == nil || meanwhile != "" {
				t.Fatalf("%v; meanwhile the other console says %q", err, meanwhile)
			}
			says()
			expectOpen(t, a)
			c := n.Console()
			expectOpen(t, c)
			if _, err := commits.Resume(t.Context(), c, yes); err != nil {
				t.Fatal(err)
			}
			if text := says(); text != "" {
				t.Fatalf("after the end it says %q", text)
			}
		})
	}
}

// TestResumeWithALoop resumes a commit to routes with a credit loop, which was permitted. The switches hold the earlier
// routes without a loop, except for some blocks. The resume needs no new permission.
func TestResumeWithALoop(t *testing.T) {
	n := newSubnet(t, "mesh:4x4")
	a := n.Console()
	n.Route(a, "dor")
	if _, err := commits.Commit(t.Context(), a, yes); err != nil {
		t.Fatal(err)
	}
	n.Route(a, "minhop")
	err := n.cut(2, errRefused, func(ctx context.Context) error {
		rep, err := commits.Commit(ctx, a, yes)
		if !rep.Credits.AddsLoop() {
			t.Errorf("the new routes add no loop: %v", err)
		}
		return err
	})
	if err == nil {
		t.Fatal("the commit was not cut")
	}
	opt := yes
	opt.AllowLoop = false
	if _, err := commits.Resume(t.Context(), n.Console(), opt); err != nil {
		t.Errorf("the resume: %v", err)
	}
}
