// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/audit"
)

// TestWhatEndsBeforeThePlanIsLogged: a rollback of nothing and a commit of nothing have no hashes, a panic has that of
// before alone.
func TestWhatEndsBeforeThePlanIsLogged(t *testing.T) {
	n := newSubnet(t, "fattree:2,4", false)
	s := n.console()
	var got []audit.Record
	s.opt.Log = func(r *audit.Record) error {
		got = append(got, *r)
		return nil
	}
	if _, _, err := s.Rollback(t.Context(), 0, yes); err == nil {
		t.Error("nothing was rolled back")
	}
	if _, err := s.Resume(t.Context(), yes); err == nil {
		t.Error("nothing was resumed")
	}
	if _, err := s.Commit(t.Context(), yes); err == nil {
		t.Error("nothing was committed")
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Commit(ended, yes); err == nil {
		t.Error("a commit whose context has ended began")
	}
	n.route(s, ways[0]...)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not go on")
			}
		}()
		opt := yes
		opt.Planned = func(*CommitReport) error { panic("of the test") }
		_, _ = s.Commit(t.Context(), opt)
	}()
	const without = "without hashes"
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
