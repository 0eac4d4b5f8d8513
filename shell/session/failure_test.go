// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestUndoOneByOne: each failure and repair is undone on its own, whatever the
// others took with them; the links that are left are counted by hand.
func TestUndoOneByOne(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,8") // 8 leaves with 4 hosts and a link to each of 4 spines
	ctx, f := t.Context(), s.State().Live.Fabric
	node := func(name string) fabric.NodeIndex { return f.NodesByDescription(name)[0] }
	up := func(want int, what string) {
		t.Helper()
		st := s.State()
		if got := len(st.Paper().Links()); got != want {
			t.Errorf("%s: %d links, want %d", what, got, want)
		}
	}
	link, _ := f.LinkOf(f.Port(node("leaf-01"), 5))
	if _, err := s.Fail(ctx, failures.Link(link.A)); err != nil {
		t.Fatal(err)
	}
	up(63, "a link")
	leaf, err := s.Fail(ctx, failures.Named("switch", []string{"leaf-01"}, 0))
	if err != nil || leaf[0].Number != 2 || len(leaf[0].Links) != 8 {
		t.Fatal(leaf, err)
	}
	up(56, "and its switch")
	if _, err := s.Undo(ctx, 1); err != nil {
		t.Fatal(err)
	}
	up(56, "the switch keeps the link down")
	repaired, err := s.Restore(ctx, func(x failures.Failure) bool {
		return x.InvolvesLink(link)
	}, failures.OfLink(f, link))
	if err != nil || len(repaired) != 1 || !repaired[0].Repair || repaired[0].Number != 3 {
		t.Fatal(repaired, err)
	}
	up(57, "the link alone is repaired")
	spines, name, err := places.ResolveSystem(f, "spine*")
	if err != nil || len(spines) != 4 || !strings.Contains(name, "4 switches") {
		t.Fatal(spines, name, err)
	}
	if _, err := s.Fail(ctx, failures.Nodes("director", name, spines...)); err != nil {
		t.Fatal(err)
	}
	up(28, "all spines: 28 hosts of 7 leaves are left")
	match, repair, err := failures.ToRestore(f, "switch", []string{f.NodeName(spines[0])})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(ctx, match, repair); err != nil {
		t.Fatal(err)
	}
	up(36, "one spine with 8 leaves is repaired")
	if st := s.State(); !strings.Contains(st.Title(st.WhatIf), "2 failures, 2 repairs") {
		t.Error(st.Title(st.WhatIf))
	}
	// The last repair is of all links of the spine, that to leaf-01 among them.
	for _, step := range []struct{ number, left int }{{3, 36}, {4, 57}, {0, 56}, {2, 64}} {
		if _, err := s.Undo(ctx, step.number); err != nil {
			t.Fatal(step, err)
		}
		up(step.left, "undone one by one")
	}
	if st := s.State(); st.WhatIf != nil || len(st.Failures) != 0 {
		t.Error("the paper is not empty")
	}
	if _, err := s.Undo(ctx, 0); err == nil {
		t.Error("nothing is undone")
	}
	if _, err := s.Fail(ctx, failures.Link(link.A)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(ctx, 2); !errors.Is(err, session.ErrNotFailed) {
		t.Error(err)
	}
	if st := s.State(); !maps.Equal(st.FailedLinks(), map[fabric.Link]bool{link: true}) || st.Failures[0].Number != 1 {
		t.Error(st.Failures)
	}
}

func TestResolveSystem(t *testing.T) {
	f := sessiontest.Open(t, "sim:fattree:2,8").State().Live.Fabric
	for _, bad := range []string{"*", "nothing*", "node-0001 HCA-1", "0x99", "spin"} {
		if nodes, _, err := places.ResolveSystem(f, bad); err == nil {
			t.Errorf("%q is %d switches", bad, len(nodes))
		}
	}
	if _, err := places.Resolve(f, "lef-02"); err == nil || !strings.Contains(err.Error(), `"leaf-02"`) {
		t.Error(err)
	}
}
