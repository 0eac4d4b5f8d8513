// SPDX-License-Identifier: Apache-2.0

package pathdb_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/pathdb"
	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/minhop"
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

// TestDamage flips and cuts: each is refused at once, and the place named is at most
// a page away.
func TestDamage(t *testing.T) {
	r := testenv.Rand(t)
	image := build(t, tree(t, "fattree:2,8"), nil)
	for range 300 {
		bad := append([]byte(nil), image...)
		at := r.IntN(len(bad))
		bad[at] ^= 1 << r.IntN(8)
		db, err := pathdb.Parse(bad)
		if err == nil && at >= 128 && at < len(bad)-8 {
			t.Errorf("byte %d changed: taken", at)
		}
		if err != nil && !strings.Contains(err.Error(), "byte") {
			t.Errorf("byte %d changed: %v", at, err)
		}
		if db != nil {
			everything(db.View())
		}
		if _, err := pathdb.Parse(image[:r.IntN(len(image))]); err == nil {
			t.Error("a file that was cut off was taken")
		}
	}
	if _, err := pathdb.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func everything(v *pathdb.View) {
	for l := range uint16(300) {
		_, _ = v.Query(l, 300-l, pathdb.Want{PKey: 0x7fff})
		_, _ = v.Way(nil, l, 300-l)
	}
	v.Info()
}

// FuzzParse gives hostile files whose checksums are right.
func FuzzParse(f *testing.F) {
	image := build(f, tree(f, "fattree:2,4"), nil)
	f.Add(uint32(200), []byte{1})
	f.Add(uint32(len(image)-300), []byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(_ *testing.T, at uint32, with []byte) {
		bad := append([]byte(nil), image...)
		copy(bad[int(at)%len(bad):], with)
		pathdb.Reseal(bad)
		if db, err := pathdb.Parse(bad); err == nil {
			everything(db.View())
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
			everything(db.View())
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
