// SPDX-License-Identifier: Apache-2.0

package credits_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines"
)

// TestLayers checks that one VL suffices if and only if the routes have no loop. Dimension-order routes of a torus with
// a side of five have loops (Dally and Seitz), so they need at least two VLs.
func TestLayers(t *testing.T) {
	r := testenv.Rand(t)
	with, without := 0, 0
	for range testenv.Count(t, 60, 600) {
		f := treestest.Random(t, r)
		tables := treestest.Minhop(t, f)
		if r.IntN(3) == 0 {
			tables = treestest.Updn(t, f)
		}
		n, err := credits.Layers(t.Context(), tables)
		if err != nil {
			t.Fatal(err)
		}
		found, err := credits.Check(t.Context(), tables, credits.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (found.Ring == nil) != (n == 1) {
			t.Errorf("%d VLs, and a ring of %d", n, len(found.Ring))
		}
		if n > 1 {
			with++
		} else {
			without++
		}
	}
	if with == 0 || without == 0 {
		t.Errorf("%d with loops, %d without", with, without)
	}
	dor, err := engines.ByName("dor")
	if err != nil {
		t.Fatal(err)
	}
	res, err := routing.Route(t.Context(), dor, treestest.Made(t, "torus:5x5"), routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := credits.Layers(t.Context(), res.Tables); err != nil || n < 2 {
		t.Errorf("a torus: %d VLs, %v", n, err)
	}
}

// TestAddPaths checks that paths over changed entries that close no loop with the old dependencies leave tables without
// a loop.
func TestAddPaths(t *testing.T) {
	r := testenv.Rand(t)
	free, closed := 0, 0
	for range testenv.Count(t, 200, 3000) {
		tables := treestest.Updn(t, treestest.Random(t, r))
		f := tables.Fabric
		order, err := credits.NewOrder(t.Context(), tables, credits.Options{})
		if err != nil || order == nil || len(f.Switches) < 2 {
			continue
		}
		next := *tables
		next.LFT = tables.LFT.Clone()
		lid := f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].LID
		var edits []fabric.Edit
		for range 1 + r.IntN(3) {
			s := fabric.SwitchIndex(r.IntN(len(f.Switches)))
			links := f.SwitchNode(s).NumPorts
			port := uint8(1 + r.IntN(int(links)))
			if lid == 0 || f.PeerSwitch(f.SwitchNode(s).FirstPort+fabric.PortIndex(port)) == fabric.None {
				continue
			}
			edits = append(edits, fabric.Edit{Switch: s, LID: lid, Port: port})
			next.LFT.Row(s)[lid] = port
		}
		if len(edits) == 2 && edits[0].Switch == edits[1].Switch || len(edits) > 2 {
			continue
		}
		mark := order.Mark()
		ok := order.AddPaths(walk.NewWires(tables), lid, edits)
		order.TakeBack(mark)
		found, err := credits.Check(t.Context(), &next, credits.Options{})
		switch {
		case err != nil:
			t.Fatal(err)
		case ok && found.Ring != nil:
			t.Errorf("%v close a ring of %d", edits, len(found.Ring))
		case ok:
			free++
		default:
			closed++
		}
	}
	if free == 0 || closed == 0 {
		t.Errorf("%d close no loop, %d may", free, closed)
	}
}
