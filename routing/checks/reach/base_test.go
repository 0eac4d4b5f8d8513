// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// TestBaseEqualsCheck compares checks of random failures from a base with checks of all paths, with adapted tables and
// with old ones.
func TestBaseEqualsCheck(t *testing.T) {
	r := testenv.Rand(t)
	quick, bad, cut := 0, 0, 0
	for i := range testenv.Count(t, 150, 2000) {
		f := treestest.Random(t, r)
		old := treestest.Minhop(t, f)
		switch r.IntN(8) {
		case 0:
			old = treestest.Broken(r, old, r.IntN(3))
		case 1, 2, 3:
			old = treestest.Updn(t, f)
		}
		base, err := incremental.NewBase(t.Context(), old)
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Switches: r.IntN(2) == 0, Examples: 1 + r.IntN(30)}
		b, err := NewBase(t.Context(), base.Forest, opt)
		if err != nil {
			t.Fatal(err)
		}
		now := after(t, r, base)
		got, err := b.Check(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Check(t.Context(), now, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got.quick {
			quick++
		}
		if want.Bad() > 0 {
			bad++
		}
		if want.UnreachableEnds > b.Result().UnreachableEnds {
			cut++
		}
		got.quick = false
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("case %d: %+v from the base, %+v of all paths", i, got, want)
		}
	}
	t.Logf("%d checked by the change alone, %d with paths that do not arrive, %d with unreachable hosts",
		quick, bad, cut)
	if quick == 0 || bad == 0 || cut == 0 {
		t.Error("want some of each")
	}
}

// after removes some links and adapts the tables, or keeps them.
func after(t *testing.T, r *rand.Rand, base *incremental.Base) *fabric.Tables {
	t.Helper()
	links := base.Tables.Fabric.Links()
	var gone []fabric.Link
	for range min(len(links), r.IntN(4)) {
		gone = append(gone, links[r.IntN(len(links))])
	}
	f := base.Tables.Fabric.Without(gone)
	if r.IntN(8) == 0 {
		now := *base.Tables
		now.Fabric = f
		return &now
	}
	res, err := base.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}
