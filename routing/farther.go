// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// ReducedDistances are the distances between switches when links are gone. They are those
// of the whole, but for what is farther now. It is for one goroutine.
type ReducedDistances struct {
	whole   *Distances
	part    *Subgraph
	removed [][2]fabric.SwitchIndex
	rows    [][]uint8

	far     []bool
	levels  [][]fabric.SwitchIndex
	touched []fabric.SwitchIndex
}

// Without gives the distances without some links of the fabric. They are computed when they are asked for.
func (d *Distances) Without(links []fabric.Link) *ReducedDistances {
	x := &ReducedDistances{whole: d, part: d.graph.Without(d.f, links), rows: make([][]uint8, d.n), far: make([]bool, d.n),
		levels: make([][]fabric.SwitchIndex, NoHops+1)}
	for _, l := range links {
		a, b := d.f.Nodes[d.f.Ports[l.A].Node].Switch, d.f.Nodes[d.f.Ports[l.B].Node].Switch
		if a != fabric.None && b != fabric.None {
			x.removed = append(x.removed, [2]fabric.SwitchIndex{a, b})
		}
	}
	return x
}

// From is [Distances.From] without the links, and whether any distance is another
// one than with them. O(switches that are farther x their links).
func (x *ReducedDistances) From(sw fabric.SwitchIndex) (row []uint8, farther bool) {
	was := x.whole.From(sw)
	if x.rows[sw] == nil {
		x.rows[sw] = x.compute(was)
	}
	return x.rows[sw], &x.rows[sw][0] != &was[0]
}

func (x *ReducedDistances) compute(was []uint8) []uint8 {
	x.losePaths(was)
	if len(x.touched) == 0 {
		return was
	}
	row := slices.Clone(was)
	for _, s := range x.touched {
		row[s] = NoHops
	}
	for _, s := range x.touched {
		best := uint8(NoHops)
		for _, l := range x.part.Of(s) {
			if !x.far[l.Peer] && was[l.Peer] < NoHops-1 {
				best = min(best, was[l.Peer]+1)
			}
		}
		if best != NoHops {
			x.levels[best] = append(x.levels[best], s)
		}
	}
	for h := range x.levels[:NoHops] {
		for i := 0; i < len(x.levels[h]); i++ {
			s := x.levels[h][i]
			if row[s] != NoHops {
				continue
			}
			row[s] = uint8(h)
			for _, l := range x.part.Of(s) {
				if row[l.Peer] == NoHops && h+1 < NoHops {
					x.levels[h+1] = append(x.levels[h+1], l.Peer)
				}
			}
		}
		x.levels[h] = x.levels[h][:0]
	}
	for _, s := range x.touched {
		x.far[s] = false
	}
	return row
}

// losePaths finds the switches of which no neighbour is as near as before.
func (x *ReducedDistances) losePaths(was []uint8) {
	x.touched = x.touched[:0]
	for _, l := range x.removed {
		for _, end := range [2][2]fabric.SwitchIndex{{l[0], l[1]}, {l[1], l[0]}} {
			if d := was[end[0]]; d != NoHops && d == was[end[1]]+1 {
				x.levels[d] = append(x.levels[d], end[0])
			}
		}
	}
	for h := range x.levels {
		for i := 0; i < len(x.levels[h]); i++ {
			s := x.levels[h][i]
			if x.far[s] || x.near(s, was) {
				continue
			}
			x.far[s] = true
			x.touched = append(x.touched, s)
			for _, l := range x.part.Of(s) {
				if d := was[l.Peer]; d != NoHops && d == was[s]+1 {
					x.levels[d] = append(x.levels[d], l.Peer)
				}
			}
		}
		x.levels[h] = x.levels[h][:0]
	}
}

// near reports whether a neighbour is as near as before.
func (x *ReducedDistances) near(s fabric.SwitchIndex, was []uint8) bool {
	for _, l := range x.part.Of(s) {
		if was[l.Peer] == was[s]-1 && !x.far[l.Peer] {
			return true
		}
	}
	return false
}
