// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/survey"
)

// TestPreviewsChangeNothing: a plan that is only shown, or refused, leaves the staged tables, the what-if and the
// failures that undo takes back.
func TestPreviewsChangeNothing(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	s := n.Console()
	n.Route(s, sessiontest.Engines[0]...)
	if _, err := commits.Commit(t.Context(), s, yes); err != nil {
		t.Fatal(err)
	}
	n.Route(s, sessiontest.Engines[1]...)
	if err := n.cut(2, signalled{syscall.SIGTERM}, func(ctx context.Context) error {
		_, err := commits.Commit(ctx, s, yes)
		return err
	}); err == nil {
		t.Fatal("not stopped")
	}
	links := s.State().Live.Fabric.Links()
	if _, err := s.Fail(t.Context(), failures.Link(links[len(links)-1].A)); err != nil {
		t.Fatal(err)
	}
	n.Route(s, sessiontest.Engines[2]...)
	was, held := s.State(), n.Held()
	stop := errors.New("stop")
	refuse := yes
	refuse.Planned = func(*commits.Report) error { return stop }
	rollback := func(opt commits.Options) error {
		_, _, err := commits.Rollback(t.Context(), s, 0, opt)
		return err
	}
	resume := func(opt commits.Options) error {
		_, err := commits.Resume(t.Context(), s, opt)
		return err
	}
	commit := func(opt commits.Options) error {
		_, err := commits.Commit(t.Context(), s, opt)
		return err
	}
	for i, do := range []func() error{
		func() error { return rollback(commits.Options{}) },
		func() error { return rollback(commits.Options{Confirmed: true, DryRun: true}) },
		func() error { return rollback(refuse) },
		func() error { return resume(commits.Options{}) },
		func() error { return resume(refuse) },
		func() error { return commit(commits.Options{}) },
		func() error { return commit(refuse) },
		// another commit is interrupted
		func() error { return commit(commits.Options{Confirmed: true, AllowUnreachable: true}) },
	} {
		if err := do(); err != nil && !errors.Is(err, stop) && !commits.Needs(err, commits.Abandon) {
			t.Errorf("%d: %v", i, err)
		}
		st := s.State()
		if st.Staged != was.Staged || st.Stale || st.Written || st.WhatIf != was.WhatIf || st.Base != was.Base ||
			!slices.EqualFunc(st.Failures, was.Failures, func(a, b failures.Failure) bool {
				return a.Number == b.Number
			}) {
			t.Fatalf("%d changed the state: staged %s, was %s", i, st.Title(st.Staged), was.Title(was.Staged))
		}
	}
	if n.Held() != held {
		t.Error("something was written")
	}
}

// TestRollbackOfTheFirstCommit: the switches had no routes before it, so that all pairs lose their path. LIDs and port
// states stay.
func TestRollbackOfTheFirstCommit(t *testing.T) {
	n := sessiontest.NewBareSubnet(t, "fattree:2,4")
	var logged []audit.Record
	n.Log = func(r *audit.Record) error {
		logged = append(logged, *r)
		return nil
	}
	s := n.Console()
	n.Route(s, "minhop")
	before := s.State()
	if _, err := before.TablesOf(session.Live); err == nil || strings.Contains(err.Error(), "try: route") {
		t.Errorf("of switches without tables after route: %v", err)
	}
	if _, err := commits.Commit(t.Context(), s, yes); err != nil {
		t.Fatal(err)
	}
	if r := survey.Missing(s.State().Live, before.Live); len(r.Problems) > 0 {
		t.Errorf("the first LIDs are problems: %+v", r.Problems)
	}
	n.Route(s, "minhop")
	staged := s.State().Staged
	rep, _, err := commits.Rollback(t.Context(), s, 0, commits.Options{})
	if err != nil || rep.Lost != 56 || rep.LIDsLeft != 14 || rep.PortsLeft == 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	_, _, err = commits.Rollback(t.Context(), s, 0, yes)
	if !commits.Needs(err, commits.Unreachable) || !strings.Contains(err.Error(), "56 connected pairs would lose") ||
		!strings.Contains(err.Error(), "the tables of history entry 1 do not connect them") {
		t.Fatal(err)
	}
	if st := s.State(); st.Staged != staged {
		t.Errorf("the refused rollback staged %s", st.Title(st.Staged))
	}
	opt := yes
	opt.AllowUnreachable = true
	if _, _, err := commits.Rollback(t.Context(), s, 0, opt); err != nil {
		t.Fatal(err)
	}
	st := s.State()
	if st.Staged == nil || !st.Written || st.Staged.Tables.Origin != "history 1" {
		t.Errorf("staged %v after the rollback", st.Staged)
	}
	if _, err := st.TablesOf(session.Staged); err == nil || !strings.Contains(err.Error(), "hint: run 'route'") {
		t.Errorf("of staged tables without a LID: %v", err)
	}
	for _, r := range logged {
		if strings.Contains(r.Result, `\x`) {
			t.Errorf("the log has %q", r.Result)
		}
	}
}
