// SPDX-License-Identifier: Apache-2.0

package pathdb_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/paths"
)

func tree(t testing.TB, spec string) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return route(t, f)
}

func route(t testing.TB, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
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

// TestEveryBitCounts changes a bit of each byte, and truncates at each byte. All cases are refused, and the error
// contains the position. The unused slot may have any content.
func TestEveryBitCounts(t *testing.T) {
	image := build(t, tree(t, "fattree:2,4"), nil)
	for at := range image {
		if _, err := pathdb.Parse(image[:at]); err == nil || !strings.Contains(err.Error(), "byte") {
			t.Errorf("truncated at %d: %v", at, err)
		}
		if at >= 32 && at < 64 {
			continue
		}
		bad := append([]byte(nil), image...)
		bad[at] ^= 1 << (at % 8)
		if _, err := pathdb.Parse(bad); err == nil || !strings.Contains(err.Error(), "byte") {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
	if _, err := pathdb.Open(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestOtherVersions(t *testing.T) {
	image := build(t, tree(t, "fattree:2,4"), nil)
	delta, err := pathdb.Delta(view(t, image), view(t, image))
	if err != nil {
		t.Fatal(err)
	}
	v := view(t, image)
	old := append([]byte(nil), image...)
	old[7] = 1
	if _, err := pathdb.Parse(old); err == nil || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("a database of version 1: %v", err)
	}
	delta[7] = 1
	if _, err := v.Applied(delta); err == nil || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("a difference of version 1: %v", err)
	}
}

// TestBadDifferencesChangeNothing applies differences with a few wrong bytes and valid checksums. The file stays
// unchanged or becomes a valid one.
func TestBadDifferencesChangeNothing(t *testing.T) {
	r := testenv.Rand(t)
	before := tree(t, "fattree:2,4")
	image := build(t, before, nil)
	v := view(t, image)
	after := route(t, before.Fabric.Without(before.Fabric.Links()[:3]))
	delta, err := pathdb.Delta(v, view(t, build(t, after, v)))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "paths")
	if err := os.WriteFile(name, image, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for range testenv.Count(t, 40, 2000) {
		bad := pathdb.Redelta(delta, r.IntN(1<<20), []byte{byte(r.Uint32()), byte(r.Uint32())})
		if db, err := v.Applied(bad); err == nil {
			queryAll(db.View())
			continue
		}
		if err := pathdb.Apply(t.Context(), name, bad); err == nil {
			t.Fatal("applied to the file, but refused in memory")
		}
		refused++
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, image) {
			t.Fatalf("refused, but the file has changed (%v)", err)
		}
	}
	if refused == 0 {
		t.Error("no difference was refused")
	}
}

func queryAll(v *pathdb.View) {
	for l := range uint16(300) {
		_, _ = v.Query(l, 300-l, pathdb.Want{PKey: 0x7fff})
		_, _ = v.Route(nil, l, 300-l)
	}
	for i := range v.Ports() {
		_, _ = v.Paths(nil, i, 0, pathdb.Want{SL: 1})
	}
	v.Info()
	v.Groups()
	v.Switches()
}

// FuzzParse parses hostile files with valid checksums.
func FuzzParse(f *testing.F) {
	image := build(f, tree(f, "fattree:2,4"), nil)
	f.Add(uint32(200), []byte{1})
	f.Add(uint32(len(image)-300), []byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(_ *testing.T, at uint32, with []byte) {
		bad := append([]byte(nil), image...)
		copy(bad[int(at)%len(bad):], with)
		pathdb.Reseal(bad)
		if db, err := pathdb.Parse(bad); err == nil {
			queryAll(db.View())
		}
	})
}

// FuzzDelta computes and applies differences to and from hostile files with valid checksums.
func FuzzDelta(f *testing.F) {
	before := tree(f, "fattree:2,4")
	v := view(f, build(f, before, nil))
	image := build(f, route(f, before.Fabric.Without(before.Fabric.Links()[:3])), v)
	f.Add(uint32(200), []byte{1})
	f.Add(uint32(len(image)-300), []byte{0xff, 0xff})
	f.Fuzz(func(_ *testing.T, at uint32, with []byte) {
		bad := append([]byte(nil), image...)
		copy(bad[int(at)%len(bad):], with)
		pathdb.Reseal(bad)
		db, err := pathdb.Parse(bad)
		if err != nil {
			return
		}
		for _, pair := range [][2]*pathdb.View{{v, db.View()}, {db.View(), v}} {
			delta, err := pathdb.Delta(pair[0], pair[1])
			if err != nil {
				continue
			}
			if changed, err := pair[0].Applied(delta); err == nil {
				queryAll(changed.View())
			}
		}
	})
}

func FuzzApply(f *testing.F) {
	before := tree(f, "fattree:2,4")
	v := view(f, build(f, before, nil))
	after := route(f, before.Fabric.Without(before.Fabric.Links()[:3]))
	delta, err := pathdb.Delta(v, view(f, build(f, after, v)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(3), []byte{1})
	f.Fuzz(func(_ *testing.T, at uint32, with []byte) {
		if db, err := v.Applied(pathdb.Redelta(delta, int(at), with)); err == nil {
			queryAll(db.View())
		}
	})
}

func view(t testing.TB, image []byte) *pathdb.View {
	t.Helper()
	db, err := pathdb.Parse(image)
	if err != nil {
		t.Fatal(err)
	}
	return db.View()
}
