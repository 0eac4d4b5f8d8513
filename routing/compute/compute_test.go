// SPDX-License-Identifier: Apache-2.0

package compute_test

import (
	"bytes"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/shell/session/analysis"
)

func run(t *testing.T, job compute.Job) *compute.Result {
	t.Helper()
	job.Engines = []routing.Engine{minhop.Engine{}}
	if job.Base == nil {
		job.Base = job.Fabric
	}
	res, err := compute.Run(t.Context(), &job)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func same(a, b *fabric.LFT) bool {
	for sw := range fabric.SwitchIndex(a.Switches()) {
		if !bytes.Equal(a.Row(sw), b.Row(sw)) {
			return false
		}
	}
	return a.Switches() == b.Switches()
}

// TestRun checks that tables are those of the engine for the subnet with LIDs. All entries change without previous
// tables, none if they are equal.
func TestRun(t *testing.T) {
	f := gentest.Fabric(t, "fattree:2,8")
	first := run(t, compute.Job{Fabric: f})
	with, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	want, err := minhop.Engine{}.Route(t.Context(), with, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// 8 leaves with 4 hosts and 4 spines: 12 switches have entries for 44 LIDs.
	if g := first.Figures; !same(first.Tables.LFT, want.Tables.LFT) || g.Switches != 12 || g.Entries != 12*44 ||
		g.Changed != g.Entries || g.Against != "" || g.Assigned != 44 {
		t.Errorf("%+v", g)
	}
	again := run(t, compute.Job{Fabric: with, Before: first.Tables, Against: "live"})
	if g := again.Figures; g.Changed != 0 || g.Against != "live" || g.Assigned != 0 || g.Kept {
		t.Errorf("again: %+v", g)
	}
}

// TestAfterFailure checks that a what-if keeps routes as OpenSM does, that a job can keep none, and that an incremental
// one changes only entries that the failure affects.
func TestAfterFailure(t *testing.T) {
	first := run(t, compute.Job{Fabric: gentest.Fabric(t, "fattree:2,8")})
	base := first.Tables.Fabric
	var removed fabric.Link
	for _, l := range base.Links() {
		if base.Nodes[base.Ports[l.A].Node].IsSwitch() && base.Nodes[base.Ports[l.B].Node].IsSwitch() {
			removed = l
		}
	}
	job := compute.Job{Fabric: base.Without([]fabric.Link{removed}), Failed: true, Base: base, Before: first.Tables,
		Against: "base", Facts: &analysis.Memo{}}
	kept := run(t, job)
	want, err := minhop.Engine{}.Route(t.Context(), job.Fabric, routing.Options{Existing: first.Tables.LFT})
	if err != nil {
		t.Fatal(err)
	}
	if !kept.Figures.Kept || !same(kept.Tables.LFT, want.Tables.LFT) {
		t.Errorf("kept: %+v", kept.Figures)
	}
	job.Keep = compute.KeepNo
	if recomputed := run(t, job); recomputed.Figures.Kept {
		t.Errorf("recomputed: %+v", recomputed.Figures)
	}
	job.Keep, job.Incremental, job.CompareFull = compute.KeepAsOpenSM, true, true
	adapted := run(t, job)
	a := adapted.Adaptation
	if n := diff.Count(first.Tables, adapted.Tables).Changed; a == nil || a.Touched != n || n == 0 ||
		adapted.Figures.Changed != n || a.Unreachable != 0 || a.FullChanged != kept.Figures.Changed ||
		a.Engine != "minhop" {
		t.Errorf("%d entries changed: %+v", n, a)
	}
}

// TestPast checks that a job continues with the tables of the previous one while nothing comes up, and computes all
// routes after a link came up, even if others are still down.
func TestPast(t *testing.T) {
	first := run(t, compute.Job{Fabric: gentest.Fabric(t, "fattree:2,8")})
	base := first.Tables.Fabric
	var between []fabric.Link
	for _, l := range base.Links() {
		if base.Nodes[base.Ports[l.A].Node].IsSwitch() && base.Nodes[base.Ports[l.B].Node].IsSwitch() {
			between = append(between, l)
		}
	}
	past, existing := compute.Past{}, first.Tables.LFT
	for _, k := range []struct {
		lost []int
		back bool
	}{
		{[]int{0}, false}, {[]int{0, 9}, false}, {[]int{0, 9, 17}, false}, {[]int{9, 17}, true},
		{[]int{9, 17, 20}, false}, {[]int{17}, true}, {nil, true}, {[]int{3}, false},
	} {
		var lost []fabric.Link
		for _, i := range k.lost {
			lost = append(lost, between[i])
		}
		job := compute.Job{Fabric: base.Without(lost), Failed: len(lost) > 0, Base: base, Before: first.Tables,
			Against: "base", Past: past}
		got := run(t, job)
		if k.back {
			existing = nil
		}
		want, err := minhop.Engine{}.Route(t.Context(), job.Fabric, routing.Options{Existing: existing})
		if err != nil {
			t.Fatal(err)
		}
		if g := got.Figures; g.Kept == k.back || g.RecomputedAll != k.back || g.FromPast != (past.Tables != nil) ||
			!same(got.Tables.LFT, want.Tables.LFT) {
			t.Errorf("lost %v: kept %v, back %v, since %v", k.lost, g.Kept, g.RecomputedAll, g.FromPast)
		}
		past, existing = got.Past, got.Tables.LFT
	}
}
