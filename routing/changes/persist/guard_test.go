// SPDX-License-Identifier: Apache-2.0

package persist_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines"
)

func checkCredits(ctx context.Context, t *fabric.Tables) (*credits.Result, error) {
	return credits.Check(ctx, t, credits.Options{})
}

// guardedEngines are engines whose tables have no credit loop on some of guardedFabrics.
var guardedEngines = []string{"updn", "dnup", "ftree", "minhop", "dor", "sssp", "dfsssp", "lash", "nue", "torus-2QoS"}

var guardedFabrics = []string{
	"mesh:4x4", "mesh:3x3x3", "torus:5x5", "torus:4x4x3", "hypercube:4", "dragonfly:3,2,1", "random:12,4,24",
	"fattree:2,8", "fattree:3,4", "railtree:32,rails=2,unit=8",
}

// TestGuard fails a random link between switches of fabrics that an engine routes without a credit loop. The repaired
// tables must have none if a full route has none, connect what is connected, and leave the entries for a LID as they
// are unless a path to it led over the link: that is what table 1 of the memo invalidates. A full route that changes
// fewer entries replaces the repair.
func TestGuard(t *testing.T) {
	r := testenv.Rand(t)
	by, of := map[persist.Repair]int{}, map[string]int{}
	for n := testenv.Count(t, 100, 1000); n > 0; {
		spec, name := guardedFabrics[r.IntN(len(guardedFabrics))], guardedEngines[r.IntN(len(guardedEngines))]
		if repaired := repairRandomChange(t, r, spec, name); repaired != nil {
			by[repaired.Repair]++
			of[name]++
			n--
			is := repaired.Repair
			if is != persist.FewestHops && is != persist.FewerByEngine && len(repaired.Why) == 0 {
				t.Errorf("%s on %s: repaired with %s without a reason", name, spec, repaired.Repair)
			}
		}
	}
	t.Logf("changes by engine: %v; repairs: %v", of, by)
	for _, name := range guardedEngines {
		if testenv.Full() && of[name] < 20 {
			t.Errorf("%d changes of tables of %s", of[name], name)
		}
	}
	if by[persist.LoopFree] == 0 {
		t.Error("no loss needed paths that close no credit loop: the test shows nothing")
	}
}

// repairRandomChange returns nil if the engine does not route the fabric without a credit loop, or nothing can change.
func repairRandomChange(t *testing.T, r *rand.Rand, spec, name string) *persist.Guarded {
	t.Helper()
	whole := generated(t, spec, 0)
	engine, err := engines.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	old, err := engine.Route(t.Context(), whole, routing.Options{})
	if err != nil {
		return nil
	}
	if loop, err := checkCredits(t.Context(), old.Tables); err != nil || loop.Verdict != credits.None {
		return nil
	}
	f, moved := failLink(whole, r), uint16(0)
	if r.IntN(3) == 0 {
		f, moved = moveHost(t, whole, r)
	}
	if f == nil {
		return nil
	}
	made, err := incremental.Route(t.Context(), f, old.Tables, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	full, fullErr := engine.Route(t.Context(), f, routing.Options{Existing: old.Tables.LFT})
	guard := persist.Guard{Old: old.Tables, Credits: checkCredits,
		Full: func(context.Context) (*routing.Result, error) { return full, fullErr }}
	done, err := guard.Repair(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	where := name + " on " + spec
	checkRepair(t, where, old.Tables, done, full, moved)
	if done.Repair != persist.ByEngine && fullErr == nil {
		checkFewest(t, where, old.Tables, done, full.Tables)
	}
	return done
}

// checkFewest checks that no full route changes fewer entries, unless it also changes SLs or SL2VL tables, has a credit
// loop, or leaves pairs without a path.
func checkFewest(t *testing.T, where string, old *fabric.Tables, done *persist.Guarded, full *fabric.Tables) {
	t.Helper()
	changed, whole := diff.Count(old, done.Tables).Changed, diff.Count(old, full).Changed
	laid := persist.Transfer(full.Fabric, old)
	_, mappings := diff.SwitchMappings(laid, full)
	sls, _ := diff.PathSLs(laid, full)
	if changed <= whole || mappings+sls > 0 {
		return
	}
	loop, err := checkCredits(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	report, err := reach.Check(t.Context(), full, reach.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if loop.Verdict == credits.None && report.Delivered+report.Unreachable == report.Paths {
		t.Errorf("%s: repaired with %s, %d entries change, a full route changes %d (%v)", where, done.Repair, changed,
			whole, done.Why)
	}
}

// failLink returns the fabric without a random link between switches.
func failLink(f *fabric.Fabric, r *rand.Rand) *fabric.Fabric {
	links := slices.DeleteFunc(f.Links(), func(l fabric.Link) bool {
		return f.PeerSwitch(l.A) == fabric.None || f.PeerSwitch(l.B) == fabric.None
	})
	lost := r.IntN(len(links))
	return f.Without(links[lost : lost+1])
}

// moveHost returns the fabric with a random host at a random free port of a switch, and the LID of the host. It returns
// nil if no switch has a free port.
func moveHost(t *testing.T, f *fabric.Fabric, r *rand.Rand) (*fabric.Fabric, uint16) {
	t.Helper()
	var free []fabric.PortIndex
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		for p := 1; p <= int(n.NumPorts); p++ {
			if port := n.FirstPort + fabric.PortIndex(p); !f.Ports[port].Linked() {
				free = append(free, port)
			}
		}
	}
	hosts, _ := f.Ends(false)
	if len(free) == 0 {
		return nil, 0
	}
	host := hosts[r.IntN(len(hosts))]
	was := fabric.Link{A: host, B: f.Ports[host].Peer}
	g, err := f.With([]fabric.Link{was}, nil, []fabric.Link{{A: host, B: free[r.IntN(len(free))]}})
	if err != nil {
		t.Fatal(err)
	}
	return g, f.Ports[host].LID
}

func checkRepair(t *testing.T, where string, old *fabric.Tables, done *persist.Guarded, full *routing.Result,
	moved uint16) {
	t.Helper()
	f := done.Tables.Fabric
	if loop, err := checkCredits(t.Context(), done.Tables); err != nil || loop.Verdict != credits.None {
		if full != nil {
			if of, err := checkCredits(t.Context(), full.Tables); err == nil && of.Verdict == credits.None {
				t.Errorf("%s: repaired with %s there is a credit loop (%v), and a full route has none", where,
					done.Repair,
					done.Why)
			}
		}
	}
	report, err := reach.Check(t.Context(), done.Tables, reach.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Delivered+report.Unreachable != report.Paths {
		t.Errorf("%s: repaired with %s, %d of %d paths arrive", where, done.Repair, report.Delivered, report.Paths)
	}
	if done.Repair == persist.ByEngine || done.Repair == persist.FewerByEngine {
		return
	}
	for lid := uint16(1); lid <= f.MaxLID; lid++ {
		over, changed := lid == moved, false
		for s := range f.NumSwitches() {
			port := old.Port(s, lid)
			over = over || port != 0 && port != fabric.NoPath &&
				!f.Ports[f.SwitchNode(s).FirstPort+fabric.PortIndex(port)].Linked()
			changed = changed || done.Tables.Port(s, lid) != port
		}
		if changed && !over {
			t.Errorf("%s: repaired with %s, entries for LID %d changed, and no path to it was broken", where,
				done.Repair,
				lid)
		}
	}
}
