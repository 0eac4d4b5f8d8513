// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/classify"
)

// connect counts the cables of blocks and between them.
func (d *Drawing) connect(s *classify.Structure, opt *Options) {
	f := d.Fabric
	between := map[[2]int32]*Bundle{}
	for _, l := range f.Links() {
		a, b := d.at(l.A), d.at(l.B)
		down := opt.Failed[l]
		for i, at := range [2]int32{a, b} {
			if at == Vacant || i == 1 && a == b || s.IsAggregation(f.Ports[l.A].Node) || s.IsAggregation(f.Ports[l.B].Node) {
				continue
			}
			d.Blocks[at].Links++
			if down {
				d.Blocks[at].Down++
			}
		}
		if a == Vacant || b == Vacant {
			continue
		}
		if a > b {
			a, b = b, a
		}
		w := between[[2]int32{a, b}]
		if w == nil {
			w = &Bundle{A: a, B: b}
			between[[2]int32{a, b}] = w
		}
		w.Cables++
		if down {
			w.Down++
		}
		if opt.Loads != nil {
			w.Load = max(w.Load, opt.Loads[l.A], opt.Loads[l.B])
		}
		if s.Grid != nil {
			w.Wraps = w.Wraps || wraps(s.Grid, f.Nodes[f.Ports[l.A].Node].Switch, f.Nodes[f.Ports[l.B].Node].Switch)
		}
	}
	for _, w := range between {
		d.Bundles = append(d.Bundles, *w)
		d.Most = max(d.Most, w.Load)
	}
	slices.SortFunc(d.Bundles, func(x, y Bundle) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
}

// at is the block of the switch that a port is of, [Vacant] for a port of another node.
func (d *Drawing) at(p fabric.PortIndex) int32 {
	if sw := d.Fabric.Nodes[d.Fabric.Ports[p].Node].Switch; sw != fabric.None {
		return d.of[sw]
	}
	return Vacant
}

// Between is the bundle of two blocks, nil where no cable joins them. O(log bundles).
func (d *Drawing) Between(a, b int32) *Bundle {
	if a > b {
		a, b = b, a
	}
	i, ok := slices.BinarySearchFunc(d.Bundles, [2]int32{a, b}, func(w Bundle, at [2]int32) int {
		return cmp.Or(cmp.Compare(w.A, at[0]), cmp.Compare(w.B, at[1]))
	})
	if !ok {
		return nil
	}
	return &d.Bundles[i]
}

// pass marks the switches that a path leads through, and the cables between them.
func (d *Drawing) pass(opt *Options) {
	through := map[int32]bool{}
	for node := range opt.Through {
		if sw := d.Fabric.Nodes[node].Switch; sw != fabric.None && d.of[sw] != Vacant {
			d.Blocks[d.of[sw]].OnPath = true
			through[d.of[sw]] = true
		}
	}
	for i := range d.Bundles {
		w := &d.Bundles[i]
		w.OnPath = w.OnPath || w.A != w.B && through[w.A] && through[w.B]
	}
}

// trace marks the blocks and bundles of a path.
func (d *Drawing) trace(opt *Options) {
	f := d.Fabric
	for _, p := range opt.Path {
		a, b := d.at(p), Vacant
		if peer := f.Ports[p].Peer; peer != fabric.None {
			b = d.at(peer)
		}
		for _, at := range [2]int32{a, b} {
			if at != Vacant {
				d.Blocks[at].OnPath = true
			}
		}
		if a != Vacant && b != Vacant {
			if w := d.Between(a, b); w != nil {
				w.OnPath = true
			}
		}
	}
}
