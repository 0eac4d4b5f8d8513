// SPDX-License-Identifier: Apache-2.0

package paths_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/paths"
)

func tree(t testing.TB, spec, engine string) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return route(t, withLIDs(t, f), engine)
}

func route(t testing.TB, f *fabric.Fabric, engine string) *fabric.Tables {
	t.Helper()
	e, err := engines.ByName(engine)
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

func build(t testing.TB, tables *fabric.Tables, like *pathdb.View) []byte {
	t.Helper()
	image, err := paths.Build(context.Background(), tables, paths.Options{Trace: true, Like: like})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func view(t testing.TB, image []byte) *pathdb.View {
	t.Helper()
	db, err := pathdb.Parse(image)
	if err != nil {
		t.Fatal(err)
	}
	return db.View()
}

func adapted(t testing.TB, tables *fabric.Tables, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	res, err := incremental.Route(context.Background(), f, tables, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

// agree compares a database with tables for random pairs.
func agree(t *testing.T, v *pathdb.View, tables *fabric.Tables, r *rand.Rand, pairs int) {
	t.Helper()
	f := tables.Fabric
	for range pairs {
		src, dst := f.EndPorts[r.IntN(len(f.EndPorts))], f.EndPorts[r.IntN(len(f.EndPorts))]
		if f.Ports[src].LID == 0 || f.Ports[dst].LID == 0 {
			continue
		}
		if err := paths.Compare(v, tables, src, f.Ports[dst].LID); err != nil {
			t.Fatalf("LID %d to %d: %v", f.Ports[src].LID, f.Ports[dst].LID, err)
		}
	}
}

func TestDeltas(t *testing.T) {
	r := testenv.Rand(t)
	for _, c := range []struct{ spec, engine string }{{"fattree:3,8", "minhop"}, {"torus:4x4", "lash"},
		{"fattree:2,12", "dfsssp"}, {"mesh:4x4", "dor"}} {
		t.Run(c.spec+" "+c.engine, func(t *testing.T) {
			before := tree(t, c.spec, c.engine)
			links := before.Fabric.Links()
			f := before.Fabric
			name := filepath.Join(t.TempDir(), "paths")
			if err := pathdb.WriteFile(name, build(t, before, nil)); err != nil {
				t.Fatal(err)
			}
			db, err := pathdb.Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			for step := range 2 {
				f = f.Without([]fabric.Link{links[r.IntN(len(links))]})
				after := route(t, f, "minhop")
				after.SLs = before.SLs // of an engine that does not change the SLs
				old := db.View()
				fresh := view(t, build(t, after, old))
				delta, err := pathdb.Delta(old, fresh)
				if err != nil {
					t.Fatal(err)
				}
				if err := pathdb.Apply(t.Context(), name, delta); err != nil {
					t.Fatal(err)
				}
				agree(t, db.View(), after, r, 2000)
				if got := db.View().Info().State; got != uint64(step)+2 {
					t.Fatalf("state %d after %d changes", got, step+1)
				}
				if err := pathdb.Apply(t.Context(), name, delta); !errors.Is(err, pathdb.ErrState) {
					t.Fatalf("applied twice: %v", err)
				}
				again, err := pathdb.Open(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				agree(t, again.View(), after, r, 200)
				_ = again.Close()
			}
		})
	}
}

func TestLayoutsThatDiffer(t *testing.T) {
	small, large := view(t, build(t, tree(t, "fattree:2,4", "minhop"), nil)),
		view(t, build(t, tree(t, "fattree:2,6", "minhop"), nil))
	if _, err := pathdb.Delta(small, large); !errors.Is(err, pathdb.ErrLayout) {
		t.Errorf("a difference between different subnets: %v", err)
	}
	if _, err := paths.Build(t.Context(), tree(t, "fattree:2,6", "minhop"), paths.Options{Like: small}); !errors.Is(err,
		pathdb.ErrLayout) {
		t.Errorf("a subnet in the order of another one: %v", err)
	}
}

// TestReadersDuringChanges reads from eight goroutines while the file is changed back and forth. Each record must be
// one of the two states, and all records of one view the same state. The records of the two states differ in every pair
// that is read.
func TestReadersDuringChanges(t *testing.T) {
	whole := tree(t, "fattree:2,8", "minhop")
	f := whole.Fabric
	var cut []fabric.Link
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None && len(cut) < 6 {
			cut = append(cut, l)
		}
	}
	less := adapted(t, whole, f.Without(cut))
	states := [2]*pathdb.View{view(t, build(t, whole, nil))}
	states[1] = view(t, build(t, less, states[0]))
	type pair struct{ src, dst uint16 }
	var pairs []pair
	var records [2][]string
	for _, a := range f.EndPorts {
		for _, b := range f.EndPorts {
			p := pair{f.Ports[a].LID, f.Ports[b].LID}
			x, y := answer(states[0], p.src, p.dst), answer(states[1], p.src, p.dst)
			if x != y {
				pairs = append(pairs, p)
				records[0], records[1] = append(records[0], x), append(records[1], y)
			}
		}
	}
	if len(pairs) < 10 {
		t.Fatalf("%d pairs differ", len(pairs))
	}
	name := filepath.Join(t.TempDir(), "paths")
	if err := pathdb.WriteFile(name, build(t, whole, nil)); err != nil {
		t.Fatal(err)
	}
	db, err := pathdb.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				v := db.View()
				state := -1
				for i, p := range pairs {
					got := answer(v, p.src, p.dst)
					if state < 0 && got == records[1][i] {
						state = 1
					}
					if state < 0 {
						state = 0
					}
					if got != records[state][i] {
						t.Errorf("LID %d to %d: %s, torn: %s or %s", p.src, p.dst, got, records[0][i], records[1][i])
						return
					}
				}
			}
		})
	}
	for i := range testenv.Count(t, 4, 40) {
		tables := []*fabric.Tables{less, whole}[i%2]
		delta, err := pathdb.Delta(db.View(), view(t, build(t, tables, db.View())))
		if err != nil {
			t.Fatal(err)
		}
		if err := pathdb.Apply(t.Context(), name, delta); err != nil {
			t.Fatal(err)
		}
		if err := db.Refresh(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	wg.Wait()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func answer(v *pathdb.View, src, dst uint16) string {
	var b strings.Builder
	hops, err := v.Route(nil, src, dst)
	if err != nil {
		return err.Error()
	}
	for _, h := range hops {
		b.WriteByte(h.Out)
		_ = binary.Write(&b, binary.LittleEndian, h.GUID)
	}
	r, err := v.Query(src, dst, pathdb.Want{})
	if err != nil {
		return err.Error()
	}
	_ = binary.Write(&b, binary.LittleEndian, r)
	return b.String()
}
