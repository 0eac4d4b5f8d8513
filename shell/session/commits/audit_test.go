// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestWhatEndsBeforeThePlanIsLogged: a rollback of nothing and a commit of nothing have no hashes, a panic has that of
// before alone.
func TestWhatEndsBeforeThePlanIsLogged(t *testing.T) {
	n := newSubnet(t, "fattree:2,4")
	var got []audit.Record
	n.Log = func(r *audit.Record) error {
		got = append(got, *r)
		return nil
	}
	s := n.Console()
	if _, _, err := commits.Rollback(t.Context(), s, 0, yes); err == nil {
		t.Error("nothing was rolled back")
	}
	if _, err := commits.Resume(t.Context(), s, yes); err == nil {
		t.Error("nothing was resumed")
	}
	if _, err := commits.Commit(t.Context(), s, yes); err == nil {
		t.Error("nothing was committed")
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := commits.Commit(ended, s, yes); err == nil {
		t.Error("a commit whose context has ended began")
	}
	n.Route(s, sessiontest.Engines[0]...)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not go on")
			}
		}()
		opt := yes
		opt.Planned = func(*commits.Report) error { panic("of the test") }
		_, _ = commits.Commit(t.Context(), s, opt)
	}()
	const without = "no hashes"
	for i, want := range []struct {
		action, result string
		before         bool
	}{
		{"rollback", without, false}, {"commit", without, false}, {"commit", without, false},
		{"commit", without, false}, {"commit", "panic", true},
	} {
		if i >= len(got) {
			t.Fatalf("%d records, want more: %+v", len(got), got)
		}
		r := got[i]
		if r.Action != want.action || !r.Failed || !strings.Contains(r.Result, want.result) ||
			(r.Before != "") != want.before || r.After != "" {
			t.Errorf("%d: %+v, want %+v", i, r, want)
		}
	}
	if len(got) != 5 {
		t.Errorf("%d records, want 5: %+v", len(got), got)
	}
}
