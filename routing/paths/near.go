// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// nearer finds the groups to which every entry of every switch leads nearer. At the group's own switch, the entries
// must lead to the ports of the group. If all links are equal, all paths from one switch to such a group have the same
// state. If links differ, or if there are SLs, all groups must be followed. O(switches x LIDs).
func (b *builder) nearer(ctx context.Context) error {
	b.near = make([]bool, len(b.groups))
	if b.sls != nil || b.uniform < 0 {
		return nil
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
		if !slices.Contains(w.far, false) {
			return
		}
		sets := b.distances.LeastHopPorts(fabric.SwitchIndex(sw), w.sets)
		row := b.row(sw)
		for i := range b.groups {
			g := &b.groups[i]
			if w.far[i] || int(g.sw) == sw || b.distances.Least(fabric.SwitchIndex(sw), g.sw) == routing.NoHops {
				continue
			}
			w.far[i] = int(slices.Max(g.lids)) >= len(row) || !allIn(sets.Words(g.sw), row, g.lids)
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

// allIn reports whether the entries for all LIDs are ports in a set.
func allIn(set []uint64, row []uint8, lids []uint16) bool {
	in := uint64(1)
	if len(set) == 1 {
		for _, l := range lids {
			in &= set[0] >> row[l]
		}
		return in != 0
	}
	for _, l := range lids {
		p := row[l]
		if int(p>>6) >= len(set) {
			return false
		}
		in &= set[p>>6] >> (p & 63)
	}
	return in != 0
}

// within reports whether no switch is farther from a group than a path can be long, and the tables have entries for all
// LIDs of the group.
func (b *builder) within(g *group) bool {
	return !slices.ContainsFunc(g.lids, func(l uint16) bool { return b.f.PortByLID(l) == fabric.None }) &&
		!slices.ContainsFunc(b.distances.From(g.sw), func(h uint8) bool { return h > maxHops && h != routing.NoHops })
}

// atHome reports whether the switch of a group forwards packets to each port of the group.
func (b *builder) atHome(g *group) bool {
	row := b.row(int(g.sw))
	for _, l := range g.lids {
		if int(l) >= len(row) || b.wires[int(g.sw)<<8|int(row[l])].to != toPort(b.f.PortByLID(l)) {
			return false
		}
	}
	return true
}
