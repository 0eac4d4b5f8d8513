// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// nearer finds the groups to which each entry of each switch leads nearer, and at
// their own switch to the port: then all paths of a switch are alike where all links
// are. Where they are not, or there are service levels, it leaves all groups to be
// followed. O(switches x LIDs).
func (b *builder) nearer(ctx context.Context) error {
	b.near = make([]bool, len(b.groups))
	if b.sls != nil || b.uniform < 0 {
		return nil
	}
	type home struct {
		sw    int32
		group int32
	}
	var lids []uint16
	var homes []home
	for l, g := range b.groupOf() {
		if g >= 0 {
			lids, homes = append(lids, uint16(l)), append(homes, home{b.groups[g].sw, g})
		}
	}
	highest := uint8(0)
	for _, n := range b.f.Switches {
		highest = max(highest, b.f.Nodes[n].NumPorts)
	}
	type worker struct {
		sets routing.PortSets
		far  []bool // by group
	}
	workers := make([]*worker, routing.Workers())
	err := routing.ForEach(ctx, len(b.f.Switches), nil, func(n, sw int) {
		if workers[n] == nil {
			workers[n] = &worker{routing.NewPortSets(len(b.f.Switches), highest), make([]bool, len(b.groups))}
		}
		w := workers[n]
		sets := b.distances.LeastHopPorts(int32(sw), w.sets)
		row := b.row(sw)
		for i, l := range lids {
			h := homes[i]
			if int(l) < len(row) && row[l] <= highest && sets.Has(h.sw, row[l]) || int(h.sw) == sw {
				continue
			}
			if b.distances.Least(int32(sw), h.sw) != routing.NoHops {
				w.far[h.group] = true
			}
		}
	})
	if err != nil {
		return err
	}
	for g := range b.groups {
		b.near[g] = b.atHome(&b.groups[g]) && b.within(&b.groups[g])
		for _, w := range workers {
			b.near[g] = b.near[g] && (w == nil || !w.far[g])
		}
	}
	return nil
}

// groupOf is the group of each LID, -1 for none.
func (b *builder) groupOf() []int32 {
	of := make([]int32, int(b.f.MaxLID)+1)
	for l := range of {
		of[l] = -1
	}
	for g := range b.groups {
		for _, l := range b.groups[g].lids {
			if int(l) < len(of) {
				of[l] = int32(g)
			}
		}
	}
	return of
}

// within says that no switch is further from a group than a path can be long, and
// that the subnet has all its LIDs.
func (b *builder) within(g *group) bool {
	for _, l := range g.lids {
		if b.f.PortByLID(l) == fabric.None {
			return false
		}
	}
	for _, h := range b.distances.From(g.sw) {
		if h > maxHops && h != routing.NoHops {
			return false
		}
	}
	return true
}

// atHome says whether the switch of a group hands packets to each of its ports.
func (b *builder) atHome(g *group) bool {
	row := b.row(int(g.sw))
	for _, l := range g.lids {
		if int(l) >= len(row) || b.wires[int(g.sw)<<8|int(row[l])].to != toPort(b.f.PortByLID(l)) {
			return false
		}
	}
	return true
}

// row are the entries of a switch up to its top, none where it was not read.
func (b *builder) row(sw int) []uint8 {
	if !b.t.Known[sw] {
		return nil
	}
	row := b.t.LFT.Row(int32(sw))
	return row[:min(int(b.t.Top[sw])+1, len(row))]
}
