// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"reflect"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// TestBaseEqualsCompare compares random failures with a base and without one.
func TestBaseEqualsCompare(t *testing.T) {
	r := testenv.Rand(t)
	quick, cut := 0, 0
	for i := range testenv.Count(t, 150, 2000) {
		f := treestest.Random(t, r)
		old := treestest.Minhop(t, f)
		switch r.IntN(8) {
		case 0:
			old = treestest.Broken(r, old, r.IntN(3))
		case 1:
			old = treestest.Updn(t, f)
		}
		from, err := incremental.NewBase(t.Context(), old)
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewBase(t.Context(), from.Forest)
		if err != nil {
			t.Fatal(err)
		}
		links := old.Fabric.Links()
		var gone []fabric.Link
		for range min(len(links), r.IntN(4)) {
			gone = append(gone, links[r.IntN(len(links))])
		}
		part := old.Fabric.Without(gone)
		res, err := from.Route(t.Context(), part, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		now := res.Tables
		if r.IntN(8) == 0 {
			same := *old
			same.Fabric = part
			now = &same
		}
		opt := Options{Examples: 1 + r.IntN(12)}
		got, err := b.Compare(t.Context(), now, opt)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Compare(t.Context(), old, now, opt)
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := from.Against(now); ok && b.all && b.compare(now, d, opt) != nil {
			quick++
			if len(want.Gone) > 0 {
				cut++
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("case %d, without %v:\n%+v from the base\n%+v from Compare", i, gone, got, want)
		}
	}
	t.Logf("%d compared by the change alone, %d of them with unreachable hosts", quick, cut)
	if quick == 0 || cut == 0 {
		t.Error("want some of each")
	}
}
