// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// findLeaves says of each switch whether the compute nodes on it make it a leaf:
// those on few switches with a few of them may be service nodes without a name.
// Widest is the highest number of neighbours of the leaves that are sure.
func (c *Classes) findLeaves() (leaves []bool, widest int) {
	hosts := make([]int, len(c.Switches))
	for i := range c.Adapters {
		if a := &c.Adapters[i]; a.Role == Compute {
			hosts[a.Switch]++
		}
	}
	sure := make([]bool, len(hosts))
	usual := usualHosts(hosts)
	for s, n := range hosts {
		sure[s] = n > 0 && 2*n >= usual && !c.below(fabric.SwitchIndex(s), hosts)
		if sure[s] {
			widest = max(widest, c.Switches[s].Neighbours)
		}
	}
	leaves = slices.Clone(sure)
	for s, n := range hosts {
		if n > 0 && !sure[s] {
			leaves[s] = c.likeLeaf(fabric.SwitchIndex(s), sure, widest)
		}
	}
	return leaves, widest
}

// usualHosts is the number of hosts that the switch of the median host has.
func usualHosts(hosts []int) int {
	all, total := slices.SortedFunc(slices.Values(hosts), func(a, b int) int { return cmp.Compare(b, a) }), 0
	for _, n := range all {
		total += n
	}
	for _, n := range all {
		if total -= 2 * n; total <= 0 {
			return n
		}
	}
	return 0
}

// below reports whether a neighbour has twice as many hosts or more: one of the two is above the other.
func (c *Classes) below(s fabric.SwitchIndex, hosts []int) bool {
	return slices.ContainsFunc(c.graph.Of(s), func(l routing.SwitchLink) bool { return hosts[l.Peer] >= 2*hosts[s] })
}

// likeLeaf reports whether a switch with few hosts is linked as a leaf is: to none of the leaves, and to no
// more switches than they are. What is above leaves serves more switches than a leaf is served by.
func (c *Classes) likeLeaf(s fabric.SwitchIndex, sure []bool, widest int) bool {
	beside := slices.ContainsFunc(c.graph.Of(s), func(l routing.SwitchLink) bool { return sure[l.Peer] })
	return !beside && c.Switches[s].Neighbours <= widest
}

// addEmptyLeaves adds the leaves without hosts. They are as far from the others as roots are, but have no
// more neighbours than leaves, where roots have more. Their rank becomes that of leaves.
func (c *Classes) addEmptyLeaves(leaves []bool, ranks []int32, widest int) {
	top := slices.Max(append(ranks, 0))
	named := c.names(leaves, ranks)
	var empty []int32
	wider := false
	for s, r := range ranks {
		n := named[c.Switches[s].Pattern]
		switch {
		case r != top || top == 0:
		case c.Switches[s].Neighbours > widest:
			wider = true
		case top > 1 && (n.leaves > 0 || n.all == 1):
			empty = append(empty, int32(s))
		}
	}
	if !wider {
		return
	}
	for _, s := range empty {
		leaves[s], ranks[s] = true, 0
	}
}
