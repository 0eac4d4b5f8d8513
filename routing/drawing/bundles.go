// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/classify"
)

// connect counts the cables within blocks and between blocks.
func (d *Drawing) connect(s *classify.Structure, opt *Options) {
	f := d.Fabric
	failed := func(p fabric.PortIndex) bool {
		l, ok := f.LinkOf(p)
		return ok && opt.Failed[l]
	}
	for i := range s.Adapters {
		if a := &s.Adapters[i]; a.Role != classify.Aggregation && d.of[a.Switch] != Vacant {
			d.Blocks[d.of[a.Switch]].count(len(opt.Failed) > 0 && failed(a.End))
		}
	}
	between := map[[2]int32]*Bundle{}
	var last *Bundle
	for sw := range f.NumSwitches() {
		for p := range f.SwitchNode(sw).Ports() {
			peer := f.Ports[p].Peer
			if peer < p || f.Ports[p].Num == 0 { // none, or counted at the other end
				continue
			}
			a, b := d.of[sw], d.at(peer)
			if a == Vacant || b == Vacant {
				continue
			}
			down := len(opt.Failed) > 0 && failed(p)
			d.Blocks[a].count(down)
			if a != b {
				d.Blocks[b].count(down)
			}
			key := [2]int32{min(a, b), max(a, b)}
			if last == nil || last.A != key[0] || last.B != key[1] {
				if last = between[key]; last == nil {
					last = &Bundle{A: key[0], B: key[1]}
					between[key] = last
				}
			}
			last.add(d, s, opt, p, down)
		}
	}
	for _, w := range between {
		d.Bundles = append(d.Bundles, *w)
		d.Most = max(d.Most, w.Load)
	}
	slices.SortStableFunc(d.Bundles, func(x, y Bundle) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
}

// count counts a cable.
func (b *Block) count(down bool) {
	b.Links++
	if down {
		b.Down++
	}
}

// add adds the cable of a port.
func (w *Bundle) add(d *Drawing, s *classify.Structure, opt *Options, p fabric.PortIndex, down bool) {
	f := d.Fabric
	w.Cables++
	if down {
		w.Down++
	}
	if opt.Loads != nil {
		for _, end := range [2]fabric.PortIndex{p, f.Ports[p].Peer} {
			w.Load = max(w.Load, opt.Loads[end])
			if opt.Limits != nil && opt.Limits[end] > 0 {
				w.OfLimit = max(w.OfLimit, float64(opt.Loads[end])/opt.Limits[end])
			}
		}
	}
	if s.Grid != nil {
		w.Wraps = w.Wraps || wraps(s.Grid, f.Nodes[f.Ports[p].Node].Switch, f.PeerSwitch(p))
	}
}

// at returns the block of the switch to which a port belongs, or [Vacant] if the port belongs to another node.
func (d *Drawing) at(p fabric.PortIndex) int32 {
	if sw := d.Fabric.Nodes[d.Fabric.Ports[p].Node].Switch; sw != fabric.None {
		return d.of[sw]
	}
	return Vacant
}

// Between returns the bundle of cables between two blocks, or nil if no cable connects them. O(log bundles).
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

// pass marks the switches on a path and the cables between these switches.
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
