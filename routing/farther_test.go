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

// TestFarther: distances without links are those of the fabric without them.
func TestFarther(t *testing.T) {
	r := testenv.Rand(t)
	farther := 0
	for range testenv.Count(t, 300, 3000) {
		f := treestest.Random(t, r)
		links := f.Links()
		var gone []fabric.Link
		for range 1 + r.IntN(4) {
			gone = append(gone, links[r.IntN(len(links))])
		}
		part := f.Without(gone)
		if part.SMPort != f.SMPort {
			continue
		}
		x, want := routing.NewDistances(f).Without(gone), routing.NewDistances(part)
		for s := range f.NumSwitches() {
			if !part.SwitchNode(s).InSubnet {
				continue
			}
			row, changed := x.From(s)
			if changed {
				farther++
			}
			if !slices.Equal(row, want.From(s)) {
				t.Fatalf("without %v, from switch %d: %v, want %v", gone, s, row, want.From(s))
			}
		}
	}
	if farther == 0 {
		t.Error("nothing was farther")
	}
}
