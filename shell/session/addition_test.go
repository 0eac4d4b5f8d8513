// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/loading"
	"example.org/ibconsole/shell/session/sessiontest"
)

// grown opens a fat-tree of 8 leaves with 4 hosts each and 4 spines. The cables of the first spine to leaf-01 and
// leaf-02 are at a new spine.
func grown(t *testing.T) *session.Session {
	t.Helper()
	s := sessiontest.Open(t, "sim:fattree:2,8")
	for _, leaf := range []string{"leaf-01", "leaf-02"} {
		if _, err := s.Fail(t.Context(), failures.Named("link", []string{leaf, "5"}, 0)); err != nil {
			t.Fatal(err)
		}
	}
	add := failures.NewNode{Type: mad.NodeSwitch, Name: "spine-05", At: []string{"leaf-01/5", "leaf-02/5"}}
	if _, err := s.Add(t.Context(), failures.Add(add)); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAddSwitch: a new switch follows the existing nodes, so that indexes stay. Links and titles are counted by hand.
func TestAddSwitch(t *testing.T) {
	s := grown(t)
	ctx, st := t.Context(), s.State()
	was, now := st.Base.Fabric, st.Paper()
	if !fabric.SameNodes(was, &fabric.Fabric{Nodes: now.Nodes[:len(was.Nodes)]}) || len(now.Links()) != 64 ||
		st.Title(st.WhatIf) != "whatif (2 failures, 1 addition)" {
		t.Errorf("%d links, %s", len(now.Links()), st.Title(st.WhatIf))
	}
	// The new one has the highest GUID of switches, 8 ports as they have, and the least of what leaf-01 and the others
	// have.
	n := now.Nodes[now.NodesByDescription("spine-05")[0]]
	if last := was.NodesByDescription("spine-04")[0]; n.GUID != was.Nodes[last].GUID+1 || n.NumPorts != 8 ||
		!n.InSubnet {
		t.Errorf("%+v", n)
	}
	if p := now.Ports[now.Nodes[0].FirstPort+1]; now.Ports[n.FirstPort+1].Speed != p.Speed ||
		now.Ports[n.FirstPort+1].Width != p.Width {
		t.Error("the new link is not as fast as the others")
	}
	// What the switches hold is carried over, and the new one holds nothing.
	sw := now.SwitchByGUID(n.GUID)
	for i := range now.NumSwitches() {
		if !st.WhatIf.Tables.Known[i] {
			t.Errorf("the table of switch %d is unknown", i)
		}
	}
	for lid := range now.MaxLID + 1 {
		if port := st.WhatIf.Tables.Port(sw, lid); port != fabric.NoPath {
			t.Errorf("the new switch sends LID %d by port %d", lid, port)
		}
	}
	if len(st.WhatIf.Unreachable()) != 0 || len(st.FailedLinks()) != 0 || st.Whole() != now &&
		len(st.Whole().Links()) != 64 {
		t.Errorf("%d unreachable, %d failed", len(st.WhatIf.Unreachable()), len(st.FailedLinks()))
	}
	fig, err := s.Route(ctx, compute.KeepAsOpenSM)
	if err != nil || fig.Kept || fig.Assigned != 1 {
		t.Errorf("%+v, %v", fig, err)
	}
	if fig, err = s.Route(ctx, compute.KeepYes); err != nil || !fig.Kept {
		t.Errorf("%+v, %v", fig, err)
	}
	if _, err := s.Restore(ctx, nil, failures.Failure{}); err != nil {
		t.Fatal(err)
	}
	if st = s.State(); st.WhatIf != nil || st.Added() != "" || st.Whole() != st.Live.Fabric {
		t.Error("something is left in the what-if")
	}
}

// TestUndoAdditions: what others rest on is not undone before them.
func TestUndoAdditions(t *testing.T) {
	s := grown(t)
	ctx := t.Context()
	fail := func(words ...string) {
		t.Helper()
		if _, err := s.Fail(ctx, failures.Named(words[0], words[1:], 0)); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(number int, by string) {
		t.Helper()
		var conflict *failures.ConflictError
		if _, err := s.Undo(ctx, number); !errors.As(err, &conflict) || !strings.Contains(err.Error(), by) {
			t.Errorf("undo %d: %v, want %q", number, err, by)
		}
	}
	refused(1, "leaf-01/5 is cabled to spine-01/1; hint: run 'undo 3' first")
	fail("link", "spine-05", "2") // number 4
	refused(3, "run 'undo 4' first")
	// 5
	if _, err := s.Add(ctx,
		failures.Add(failures.NewNode{Type: mad.NodeCA, Name: "new", At: []string{"spine-05/3"}})); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(ctx, 4); err != nil {
		t.Error(err)
	}
	refused(3, "run 'undo 5' first")
	fail("switch", "spine-05") // 6
	if _, err := s.Add(ctx, failures.AddLink("spine-05/4", "spine-01/1")); err == nil ||
		err.Error() != "spine-05 has failed in the what-if" {
		t.Error(err)
	}
	st := s.State()
	whole := st.Whole()
	match, repair, err := failures.ToRestore(whole, "link", []string{"spine-05/1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(ctx, match, repair); err != nil { // 7
		t.Error(err)
	}
	st = s.State()
	if got := st.Title(st.WhatIf); got != "whatif (3 failures, 1 repair, 2 additions)" ||
		len(st.Paper().Links()) != 63 {
		t.Errorf("%s, %d links", got, len(st.Paper().Links()))
	}
	for range 7 {
		if _, err := s.Undo(ctx, 0); err != nil && len(s.State().Failures) > 0 {
			t.Fatal(err)
		}
	}
	if st := s.State(); st.WhatIf != nil {
		t.Error(st.Failures)
	}
}

// TestNewLIDs: LIDs of nodes that are gone are not assigned to others, and a node keeps its LID in the next routing.
// The 44 ports have LIDs 1 to 44.
func TestNewLIDs(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,8")
	ctx := t.Context()
	lid := func(name string) uint16 {
		t.Helper()
		if _, err := s.Route(ctx, compute.KeepAsOpenSM); err != nil {
			t.Fatal(err)
		}
		f := s.State().Staged.Fabric
		n := &f.Nodes[f.NodesByDescription(name)[0]]
		return max(f.Ports[n.FirstPort].LID, f.Ports[n.FirstPort+1].LID)
	}
	for _, name := range []string{"node-0005 HCA-1", "node-0006 HCA-1"} {
		if _, err := s.Fail(ctx, failures.Named("node", []string{name}, 0)); err != nil {
			t.Fatal(err)
		}
	}
	add := func(guid uint64, name, at string) {
		t.Helper()
		if _, err := s.Add(ctx,
			failures.Add(failures.NewNode{Type: mad.NodeCA, Name: name, GUID: guid, At: []string{at}})); err != nil {
			t.Fatal(err)
		}
	}
	add(0x2000000000000000, "first", "leaf-02/1")
	if got := lid("first"); got != 45 {
		t.Errorf("the first has LID %d", got)
	}
	add(0x1000000000000000, "second", "leaf-02/2") // which stands before the first
	if a, b := lid("first"), lid("second"); a != 45 || b != 46 {
		t.Errorf("they have LIDs %d and %d", a, b)
	}
}

// TestLaidTopology: the LIDs that a file states are so, the others stay; a file that has
// nothing of the subnet is taken by itself.
func TestLaidTopology(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,8")
	ctx := t.Context()
	file := func(spec string) string {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := gen.WriteNet(&b, f); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "file.net")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// Of the same hosts and leaves there are more in the larger one: 12 switches are known and 6 are not.
	rep, err := loading.Load(ctx, s, "topology", file("fattree:2,12"), session.LoadOptions{})
	if err != nil || rep.Laid == nil || rep.Laid.Kept != 12 || rep.Laid.New != 6 || rep.Laid.Gone != 0 || rep.Laid.LIDs+
		rep.Laid.NoLIDs != 18+72 {
		t.Errorf("%+v, %v", rep.Laid, err)
	}
	st := s.State()
	if st.Base.Fabric != st.Live.Fabric || st.Added() == "" || st.Title(st.WhatIf) != "whatif (topology)" {
		t.Errorf("%q, %s", st.Added(), st.Title(st.WhatIf))
	}
	if _, err := s.RouteIncremental(ctx, false); err != nil {
		t.Error(err)
	}
	if _, err := s.Fail(ctx, failures.Named("switch", []string{"spine-06"}, 0)); err != nil {
		t.Error(err)
	}
	if st = s.State(); st.Title(st.WhatIf) != "whatif (topology, 1 failure)" {
		t.Error(st.Title(st.WhatIf))
	}
	if _, err := s.Undo(ctx, 0); err != nil || s.State().WhatIf == nil {
		t.Error("the topology went with the failure", err)
	}
	if rep, err = loading.Load(ctx, s, "topology", file("fattree:2,12"), session.LoadOptions{Alone: true}); err !=
		nil ||
		rep.Laid != nil || s.State().Base.Tables != nil {
		t.Errorf("%+v, %v", rep.Laid, err)
	}
	foreign := filepath.Join(t.TempDir(), "foreign.net")
	net := "switchguid=0x9f0000\nSwitch 2 \"S-1\"\n[1] \"H-1\"[1]\n\nHca 1 \"H-1\"\n[1] \"S-1\"[1]\n"
	if err := os.WriteFile(foreign, []byte(net), 0o600); err != nil {
		t.Fatal(err)
	}
	if rep, err = loading.Load(ctx, s, "topology", foreign, session.LoadOptions{}); err != nil || rep.Laid != nil {
		t.Errorf("%+v, %v", rep.Laid, err)
	}
}

// TestNamesOfAdditions: a node-name map also names additions, and the simulated changes stay.
func TestNamesOfAdditions(t *testing.T) {
	s := grown(t)
	st := s.State()
	was := st.Whole()
	path := filepath.Join(t.TempDir(), "names")
	text := "0x0000000000200000 \"first\"\n"
	n := was.Nodes[len(was.Nodes)-1]
	text += fmt.Sprintf("0x%016x \"added\"\n", n.GUID)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LoadNames(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	st = s.State()
	for _, f := range []*fabric.Fabric{st.Whole(), st.Paper(), st.WhatIf.Tables.Fabric} {
		if f.NodeName(fabric.NodeIndex(len(f.Nodes)-1)) != "added" || !fabric.SameLinks(f, was) {
			t.Error(f.NodeName(fabric.NodeIndex(len(f.Nodes) - 1)))
		}
	}
	if st.Stale || len(st.Failures) != 3 {
		t.Error(st.Failures)
	}
}
