// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
)

// unranked is the rank of a switch that was not ranked.
const unranked = math.MaxUint32

// rankSwitches ranks the switches from the given roots. If no roots are given or their file is broken, it ranks from
// the switches farthest from the adapters. Numbers overflow as in OpenSM.
func (t *tree) rankSwitches() {
	t.rank = make([]uint32, len(t.f.Switches))
	for s := range t.rank {
		t.rank[s] = unranked
	}
	var given []fabric.SwitchIndex
	for _, guid := range t.opt.RootGUIDs {
		if s := t.f.SwitchByGUID(guid); s != fabric.None && t.f.SwitchNode(s).InSubnet {
			t.rank[s] = 0
			given = append(given, s)
		}
	}
	if len(given) > 0 && !t.opt.DetectRoots {
		t.spread(given)
		return
	}
	var leaves []fabric.SwitchIndex
	for i := range t.adapters {
		if s := t.adapters[i].sw; t.improve(s, 0) {
			leaves = append(leaves, s)
		}
	}
	t.spread(leaves)
	// The switches farthest from the adapters are roots. Roots that are listed before a broken line of the file are
	// ranked again, starting from their current rank.
	queue := given
	for s := range t.rank {
		if t.rank[s] != unranked && t.rank[s] == uint32(t.maxRank) {
			t.rank[s] = 0
			queue = append(queue, fabric.SwitchIndex(s))
		} else {
			t.rank[s] = unranked
		}
	}
	t.spread(queue)
}

// spread ranks the switches that can be reached from the switches in a queue.
func (t *tree) spread(queue []fabric.SwitchIndex) {
	last := uint32(0)
	for k := 0; k < len(queue); k++ {
		for _, l := range t.g.Of(queue[k]) {
			if t.improve(l.Peer, t.rank[queue[k]]+1) {
				last = t.rank[l.Peer]
				queue = append(queue, l.Peer)
			}
		}
	}
	t.maxRank = uint8(last)
}

// improve sets the rank of a switch to a new rank if the new rank is lower. It reports whether the rank changed.
func (t *tree) improve(s fabric.SwitchIndex, rank uint32) bool {
	if t.rank[s] != unranked && t.rank[s] <= rank {
		return false
	}
	t.rank[s] = rank
	return true
}

// findLeaves marks the switches with compute nodes. It sets the leaf rank to the rank of the lowest tier. If roots are
// given, it sets the leaf rank to the rank of the switch of the first compute node.
func (t *tree) findLeaves() {
	t.isLeaf = make([]bool, len(t.f.Switches))
	t.leafRank = t.maxRank
	for i, first := 0, t.opt.RootGUIDs != nil; i < len(t.adapters); i++ {
		if a := &t.adapters[i]; a.cn {
			t.isLeaf[a.sw] = true
			if first {
				t.leafRank, first = uint8(t.rank[a.sw]), false
			}
		}
	}
}

// listLeaves sets leaves and maxCNs. It returns a problem if fewer than two switches have compute nodes.
func (t *tree) listLeaves() *Problem {
	var all []fabric.SwitchIndex
	for s, r := range t.rank {
		if r == uint32(t.leafRank) {
			all = append(all, fabric.SwitchIndex(s))
		}
	}
	slices.SortStableFunc(all, func(a, b fabric.SwitchIndex) int { return cmp.Compare(t.tuple[a], t.tuple[b]) })
	isLeaf := func(s fabric.SwitchIndex) bool { return t.isLeaf[s] }
	for len(all) > 0 && !isLeaf(all[len(all)-1]) {
		all = all[:len(all)-1]
	}
	if i := slices.IndexFunc(all, isLeaf); i > 0 {
		all = all[i:]
	}
	if len(all) < 2 {
		return &Problem{Rule: FewLeaves, Switches: all, Text: "only one switch has compute nodes, expected two or more"}
	}
	t.leaves = all
	for _, s := range all {
		cns := 0
		for i := range t.down[s] {
			if t.isCN(&t.down[s][i]) {
				cns++
			}
		}
		t.maxCNs = max(t.maxCNs, cns)
	}
	return nil
}

// isCN reports whether a group leads to a compute node.
func (t *tree) isCN(g *group) bool { return g.remote == fabric.None && t.adapters[g.first].cn }

// caOrder returns the order of the compute nodes for which the shift pattern is free of contention. Leaves with fewer
// compute nodes than the fullest leaf are padded with fabric.None.
func (t *tree) caOrder() []fabric.PortIndex {
	order := make([]fabric.PortIndex, 0, len(t.leaves)*t.maxCNs)
	for i, s := range t.leaves {
		for k := range t.down[s] {
			if g := &t.down[s][k]; t.isCN(g) {
				order = append(order, t.adapters[g.first].end)
			}
		}
		for len(order) < (i+1)*t.maxCNs {
			order = append(order, fabric.None)
		}
	}
	return order
}
