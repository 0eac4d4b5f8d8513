// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"testing"

	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestWrittenThoughNotCertain: a commit stops after its last Set, and a resume finds all written. What another console
// writes over that is noted, also where it is what was there before.
func TestWrittenThoughNotCertain(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	a := n.Console()
	n.Route(a, sessiontest.Engines[1]...)
	if _, err := commits.Commit(t.Context(), a, yes); err != nil {
		t.Fatal(err)
	}
	sets := func(name []string, at int) (int, error) {
		n.Route(a, name...)
		err := n.cut(at, context.Canceled, func(ctx context.Context) error {
			_, err := commits.Commit(ctx, a, yes)
			return err
		})
		return n.wire.sets, err
	}
	all, err := sets(sessiontest.Engines[2], 0)
	if err == nil {
		_, err = sets(sessiontest.Engines[1], 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err = sets(sessiontest.Engines[2], all); err == nil {
		t.Skip("it was read back before it could be stopped")
	}
	if rep, err := commits.Resume(t.Context(), a, yes); err != nil || rep.Written != nil {
		t.Fatalf("the resume: %+v, %v; it should find all written", rep.Written, err)
	}
	n.Dir = t.TempDir() // one of another host
	b := n.Console()
	n.Route(b, sessiontest.Engines[1]...)
	if _, err := commits.Commit(t.Context(), b, yes); err != nil {
		t.Fatal(err)
	}
	rep, err := a.Sweep(t.Context())
	if err != nil || len(rep.Warnings) == 0 {
		t.Fatalf("a says nothing: %v", err)
	}
	op, err := a.Begin(t.Context(), "look")
	if err != nil {
		t.Fatal(err)
	}
	written := op.Written()
	op.End()
	store, err := a.History()
	if err != nil {
		t.Fatal(err)
	}
	journal, err := store.Journal(t.Context(), a.Subnet())
	if want := diff.Count(written.Tables, n.LFT()).Changed; err != nil || journal[0].Others.Count != want {
		t.Fatalf("of %d entries are noted: %+v, %v", want, journal[0].Others.Count, err)
	}
}
