// SPDX-License-Identifier: Apache-2.0

package paths_test

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/paths"
)

// TestConnections compares the changed connections after random failures and reroutes with those that follow from the
// paths of every pair through the tables.
func TestConnections(t *testing.T) {
	r := testenv.Rand(t)
	changed := 0
	for _, c := range []struct {
		spec, engine, other string
		lmc                 uint8
	}{{"fattree:2,6", "minhop", "updn", 1}, {"torus:3x4", "lash", "minhop", 0}, {"fattree:2,8", "dfsssp", "sssp", 0},
		{"mesh:3x3", "dor", "lash", 0}, {"fattree:2,6", "minhop", "dnup", 2}} {
		for range 2 {
			before := treeLMC(t, c.spec, c.engine, c.lmc)
			links := before.Fabric.Links()
			f := before.Fabric.Without([]fabric.Link{links[r.IntN(len(links))], links[r.IntN(len(links))]})
			after := route(t, f, c.other)
			got, err := paths.Connections(t.Context(), view(t, build(t, before, nil)), view(t, build(t, after, nil)),
				paths.ConnectionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := followed(before, after)
			if !slices.Equal(got.List, want) {
				t.Fatalf("%s %s to %s: %d connections, by the tables %d", c.spec, c.engine, c.other, len(got.List),
					len(want))
			}
			changed += len(want)
			if same, err := paths.Connections(t.Context(), view(t, build(t, after, nil)),
				view(t, build(t, after, nil)), paths.ConnectionOptions{}); err != nil || len(same.List) > 0 {
				t.Fatalf("%d changes between equal databases, %v", len(same.List), err)
			}
		}
	}
	if changed == 0 {
		t.Error("no connection changed")
	}
}

// treeLMC routes a subnet whose hosts have 2^lmc LIDs.
func treeLMC(t *testing.T, spec, engine string, lmc uint8) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: lmc})
	if err != nil {
		t.Fatal(err)
	}
	return route(t, a.Fabric, engine)
}

// followed follows every pair through the tables.
func followed(before, after *fabric.Tables) (list []paths.Connection) {
	var guids []uint64
	for _, e := range before.Fabric.EndPorts {
		guids = append(guids, before.Fabric.Ports[e].GUID)
	}
	slices.Sort(guids)
	type path struct {
		address paths.Address
		links   map[[2]uint64]bool
	}
	all := func(t *fabric.Tables, from, to uint64) (of []path) {
		f := t.Fabric
		src, dst := f.PortByGUID(from), f.PortByGUID(to)
		if src == fabric.None || dst == fabric.None {
			return make([]path, 1<<fabric.MaxLMC)
		}
		for i := range uint16(1) << f.Ports[dst].LMC {
			lid := f.Ports[dst].LID + i
			slid := f.Ports[src].LID + i%(1<<f.Ports[src].LMC)
			p := walk.Trace(t, src, lid)
			if p.Verdict != walk.Delivered {
				of = append(of, path{})
				continue
			}
			x := path{paths.Address{SLID: slid, DLID: lid}, map[[2]uint64]bool{}}
			x.address.SL, _ = t.SL(slid, lid)
			for _, h := range p.Hops {
				if f.Nodes[h.Node].IsSwitch() && h.Out != fabric.None {
					x.links[[2]uint64{f.Nodes[h.Node].GUID, uint64(f.Ports[h.Out].Num)}] = true
				}
			}
			of = append(of, x)
		}
		return of
	}
	alternate := func(of []path, i int) (best paths.Address) {
		least := 1000
		for j, x := range of {
			shared := 0
			for l := range x.links {
				if of[i].links[l] {
					shared++
				}
			}
			if j != i && x.links != nil && shared < least {
				least, best = shared, x.address
			}
		}
		return best
	}
	for _, from := range guids {
		for _, to := range guids {
			if from == to {
				continue
			}
			was, is := all(before, from, to), all(after, from, to)
			for i := range was {
				if was[i].links == nil {
					continue
				}
				c := paths.Connection{From: from, To: to, Old: was[i].address, OldAlternate: alternate(was, i)}
				c.OldSLs = before.SLRange(c.Old.SLID, c.Old.DLID)
				if is[i].links != nil {
					c.New, c.NewAlternate = is[i].address, alternate(is, i)
					c.Alternate = c.OldAlternate != c.NewAlternate
					c.NewSLs = after.SLRange(c.New.SLID, c.New.DLID)
					c.SL = c.OldSLs != c.NewSLs || c.Old.SL != c.New.SL
				}
				if c.Lost() || c.SL || c.Alternate {
					list = append(list, c)
				}
			}
		}
	}
	return list
}
