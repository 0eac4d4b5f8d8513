// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/source"
)

// TestWatchComparesWithTheLastCommit: a watch in a later session compares with the commit of an earlier one, and
// reports the changes since.
func TestWatchComparesWithTheLastCommit(t *testing.T) {
	sim := sessiontest.Ibsim(t, "sim:fattree:2,4")
	src, dir := source.Source{Kind: source.Ibsim, Arg: sim.Name}, t.TempDir()
	with := func(work func(*session.Session)) {
		t.Helper()
		s, err := session.Open(t.Context(), src, session.Options{StateDir: dir})
		if err == nil {
			err = s.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		work(s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	told := func(want string) func(*session.Session) {
		return func(s *session.Session) {
			if err := s.KeepCurrent(time.Minute); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
				if events := s.State().Events; len(events) > 0 {
					if got := events[0].Text; !strings.HasPrefix(got, want) {
						t.Errorf("got event %q, want %q", got, want)
					}
					return
				}
			}
			t.Errorf("no event, want %q", want)
		}
	}
	with(func(s *session.Session) {
		if _, err := s.Route(t.Context(), compute.KeepNo); err != nil {
			t.Fatal(err)
		}
		if err := s.SetWrite(true); err != nil {
			t.Fatal(err)
		}
		if _, err := commits.Commit(t.Context(), s, commits.Options{Confirmed: true}); err != nil {
			t.Fatal(err)
		}
	})
	with(told("the switches hold what commit "))
	with(func(s *session.Session) {
		block, err := mad.Get[mad.LinearForwardingTable](t.Context(), s.Connection().Client(), mad.Path{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		block[3], block[4] = 1-block[3], 1-block[4]
		if _, err := mad.Set(t.Context(), s.Connection().Client(), mad.Path{}, 0, block); err != nil {
			t.Fatal(err)
		}
	})
	with(told("no longer what the last commit wrote: 2 entries"))
}
