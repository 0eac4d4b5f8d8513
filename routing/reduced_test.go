// SPDX-License-Identifier: Apache-2.0

package routing_test

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// TestReducedDistances compares distances without links with those of the fabric without them.
func TestReducedDistances(t *testing.T) {
	r := testenv.Rand(t)
	farther := 0
	for range testenv.Count(t, 300, 3000) {
		f := treestest.Random(t, r)
		links := f.Links()
		var removed []fabric.Link
		for range 1 + r.IntN(4) {
			removed = append(removed, links[r.IntN(len(links))])
		}
		part := f.Without(removed)
		if part.SMPort != f.SMPort {
			continue
		}
		x, want := routing.NewDistances(f).Without(removed), routing.NewDistances(part)
		for s := range f.NumSwitches() {
			if !part.SwitchNode(s).InSubnet {
				continue
			}
			row, changed := x.From(s)
			if changed {
				farther++
			}
			if !slices.Equal(row, want.From(s)) {
				t.Fatalf("without %v, from switch %d: %v, want %v", removed, s, row, want.From(s))
			}
		}
	}
	if farther == 0 {
		t.Error("no distance increased")
	}
}
