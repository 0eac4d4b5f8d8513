// SPDX-License-Identifier: Apache-2.0

package paths_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/sssp"
	"example.org/ibconsole/routing/paths"
)

// way is a path that was walked link by link.
func way(t *fabric.Tables, src fabric.PortIndex, lid uint16) (way []pathdb.Hop) {
	f := t.Fabric
	if src == f.PortByLID(lid) {
		return nil
	}
	for _, h := range walk.Trace(t, src, lid).Hops {
		at, out := h.Out, uint8(0)
		if at == fabric.None {
			at = h.In
		} else {
			out = f.Ports[at].Num
		}
		if at == fabric.None {
			continue
		}
		if n := &f.Nodes[f.Ports[at].Node]; n.IsSwitch() {
			way = append(way, pathdb.Hop{GUID: n.GUID, Out: out})
		}
	}
	return way
}

// compare queries some pairs, or all if there are few, and walks each.
func compare(t *testing.T, tables *fabric.Tables, r *rand.Rand, pairs int) {
	t.Helper()
	image, err := paths.Build(t.Context(), tables, paths.Options{Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	db, err := pathdb.Parse(image)
	if err != nil {
		t.Fatal(err)
	}
	f := tables.Fabric
	v := db.View()
	var hops []pathdb.Hop
	ask := func(src fabric.PortIndex, lid uint16) {
		slid := f.Ports[src].LID
		switch err := paths.Compare(v, tables, src, lid); {
		case errors.Is(err, paths.ErrUnread):
			if path := walk.Trace(tables, src, lid); path.Verdict != walk.Unknown {
				t.Fatalf("LID %d to %d: %v, and the path is %v", slid, lid, err, path.Verdict)
			}
		case err != nil:
			t.Fatalf("LID %d to %d: %v", slid, lid, err)
		}
		hops, err = v.Route(hops[:0], slid, lid)
		if err != nil {
			if _, err := v.Query(slid, lid, pathdb.Want{}); !errors.Is(err, pathdb.ErrNoPath) {
				t.Fatalf("LID %d to %d: no path, but the record: %v", slid, lid, err)
			}
			return
		}
		if want := way(tables, src, lid); !slices.Equal(hops, want) {
			t.Fatalf("LID %d to %d: by %v, walked %v", slid, lid, hops, want)
		}
	}
	var ends []fabric.PortIndex
	for _, p := range f.EndPorts {
		if f.Ports[p].LID != 0 {
			ends = append(ends, p)
		}
	}
	if len(ends) == 0 {
		return
	}
	if len(ends)*len(ends) <= pairs {
		for _, src := range ends {
			for _, dst := range ends {
				for i := range uint16(1) << f.Ports[dst].LMC {
					ask(src, f.Ports[dst].LID+i)
				}
			}
		}
		return
	}
	for range pairs {
		dst := ends[r.IntN(len(ends))]
		ask(ends[r.IntN(len(ends))], f.Ports[dst].LID+uint16(r.IntN(1<<f.Ports[dst].LMC)))
	}
}

func TestAgainstWalkingEachPath(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 60, 2000) {
		tables := treestest.Minhop(t, treestest.Random(t, r))
		if r.IntN(2) == 0 {
			tables = treestest.Broken(r, tables, 1+r.IntN(20))
		}
		compare(t, tables, r, 1000)
	}
}

func TestEnginesAgainstWalking(t *testing.T) {
	r := testenv.Rand(t)
	for _, spec := range []string{"torus:4x4", "random:16,5,16", "fattree:2,8", "mesh:3x3x2"} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		if f, err = fabric.AssignLIDs(f); err != nil {
			t.Fatal(err)
		}
		for _, e := range engines.All() {
			res, err := e.Route(t.Context(), f, routing.Options{})
			if err != nil {
				t.Logf("%s on %s: %v", e.Name(), spec, err)
				continue
			}
			t.Run(spec+" "+e.Name(), func(t *testing.T) { compare(t, res.Tables, r, 800) })
		}
	}
}

// levels are SLs by source and destination LID.
type levels map[[2]uint16]uint8

func (l levels) SL(src, dst uint16) uint8 { return l[[2]uint16{src, dst}] }

// TestSLsOfEachSourceLID builds records of SLs that are known for each pair: with an LMC, each LID of a source has its
// own.
func TestSLsOfEachSourceLID(t *testing.T) {
	f, err := gen.ParseSpec("torus:3x3")
	if err != nil {
		t.Fatal(err)
	}
	a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: 1})
	if err != nil {
		t.Fatal(err)
	}
	f = a.Fabric
	res, err := sssp.DeadlockFree{}.Route(t.Context(), f, routing.Options{LMC: 1})
	if err != nil {
		t.Fatal(err)
	}
	tables := *res.Tables
	plain := levels{}
	for src := uint16(1); src <= f.MaxLID; src++ {
		for dst := uint16(1); dst <= f.MaxLID; dst++ {
			plain[[2]uint16{src, dst}] = tables.SLs.SL(src, dst)
		}
	}
	tables.SLs = plain
	image, err := paths.Build(t.Context(), &tables, paths.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := pathdb.Parse(image)
	if err != nil {
		t.Fatal(err)
	}
	v := db.View()
	for pair, sl := range plain {
		src, dst := f.PortByLID(pair[0]), f.PortByLID(pair[1])
		if src == fabric.None || dst == fabric.None || src == dst {
			continue
		}
		if r, err := v.Query(pair[0], pair[1], pathdb.Want{}); err != nil || r.SL != sl {
			t.Errorf("LID %d to %d: SL %d (%v), want %d", pair[0], pair[1], r.SL, err, sl)
		}
	}
	one, two := fabric.None, fabric.None
	for _, e := range f.EndPorts {
		if f.Ports[e].LMC > 0 {
			one, two = two, int(e)
		}
	}
	lid := f.Ports[one].LID
	for i := range uint16(4) { // these are not in any range of SLs
		plain[[2]uint16{f.Ports[two].LID + i/2, lid + i%2}] = 15 - 15*uint8(i/2)
	}
	if _, err := paths.Build(t.Context(), &tables, paths.Options{}); err == nil {
		t.Error("a database was built that cannot hold the SLs of each LID")
	}
}
