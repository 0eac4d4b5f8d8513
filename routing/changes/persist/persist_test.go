// SPDX-License-Identifier: Apache-2.0

package persist_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
)

func saved(t *testing.T, f *fabric.Fabric, e routing.Engine, opt routing.Options) *snapshot.Snapshot {
	t.Helper()
	res, err := e.Route(t.Context(), f, opt)
	if err != nil {
		t.Fatal(err)
	}
	hops, err := persist.MinHops(t.Context(), f, res.Hops)
	if err != nil {
		t.Fatal(err)
	}
	return &snapshot.Snapshot{
		Fabric: f, Tables: res.Tables, Routing: &snapshot.Routing{Engine: e.Name(), Roots: res.Roots, MinHop: hops},
	}
}

func generated(t *testing.T, spec string, lmc uint8) *fabric.Fabric {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: lmc})
	if err != nil {
		t.Fatal(err)
	}
	return a.Fabric
}

// never is a router for cases that need no engine.
func never(t *testing.T) persist.Router {
	return func(context.Context, []uint64, *fabric.LFT) (*routing.Result, error) {
		t.Error("an engine was called")
		return nil, context.Canceled
	}
}

// TestOtherLMC changes the LMC, and so all LIDs. The saved min-hop tables must give the same as the engine.
func TestOtherLMC(t *testing.T) {
	for _, e := range []routing.Engine{minhop.Engine{}, minhop.DOR{}, updn.Engine{}} {
		for _, spec := range []string{"fattree:2,8", "xgft:2,4,4,1,2,1,2", "fattree:3,6"} {
			snap := saved(t, generated(t, spec, 0), e, routing.Options{})
			f, opt := generated(t, spec, 2), routing.Options{LMC: 2}
			res, err := persist.Adapt(t.Context(), f, snap, opt, never(t))
			if err != nil {
				t.Fatal(err)
			}
			want, err := e.Route(t.Context(), f, opt)
			if err != nil {
				t.Fatal(err)
			}
			if res.How != persist.FromMinHop {
				t.Errorf("%s, %s: %s", e.Name(), spec, res.How)
			}
			for s := range f.NumSwitches() {
				if !bytes.Equal(res.Tables.LFT.Row(s), want.Tables.LFT.Row(s)) {
					t.Fatalf("%s, %s: switch %d has other entries than those of the engine", e.Name(), spec, s)
				}
			}
		}
	}
}

// TestTrees checks that the multicast tree over a removed cable is invalid, and another one stays.
func TestTrees(t *testing.T) {
	f := generated(t, "xgft:2,4,4,1,2,1,2", 0)
	snap := saved(t, f, minhop.Engine{}, routing.Options{})
	leaf := f.NodesByDescription("leaf-02")[0]
	sw := f.Nodes[leaf].Switch
	snap.Tables.MFT = fabric.NewMFT(f, fabric.FirstMLID+1)
	snap.Tables.MFT.Add(sw, fabric.FirstMLID, 5)
	snap.Tables.MFT.Add(sw, fabric.FirstMLID+1, 6)
	gone, _ := f.LinkOf(f.PortAt(leaf, 5))
	res, err := persist.Adapt(t.Context(), f.Without([]fabric.Link{gone}), snap, routing.Options{}, never(t))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(res.Trees, []uint16{fabric.FirstMLID}) || res.Tables.MFT.Has(sw, fabric.FirstMLID, 5) ||
		!res.Tables.MFT.Has(sw, fabric.FirstMLID+1, 6) {
		t.Errorf("invalid trees %x", res.Trees)
	}
	if !snap.Tables.MFT.Has(sw, fabric.FirstMLID, 5) {
		t.Error("the saved tables were changed")
	}
	// All trees are invalid at the missing spine.
	var all []fabric.Link
	for p := 1; p <= 8; p++ {
		if l, ok := f.LinkOf(f.PortAt(f.NodesByDescription("spine-01")[0], p)); ok {
			all = append(all, l)
		}
	}
	g := f.Without(all)
	res, err = persist.Adapt(t.Context(), g, snap, routing.Options{},
		func(ctx context.Context, _ []uint64, _ *fabric.LFT) (*routing.Result, error) {
			return minhop.Engine{}.Route(ctx, g, routing.Options{})
		})
	if err != nil || res.How != persist.Recomputed || len(res.Trees) != 2 {
		t.Errorf("without a spine: %+v, %v", res, err)
	}
}
