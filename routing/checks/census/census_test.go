// SPDX-License-Identifier: Apache-2.0

package census

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
)

// slow returns the census from a walk of every path by itself.
func slow(t *fabric.Tables, switches bool) (r Result, switchPairs map[string]int64, failed map[walk.Verdict]int64) {
	f := t.Fabric
	switchPairs, failed = map[string]int64{}, map[walk.Verdict]int64{}
	sequences := map[string]bool{}
	ends := ends(f, switches)
	r.Pairs = int64(len(ends)) * int64(len(ends)-1)
	for _, src := range ends {
		for _, lid := range allLIDs(f, ends) {
			if f.PortByLID(lid) == src {
				continue
			}
			p := walk.Trace(t, src, lid)
			r.Paths++
			r.Verdicts[p.Verdict]++
			if !p.Verdict.Arrives() {
				failed[p.Verdict]++
				continue
			}
			r.arrive(p.Links(), 1)
			var passed []fabric.NodeIndex
			for _, h := range p.Hops {
				if f.Nodes[h.Node].IsSwitch() {
					passed = append(passed, h.Node)
				}
			}
			if len(passed) > 0 {
				sequences[fmt.Sprint(passed)] = true
				switchPairs[fmt.Sprint(passed[0], passed[len(passed)-1])]++
			}
		}
	}
	r.SwitchPairs, r.Sequences = int64(len(switchPairs)), int64(len(sequences))
	return r, switchPairs, failed
}

func ends(f *fabric.Fabric, switches bool) []fabric.PortIndex {
	return slices.DeleteFunc(slices.Clone(f.EndPorts), func(e fabric.PortIndex) bool {
		return !switches && f.Nodes[f.Ports[e].Node].IsSwitch()
	})
}

func allLIDs(f *fabric.Fabric, ends []fabric.PortIndex) (lids []uint16) {
	for _, e := range ends {
		for i := range uint16(1) << f.Ports[e].LMC {
			if f.Ports[e].LID > 0 {
				lids = append(lids, f.Ports[e].LID+i)
			}
		}
	}
	return lids
}

// TestAsWalked compares the census of random subnets, a third of them with broken tables, with a walk of each pair.
func TestAsWalked(t *testing.T) {
	r := testenv.Rand(t)
	bad := 0
	for i := range testenv.Count(t, 60, 2000) {
		tables := treestest.Minhop(t, treestest.Random(t, r))
		if i%3 == 0 {
			tables = treestest.Broken(r, tables, 1+r.IntN(5))
		}
		f := tables.Fabric
		opt := Options{List: 1 << 20, Switches: i%2 == 0}
		if len(ends(f, opt.Switches)) == 0 || f.MaxLID == 0 {
			continue
		}
		got, err := Take(t.Context(), tables, opt)
		if err != nil {
			t.Fatal(err)
		}
		want, switchPairs, failed := slow(tables, opt.Switches)
		all, err := reach.Check(t.Context(), tables, reach.Options{Switches: opt.Switches})
		if err != nil {
			t.Fatal(err)
		}
		want.LostPairs, want.UnknownPairs = all.LostPairs, all.UnknownPairs
		want.Unassigned, want.TopPairs, want.Places, want.Failures = got.Unassigned, got.TopPairs, got.Places,
			got.Failures
		if !reflect.DeepEqual(*got, want) {
			t.Fatalf("case %d:\n%+v, walked\n%+v", i, *got, want)
		}
		for _, a := range got.TopPairs {
			p := walk.Trace(tables, a.Src, a.LID)
			key := fmt.Sprint(f.Switches[a.From], f.Switches[a.To])
			if switchPairs[key] != a.Paths || !p.Verdict.Arrives() {
				t.Fatalf("case %d: %+v, walked %d paths", i, a, switchPairs[key])
			}
		}
		for _, x := range got.Failures {
			if p := walk.Trace(tables, x.Src, x.LID); p.Verdict != x.Verdict {
				t.Fatalf("case %d: %+v is %v", i, x, p.Verdict)
			}
			failed[x.Verdict] -= x.Paths
			bad++
		}
		for v, n := range failed {
			if n != 0 {
				t.Fatalf("case %d: %d more paths end as %v than are listed", i, n, v)
			}
		}
	}
	if bad == 0 {
		t.Error("every path arrived")
	}
}

// hops lists the nodes of a path and the ports by which packets leave them.
func hops(t *fabric.Tables, src fabric.PortIndex, lid uint16) (list []string) {
	p := walk.Trace(t, src, lid)
	for _, h := range p.Hops {
		out := uint8(0)
		if h.Out != fabric.None {
			out = t.Fabric.Ports[h.Out].Num
		}
		list = append(list, fmt.Sprint(t.Fabric.Nodes[h.Node].GUID, out))
	}
	return append(list, p.Verdict.String())
}

// TestOther compares with other tables: wrong entries, missing links, and both. The number of different paths must be
// that of walks of each pair, and each example must be one.
func TestOther(t *testing.T) {
	r := testenv.Rand(t)
	part := 0
	for i := range testenv.Count(t, 40, 2000) {
		old := treestest.Minhop(t, treestest.Random(t, r))
		now := old
		if i%4 < 2 {
			now = treestest.Broken(r, old, r.IntN(4))
		}
		if links := now.Fabric.Links(); i%4 > 0 && len(links) > 0 {
			less := *now
			less.Fabric = now.Fabric.Without(links[:1])
			now = &less
		}
		if old.Fabric.MaxLID == 0 || now.Fabric.MaxLID == 0 {
			continue
		}
		got, err := Take(t.Context(), now, Options{Switches: true, Other: old})
		if err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		for _, src := range now.Fabric.EndPorts {
			for _, lid := range allLIDs(now.Fabric, now.Fabric.EndPorts) {
				if now.Fabric.PortByLID(lid) != src && !slices.Equal(hops(now, src, lid), hops(old, src, lid)) {
					want++
				}
			}
		}
		if got.Differing != want {
			t.Fatalf("case %d: %d paths differ, walked %d", i, got.Differing, want)
		}
		for _, p := range got.DifferingPairs {
			if part++; slices.Equal(hops(now, p.Src, p.LID), hops(old, p.Src, p.LID)) {
				t.Fatalf("case %d: %+v has the same path", i, p)
			}
		}
	}
	if part == 0 {
		t.Error("no path differed")
	}
}

// TestBounded checks that lists are bounded and independent of the number of processors.
func TestBounded(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "fattree:2,8"))
	broken := *tables
	broken.LFT = tables.LFT.Clone()
	for s := range tables.Fabric.NumSwitches() {
		broken.LFT.Row(s)[tables.Fabric.MaxLID] = fabric.NoPath
	}
	all, err := Take(t.Context(), &broken, Options{List: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	few, err := Take(t.Context(), &broken, Options{List: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(few.TopPairs) != 3 || !slices.Equal(few.TopPairs, all.TopPairs[:3]) || len(few.Failures) != 3 ||
		few.Places != len(all.Failures) {
		t.Errorf("%d and %d listed of %d places, %+v, want the first three of %d", len(few.TopPairs), len(few.Failures),
			few.Places, few.TopPairs, len(all.TopPairs))
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tables := treestest.Minhop(t, treestest.Made(t, "fattree:2,8"))
	_, err := Take(ctx, tables, Options{Progress: func(int, int) { cancel() }})
	if err == nil {
		t.Error("an interrupted census returned no error")
	}
}

func BenchmarkAllToAll(b *testing.B) {
	tables := treestest.Minhop(b, treestest.Made(b, "fattree:3,36"))
	for b.Loop() {
		if _, err := Take(b.Context(), tables, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
