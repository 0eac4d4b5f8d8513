// SPDX-License-Identifier: Apache-2.0

package pathdb_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/paths"
)

// TestDocument queries a reader in Python that was written only from docs/pathdb.md for records and routes, and
// compares the answers with those of this package: for several engines, with VLs, several LIDs per port, partitions,
// failures and after a change.
func TestDocument(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("%v: Debian's python3 has it", err)
	}
	r := testenv.Rand(t)
	for _, c := range []struct {
		spec, engine string
		lmc          uint8
		cut          int
	}{
		{"fattree:2,8", "minhop", 2, 3},
		{"random:14,4,40", "dfsssp", 0, 0},
		{"torus:4x4", "lash", 1, 0},
		{"torus:4x4x4", "torus-2QoS", 0, 2},
		{"mesh:3x3", "dor", 3, 3},
	} {
		t.Run(c.spec+" "+c.engine, func(t *testing.T) {
			f, err := gen.ParseSpec(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: c.lmc})
			if err != nil {
				t.Fatal(err)
			}
			e, err := engines.ByName(c.engine)
			if err != nil {
				t.Fatal(err)
			}
			res, err := e.Route(t.Context(), a.Fabric, routing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			// the failed links are not routed around
			tables := *res.Tables
			tables.Fabric = tables.Fabric.Without(someLinks(r, tables.Fabric, c.cut))
			name := filepath.Join(t.TempDir(), "paths")
			opt := paths.Options{
				Trace: true, PKeys: someKeys(r, tables.Fabric), PartitionSLs: map[uint16]uint8{0x7fff: 5, 0x21: 12,
					0x1200: 3},
			}
			whole, err := paths.Build(t.Context(), res.Tables, opt)
			if err != nil {
				t.Fatal(err)
			}
			opt.Like = view(t, whole)
			after, err := paths.Build(t.Context(), &tables, opt)
			if err != nil {
				t.Fatal(err)
			}
			delta, err := pathdb.Delta(view(t, whole), view(t, after))
			if err != nil {
				t.Fatal(err)
			}
			changed, err := view(t, whole).Applied(delta)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, pathdb.Image(changed.View()), 0o600); err != nil {
				t.Fatal(err)
			}
			compareReader(t, python, name, r)
		})
	}
}

// someLinks returns links, all except one between switches.
func someLinks(r *rand.Rand, f *fabric.Fabric, n int) (out []fabric.Link) {
	for len(out) < n {
		l := f.Links()[r.IntN(len(f.Links()))]
		if between := f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None; between == (len(out) > 0) {
			out = append(out, l)
		}
	}
	return out
}

// someKeys returns P_Keys of a few partitions for ports.
func someKeys(r *rand.Rand, f *fabric.Fabric) map[fabric.PortIndex][]mad.PKey {
	out := map[fabric.PortIndex][]mad.PKey{}
	for _, p := range f.EndPorts {
		for _, k := range []mad.PKey{0xffff, 0x0021, 0x1200} {
			if r.IntN(4) > 0 {
				out[p] = append(out[p], k|mad.PKey(min(1, r.IntN(4))<<15))
			}
		}
	}
	return out
}

// compareReader compares the answers of the reader for random pairs.
func compareReader(t *testing.T, python, name string, r *rand.Rand) {
	t.Helper()
	db, err := pathdb.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	v := db.View()
	var ask, want strings.Builder
	records := 0
	var lids []uint16
	for _, p := range v.Ports() {
		for i := range uint16(1) << p.LMC {
			lids = append(lids, p.LID+i)
		}
	}
	lids = append(lids, 0, uint16(v.Info().LIDs), 0xffff)
	for range testenv.Count(t, 1500, 20000) {
		slid, dlid := lids[r.IntN(len(lids))], lids[r.IntN(len(lids))]
		fmt.Fprintf(&ask, "%d %d\n", slid, dlid)
		rec, err := v.Query(slid, dlid, pathdb.Want{})
		if err != nil {
			want.WriteString("-\n")
			continue
		}
		records++
		fmt.Fprintf(&want, "%d %d %d %d %d %d", rec.SL, rec.MTU, rec.Rate, rec.LifeTime, rec.PKey, rec.Hops)
		path, err := v.Route(nil, slid, dlid)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range path {
			fmt.Fprintf(&want, " %016x/%d", h.GUID, h.Out)
		}
		want.WriteByte('\n')
	}
	if records < 200 {
		t.Errorf("only %d records", records)
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "reader.py"), name)
	cmd.Stdin = strings.NewReader(ask.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, expected, asked := bufio.NewScanner(bytes.NewReader(out)), bufio.NewScanner(strings.NewReader(want.String())),
		bufio.NewScanner(strings.NewReader(ask.String()))
	for expected.Scan() {
		asked.Scan()
		if !got.Scan() || got.Text() != expected.Text() {
			t.Fatalf("LIDs %s: the reader returns %q, want %q", asked.Text(), got.Text(), expected.Text())
		}
	}
}
