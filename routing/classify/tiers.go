// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// climb ranks all switches above the leaves, level by level. A switch with more links to its own level than to the
// level below is ranked higher. Therefore a shortcut from a leaf to a root does not make the root a middle switch.
// O(links).
func (c *Classes) climb(leaves []bool) []int32 {
	rank, level := startAt(leaves)
	for r := int32(1); len(level) > 0; r++ {
		var next []fabric.SwitchIndex
		for _, s := range level {
			for _, l := range c.graph.Of(s) {
				if rank[l.Peer] == routing.Unranked {
					rank[l.Peer] = r
					next = append(next, l.Peer)
				}
			}
		}
		level = c.settle(next, rank)
	}
	return rank
}

// settle returns the switches of a new level that belong in it. The other switches lose their rank and get a higher
// rank later. If no switch would stay, all switches stay.
func (c *Classes) settle(level []fabric.SwitchIndex, rank []int32) []fabric.SwitchIndex {
	var above, stay []fabric.SwitchIndex
	for _, s := range level {
		same, lower := 0, 0
		for _, l := range c.graph.Of(s) {
			switch rank[l.Peer] {
			case rank[s]:
				same++
			case rank[s] - 1:
				lower++
			}
		}
		if same > lower {
			above = append(above, s)
		} else {
			stay = append(stay, s)
		}
	}
	if len(above) == 0 || len(stay) == 0 {
		return level
	}
	staying := make(map[fabric.SwitchIndex]bool, len(stay))
	for _, s := range stay {
		staying[s] = true
	}
	for _, s := range above {
		lower := 0
		for _, l := range c.graph.Of(s) {
			if staying[l.Peer] {
				lower++
			}
		}
		if lower == 0 {
			stay = append(stay, s)
		} else {
			rank[s] = routing.Unranked
		}
	}
	return stay
}

// addDrained adds leaves without compute nodes to the argument leaves, and reports whether it found any. Such a leaf
// has rank 2 or higher. It is linked only to switches above one of the leaves, or its name is like the name of a leaf.
func (c *Classes) addDrained(leaves []bool, rank []int32, widest int) bool {
	named := c.names(leaves, rank)
	var drained []fabric.SwitchIndex
	sure := 0
	for s := range leaves {
		if leaves[s] {
			sure++
		}
		sw := &c.Switches[s]
		if leaves[s] || rank[s] < 2 || rank[s] == routing.Unranked || sw.Neighbours > widest ||
			c.insideDirector(fabric.SwitchIndex(s)) {
			continue
		}
		n := named[sw.Pattern]
		switch {
		case n.leaves > 0 && n.others == 0:
		case n.leaves == 0 && n.all > 1, !c.mirrorsLeaf(fabric.SwitchIndex(s), leaves):
			continue
		}
		drained = append(drained, fabric.SwitchIndex(s))
	}
	if 2*len(drained) > sure {
		return false
	}
	for _, s := range drained {
		leaves[s] = true
	}
	return len(drained) > 0
}

// rankByName gives a switch the rank of nearly all switches with a similar name, if its cables fit this rank. Without
// this step, a switch that has lost all links downwards looks like a root.
func (c *Classes) rankByName(rank []int32) {
	type at struct {
		pattern string
		rank    int32
	}
	named, all := map[at]int{}, map[string]int{}
	for s := range c.Switches {
		named[at{c.Switches[s].Pattern, rank[s]}]++
		all[c.Switches[s].Pattern]++
	}
	usual := map[string]int32{}
	for k, n := range named {
		if all[k.pattern] >= fewNamed && n*usualShare >= all[k.pattern]*(usualShare-1) && k.rank != routing.Unranked {
			usual[k.pattern] = k.rank
		}
	}
	moved := map[fabric.SwitchIndex]int32{}
	for s := range c.Switches {
		r, ok := usual[c.Switches[s].Pattern]
		misfit := func(l routing.SwitchLink) bool { return rank[l.Peer] != r-1 && rank[l.Peer] != r+1 }
		if ok && rank[s] != r && c.Switches[s].Degree > 0 &&
			!slices.ContainsFunc(c.graph.Of(fabric.SwitchIndex(s)), misfit) {
			moved[fabric.SwitchIndex(s)] = r
		}
	}
	for s, r := range moved {
		rank[s] = r
	}
}

// fewNamed is the minimum number of switches for which a common name is evidence of a rank.
const fewNamed = 4

// isFlat reports whether the leaves are linked to each other and not to switches above them, as in a torus, a mesh or a
// dragonfly. In such a subnet switches without hosts are leaves as well.
func (c *Classes) isFlat(leaves []bool) bool {
	among, others := 0, 0
	for s := range leaves {
		for _, l := range c.graph.Of(fabric.SwitchIndex(s)) {
			switch {
			case !leaves[s]:
			case leaves[l.Peer]:
				among++
			default:
				others++
			}
		}
	}
	return among > others
}

// naming counts the switches whose names have one pattern: leaves with hosts, other switches next to such leaves, and
// all switches.
type naming struct{ leaves, others, all int }

func (c *Classes) names(leaves []bool, rank []int32) map[string]naming {
	named := map[string]naming{}
	for s := range c.Switches {
		n := named[c.Switches[s].Pattern]
		n.all++
		if leaves[s] {
			n.leaves++
		} else if rank[s] == 1 {
			n.others++
		}
		named[c.Switches[s].Pattern] = n
	}
	return named
}

// insideDirector reports whether a switch is linked to another switch with the same system GUID.
func (c *Classes) insideDirector(s fabric.SwitchIndex) bool {
	own := c.Fabric.SwitchNode(s).SystemGUID
	for _, l := range c.graph.Of(s) {
		if l.Peer != s && own != 0 && c.Fabric.SwitchNode(l.Peer).SystemGUID == own {
			return true
		}
	}
	return false
}

// mirrorsLeaf reports whether some leaf is linked to all neighbours of a switch. O(cables of its neighbours).
func (c *Classes) mirrorsLeaf(s fabric.SwitchIndex, leaves []bool) bool {
	common := map[fabric.SwitchIndex]int{}
	met := map[fabric.SwitchIndex]bool{}
	for _, l := range c.graph.Of(s) {
		if l.Peer == s || met[l.Peer] {
			continue
		}
		met[l.Peer] = true
		again := map[fabric.SwitchIndex]bool{}
		for _, m := range c.graph.Of(l.Peer) {
			if leaves[m.Peer] && !again[m.Peer] {
				again[m.Peer] = true
				common[m.Peer]++
			}
		}
	}
	for _, n := range common {
		if n == len(met) {
			return true
		}
	}
	return false
}

// Heights returns the tier of each switch. The tier is the rank of the switch, or 0 for a switch without a rank.
func (c *Classes) Heights() []int32 {
	heights := make([]int32, len(c.Switches))
	for s := range heights {
		if r := c.Switches[s].Rank; r != routing.Unranked {
			heights[s] = r
		}
	}
	return heights
}

// Tiers returns the switches of the subnet by tier, leaves first. It returns one tier if no switch is above the
// switches with hosts.
func (c *Classes) Tiers() [][]fabric.SwitchIndex {
	var tiers [][]fabric.SwitchIndex
	for s, rank := range c.Heights() {
		if !c.Fabric.SwitchNode(fabric.SwitchIndex(s)).InSubnet {
			continue
		}
		for len(tiers) <= int(rank) {
			tiers = append(tiers, nil)
		}
		tiers[rank] = append(tiers[rank], fabric.SwitchIndex(s))
	}
	return tiers
}

// distances returns the distance of each switch from the nearest switch of a set, in links.
func (c *Classes) distances(from []bool) []int32 {
	dist, queue := startAt(from)
	for i := 0; i < len(queue); i++ {
		for _, l := range c.graph.Of(queue[i]) {
			if dist[l.Peer] == routing.Unranked {
				dist[l.Peer] = dist[queue[i]] + 1
				queue = append(queue, l.Peer)
			}
		}
	}
	return dist
}

// startAt returns the start of a breadth-first search from a set: distance 0 for the switches of the set,
// [routing.Unranked] for the others, and the queue.
func startAt(set []bool) (dist []int32, queue []fabric.SwitchIndex) {
	dist = make([]int32, len(set))
	for s, first := range set {
		dist[s] = routing.Unranked
		if first {
			dist[s] = 0
			queue = append(queue, fabric.SwitchIndex(s))
		}
	}
	return dist, queue
}

// findLeaves finds the switches that are leaves because of their compute nodes. A few nodes on a few switches may be
// service nodes without a typical name, so they do not make a leaf. The result widest is the maximum number of
// neighbours of a switch that is certainly a leaf.
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
		sure[s] = n > 0 && 2*n >= usual && !c.hasBusierNeighbour(fabric.SwitchIndex(s), hosts)
		if sure[s] {
			widest = max(widest, c.Switches[s].Neighbours)
		}
	}
	leaves = slices.Clone(sure)
	for s, n := range hosts {
		if n > 0 && !sure[s] {
			leaves[s] = c.cabledLikeLeaf(fabric.SwitchIndex(s), sure, widest)
		}
	}
	return leaves, widest
}

// usualHosts returns the number of hosts on the switch of the median host, if hosts are sorted by this number.
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

// hasBusierNeighbour reports whether a neighbour of the switch has at least twice as many hosts. In this case one of
// the two switches is above the other.
func (c *Classes) hasBusierNeighbour(s fabric.SwitchIndex, hosts []int) bool {
	return slices.ContainsFunc(c.graph.Of(s), func(l routing.SwitchLink) bool { return hosts[l.Peer] >= 2*hosts[s] })
}

// cabledLikeLeaf reports whether a switch with few hosts is linked like a leaf. It must have no link to one of the
// leaves, and no more neighbours than the leaves. A switch above leaves has more neighbours than a leaf.
func (c *Classes) cabledLikeLeaf(s fabric.SwitchIndex, sure []bool, widest int) bool {
	nextToLeaf := slices.ContainsFunc(c.graph.Of(s), func(l routing.SwitchLink) bool { return sure[l.Peer] })
	return !nextToLeaf && c.Switches[s].Neighbours <= widest
}

// addEmptyLeaves adds the leaves without hosts and gives them rank 0. Such leaves are as far from the other leaves as
// roots are. They have no more neighbours than leaves, whereas roots have more.
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
