// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
)

// TestRunIsTakenAsItsSwitches compares taking a run with taking its switches one by one.
func TestRunIsTakenAsItsSwitches(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 20000, 1000000) {
		known, out := make([]uint8, 60), make([]uint8, 60)
		for i := range known {
			known[i], out[i] = uint8(r.IntN(mostHops)), uint8(r.Uint32())
			if r.IntN(2) == 0 {
				known[i] = fabric.NoPath
			}
		}
		x := run{slot: int32(r.IntN(30)), ports: make([]uint8, 1+r.IntN(30))}
		for i := range x.ports {
			x.ports[i] = uint8(r.Uint32())
		}
		next, taken := uint8(r.IntN(mostHops+1)), false
		wantKnown, wantOut := slices.Clone(known), slices.Clone(out)
		for i, far := range x.ports {
			if at := int(x.slot) + i; wantKnown[at] > next {
				wantKnown[at], wantOut[at], taken = next, far, true
			}
		}
		if x.take(known, out, next) != taken || !bytes.Equal(known, wantKnown) || !bytes.Equal(out, wantOut) {
			t.Fatalf("%d hops to slots from %d by ports %d: hops %d by %d, want %d by %d", next, x.slot, x.ports, known,
				out, wantKnown, wantOut)
		}
	}
}

// TestRunsMakeTheSameTables compares with the walk without runs, in which each switch counts and sorts its groups.
func TestRunsMakeTheSameTables(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 30, 1000) {
		spec := fmt.Sprintf("xgft:3,%d,%d,%d,1,%d,%d", 1+r.IntN(3), 2+r.IntN(11), 2+r.IntN(10), 1+r.IntN(12),
			1+r.IntN(4))
		whole := gentest.WithLIDs(t, spec)
		tree, _, err := newTree(whole, &routing.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt := routing.Options{ConnectRoots: r.IntN(2) == 0}
		for _, s := range tree.roots() {
			opt.RootGUIDs = append(opt.RootGUIDs, whole.SwitchNode(s).GUID)
		}
		f := whole.Without(someLinks(r, whole))
		tables, walked := tablesOf(t, f, &opt, true), tablesOf(t, f, &opt, false)
		for s := range tables {
			if !bytes.Equal(tables[s], walked[s]) {
				t.Fatalf("%s: switch %s has different entries", spec, f.NodeName(f.Switches[s]))
			}
		}
	}
}

// someLinks returns up to five links between switches.
func someLinks(r *rand.Rand, f *fabric.Fabric) []fabric.Link {
	links := slices.DeleteFunc(f.Links(), func(l fabric.Link) bool {
		return !f.Nodes[f.Ports[l.A].Node].IsSwitch() || !f.Nodes[f.Ports[l.B].Node].IsSwitch()
	})
	r.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	return links[:min(len(links), r.IntN(6))]
}

// tablesOf returns the rows of all switches, computed with or without runs; none for a refused fabric.
func tablesOf(t *testing.T, f *fabric.Fabric, opt *routing.Options, inRuns bool) (rows [][]byte) {
	t.Helper()
	tree, _, err := newTree(f, opt, nil)
	if err != nil {
		return nil
	}
	w := newWalker(t.Context(), tree, baseHops(t.Context(), f, opt))
	if !inRuns {
		for s := range w.at {
			w.at[s].tree = false
		}
		w.runs = runs{below: make([][]run, len(w.at)), above: make([]run, len(w.at))}
	}
	if err := w.routeAll(); err != nil {
		t.Fatal(err)
	}
	lft, err := w.tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for s := range f.Switches {
		rows = append(rows, lft.Row(fabric.SwitchIndex(s)))
	}
	return rows
}

// TestPanicOfBaseHops checks that a panic in the computation of min-hop's counts becomes a panic of wait.
func TestPanicOfBaseHops(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	baseHops(t.Context(), nil, nil).wait()
}
