// SPDX-License-Identifier: Apache-2.0

package paths_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/pathdb"
	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/routing/trees/treestest"
	"example.org/ibconsole/routing/walk"
)

// expected is what a path is like, walked link by link.
type expected struct {
	hops  int
	gbps  float64
	mtu   uint8
	way   []pathdb.Hop
	there bool
}

func walked(t *fabric.Tables, src int32, lid uint16) (e expected) {
	f := t.Fabric
	dst := f.PortByLID(lid)
	limit := func(port int32) {
		p := &f.Ports[port]
		if g := p.Gbps(); g > 0 && (e.gbps == 0 || g < e.gbps) {
			e.gbps = g
		}
		if p.MTU > 0 && (e.mtu == 0 || p.MTU < e.mtu) {
			e.mtu = p.MTU
		}
	}
	limit(src)
	limit(dst)
	e.there = true
	if src == dst {
		return e
	}
	path := walk.Trace(t, src, lid)
	e.there = path.Verdict == walk.Delivered
	for _, h := range path.Hops {
		if h.Out == fabric.None {
			if n := f.Ports[max(0, h.In)].Node; h.In != fabric.None && f.Nodes[n].Switch != fabric.None {
				e.way = append(e.way, pathdb.Hop{GUID: f.Nodes[n].GUID})
			}
			continue
		}
		n := f.Ports[h.Out].Node
		if f.Nodes[n].Switch != fabric.None {
			e.way = append(e.way, pathdb.Hop{GUID: f.Nodes[n].GUID, Out: f.Ports[h.Out].Num})
		}
		if f.Ports[h.Out].Num != 0 {
			limit(h.Out)
		}
	}
	e.hops = path.Links()
	return e
}

// compare asks for some pairs, all where there are few, and walks each.
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
	var way []pathdb.Hop
	ask := func(src int32, lid uint16) {
		want := walked(tables, src, lid)
		slid := f.Ports[src].LID
		got, err := v.Query(slid, lid, pathdb.Want{})
		if want.there != (err == nil) || err != nil && !errors.Is(err, pathdb.ErrNoPath) {
			t.Fatalf("LID %d to %d: %v, walked there: %v", slid, lid, err, want.there)
		}
		way, err = v.Way(way[:0], slid, lid)
		if want.there != (err == nil) {
			t.Fatalf("LID %d to %d: traced: %v, walked there: %v", slid, lid, err, want.there)
		}
		if !want.there {
			return
		}
		sl := uint8(0)
		if tables.SLs != nil {
			sl = tables.SLs.SL(slid, lid)
			if src == f.PortByLID(lid) {
				sl = got.SL // of packets that stay at home nothing is said
			}
		}
		if int(got.Hops) != want.hops || got.MTU != want.mtu || sa.Rate(got.Rate).Gbps() > want.gbps*1.01 || got.SL != sl || got.SLID != slid || got.DLID != lid || got.PKey != 0xffff {
			t.Fatalf("LID %d to %d: %+v (%v Gb/s), walked %+v, SL %d", slid, lid, got, sa.Rate(got.Rate).Gbps(), want, sl)
		}
		if len(way) != len(want.way) {
			t.Fatalf("LID %d to %d: by %v, walked %v", slid, lid, way, want.way)
		}
		for i := range way {
			if way[i] != want.way[i] {
				t.Fatalf("LID %d to %d: by %v, walked %v", slid, lid, way, want.way)
			}
		}
	}
	var ends []int32
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
	for range testenv.Count(t, 150, 2000) {
		tables := treestest.Minhop(t, treestest.Random(t, r))
		if r.IntN(2) == 0 {
			tables = treestest.Broken(r, tables, 1+r.IntN(20))
		}
		compare(t, tables, r, 2000)
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
			t.Run(spec+" "+e.Name(), func(t *testing.T) { compare(t, res.Tables, r, 3000) })
		}
	}
}
