// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
)

// TestPlanesKeepCounts checks all counts up to the longest, and the values without a path.
func TestPlanesKeepCounts(t *testing.T) {
	for longest := range untried.barred {
		const rows = 65 // one more than a worker takes at once
		counts := make([]uint8, rows*256)
		for i := range counts {
			if counts[i] = uint8(i); counts[i] > longest {
				counts[i] = untried.barred + uint8(i&1)
			}
		}
		p, err := newPlanes(t.Context(), counts, rows, longest)
		if err != nil {
			t.Fatal(err)
		}
		for s := range rows {
			for d := range 256 {
				if got, want := p.count(s, d), counts[s*256+d]; got != want {
					t.Fatalf("up to %d: count %d of row %d is %d, want %d", longest, d, s, got, want)
				}
			}
		}
	}
}

// TestComparePorts compares the ports from bit planes with those of a search, with any turns.
func TestComparePorts(t *testing.T) {
	r := testenv.Rand(t)
	for i := range 60 {
		m := randomTurns(t, r, 8+r.IntN(150), i)
		if _, err := m.search(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		sets := make([]routing.PortSets, m.n)
		for s := range fabric.SwitchIndex(m.n) {
			sets[s] = m.LeastHopPorts(s, routing.NewPortSets(m.n, m.f.SwitchNode(s).NumPorts))
		}
		model := newWalker(m)
		for d := range fabric.SwitchIndex(m.n) {
			model.search(d)
			model.findPorts()
			for s := range fabric.SwitchIndex(m.n) {
				got := sets[s].Words(d)
				if want := model.counts.sets[int(s)*m.words:][:len(got)]; !slices.Equal(got, want) {
					t.Fatalf("fabric %d: ports of %d towards %d are %x, want %x", i, s, d, got, want)
				}
				for port := uint8(1); port <= m.f.SwitchNode(s).NumPorts; port++ {
					h := m.Through(s, port, d)
					if least := h != routing.NoHops && h == m.Least(s, d); least != sets[s].Has(d, port) {
						t.Fatalf("fabric %d: port %d of %d towards %d has %d hops, the least are %d", i, port, s, d, h,
							m.Least(s, d))
					}
				}
			}
		}
	}
}
