// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"encoding/binary"
	"slices"

	"example.org/ibconsole/fabric"
)

// runs holds sets of neighbours that can be routed to the target at once, because neither their order nor the counts
// matter. This is true below a switch if exactly one path leads to each switch below it and no links connect switches
// of the same rank. Slices are indexed by switch.
type runs struct {
	below [][]run
	// above contains the roots above a switch, if these roots have no hosts and the same switches below them.
	above []run
}

// run is a set of neighbours of a switch in adjacent slots. Each neighbour has one link to the switch. Either all or
// none of the neighbours have hosts.
type run struct {
	slot  int32
	hosts bool
	// ports holds, for each slot of the run, the port that leads back to the switch.
	ports []uint8
}

// mostHops is the maximum number of hops to the target at which runs are used.
const mostHops = 100

// newRuns marks the trees and returns the runs. The slots and classes of all places must be set. It returns no runs if
// paths may turn back, because the order of groups matters then, or if longer paths stay.
func newRuns(t *tree, places []place) runs {
	r := runs{below: make([][]run, len(places)), above: make([]run, len(places))}
	if t.opt.MaxReverseHops > 0 || t.opt.NoBullMinHop {
		return r
	}
	t.markTrees(places)
	for s := range places {
		if places[s].tree {
			r.below[s] = t.runsOf(t.down[s], places)
		}
	}
	for s := range places {
		if oneClass(t.up[s], places) {
			if up := t.runsOf(t.up[s], places); len(up) == 1 {
				r.above[s] = up[0]
			}
		}
	}
	return r
}

// oneClass reports whether all groups lead to roots of one class that are trees and have no hosts.
func oneClass(list []group, places []place) bool {
	return !slices.ContainsFunc(list, func(g group) bool {
		r, first := &places[g.remote], &places[list[0].remote]
		return !r.root || !r.tree || r.hosts || r.class == none || r.class != first.class
	})
}

// runsOf returns the runs of the neighbours of some groups. It returns nil if one of the groups has several links.
func (t *tree) runsOf(list []group, places []place) []run {
	list = slices.DeleteFunc(slices.Clone(list), func(g group) bool { return g.remote == fabric.None })
	slices.SortFunc(list, func(a, b group) int { return cmp.Compare(a.slot, b.slot) })
	var all []run
	for i := range list {
		g, hosts := &list[i], places[list[i].remote].hosts
		if g.n > 1 {
			return nil
		}
		if i == 0 || g.slot != list[i-1].slot+1 || hosts != all[len(all)-1].hosts {
			all = append(all, run{slot: g.slot, hosts: hosts})
		}
		last := &all[len(all)-1]
		last.ports = append(last.ports, g.far)
	}
	return all
}

// markTrees sets the field tree of places. A place is a tree if exactly one path leads down to each switch below it.
// Leaf switches with lower switches are not marked, because the order of their adapters affects the tables. O(switches
// x switches below each).
func (t *tree) markTrees(places []place) {
	lowest := make([]fabric.SwitchIndex, len(places))
	for s := range lowest {
		lowest[s] = fabric.SwitchIndex(s)
	}
	slices.SortFunc(lowest, func(a, b fabric.SwitchIndex) int { return cmp.Compare(t.rank[b], t.rank[a]) })
	met, known := make([]fabric.SwitchIndex, len(places)), make([]fabric.SwitchIndex, len(places))
	for _, s := range lowest {
		at := &places[s]
		switch {
		case len(t.side[s]) > 0 || t.rank[s] == uint32(t.leafRank) && !at.bottom:
		case at.bottom:
			at.tree = true
		case known[at.class] > 0:
			at.tree = places[known[at.class]-1].tree
		default:
			at.tree = t.meetsOnce(s, s+1, places, met)
			known[at.class] = s + 1
		}
	}
}

// meetsOnce reports whether exactly one path leads down from s to each switch below it. The argument met holds the last
// mark of each switch.
func (t *tree) meetsOnce(s, mark fabric.SwitchIndex, places []place, met []fabric.SwitchIndex) bool {
	for i := range t.down[s] {
		r := t.down[s][i].remote
		if r == fabric.None {
			continue
		}
		if !places[r].tree || met[r] == mark {
			return false
		}
		met[r] = mark
		if !t.meetsOnce(r, mark, places, met) {
			return false
		}
	}
	return true
}

const (
	eachByte = 0x0101010101010101 // the lowest bit of each byte
	highBits = eachByte << 7      // the highest bit of each byte
)

// take routes switches of a run to the switch to which the run belongs. It routes only switches that are more than a
// number of hops from the target (argument next, less than 127). This becomes their number of hops. take reports
// whether there are such switches.
func (r *run) take(known, out []uint8, next uint8) (taken bool) {
	n := len(r.ports)
	known, out = known[r.slot:][:n], out[r.slot:][:n]
	if n < 8 {
		for i, far := range r.ports {
			if known[i] > next {
				known[i], out[i], taken = next, far, true
			}
		}
		return taken
	}
	hops := uint64(next) * eachByte
	before := binary.LittleEndian.Uint64(known)
	for i := 0; ; {
		// The last eight bytes overlap the previous eight. They are read before the previous ones are written.
		k, ahead := before, min(i+8, n-8)
		before = binary.LittleEndian.Uint64(known[ahead:])
		far := binary.LittleEndian.Uint64(r.ports[i:])
		// farther first has the high bit of each byte that is greater than next, and then all bits of each such byte.
		farther := ((k &^ highBits) + (highBits - eachByte - hops) | k) & highBits
		farther |= farther - farther>>7
		switch farther {
		case 0:
		case ^uint64(0):
			binary.LittleEndian.PutUint64(known[i:], hops)
			binary.LittleEndian.PutUint64(out[i:], far)
			taken = true
		default:
			binary.LittleEndian.PutUint64(known[i:], k&^farther|hops&farther)
			binary.LittleEndian.PutUint64(out[i:], binary.LittleEndian.Uint64(out[i:])&^farther|far&farther)
			taken = true
		}
		if i == n-8 {
			return taken
		}
		i = ahead
	}
}
