// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"testing"
)

// TestWrittenThoughNotCertain: a commit stops after its last Set, and a resume finds all written. What another console
// writes over that is noted, also where it is what was there before.
func TestWrittenThoughNotCertain(t *testing.T) {
	n := newSubnet(t, "fattree:2,8", false)
	a := n.console()
	n.route(a, ways[1]...)
	if _, err := a.Commit(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	sets := func(name []string, at int) (int, error) {
		n.route(a, name...)
		err := n.cut(at, context.Canceled, func(ctx context.Context) error { _, err := a.Commit(ctx, yes); return err })
		return n.wire.sets, err
	}
	all, err := sets(ways[2], 0)
	if err == nil {
		_, err = sets(ways[1], 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err = sets(ways[2], all); err == nil {
		t.Skip("it was read back before it could be stopped")
	}
	if rep, err := a.Resume(t.Context(), yes); err != nil || rep.Written != nil {
		t.Fatalf("the resume: %+v, %v; it should find all written", rep.Written, err)
	}
	n.dir = t.TempDir() // one of another host
	b := n.console()
	n.route(b, ways[1]...)
	if _, err := b.Commit(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	rep, err := a.Sweep(t.Context())
	if err != nil || len(rep.Warnings) == 0 {
		t.Fatalf("a says nothing: %v", err)
	}
	store, err := a.History()
	if err != nil {
		t.Fatal(err)
	}
	journal, err := store.Journal(t.Context(), a.Subnet())
	if want := moved(a.wrote.tables, n.lft()).Changed; err != nil || journal[0].Others.Count != want {
		t.Fatalf("of %d entries are noted: %+v, %v", want, journal[0].Others.Count, err)
	}
}
