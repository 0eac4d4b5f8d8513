// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// findLeaves marks the switches with compute nodes, and takes for the leaf rank
// the lowest there is, or where roots are given that of the first compute node.
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

// listLeaves fills leaves and maxCNs. It needs two switches with compute nodes.
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

// isCN says that a group leads to a compute node.
func (t *tree) isCN(g *group) bool { return g.remote == fabric.None && t.adapters[g.first].cn }

// caOrder is the order of the compute nodes for which the shift pattern is free
// of contention, with fabric.None for each that a leaf has less than the fullest.
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
