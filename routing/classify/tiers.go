// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// climb ranks all switches above some leaves: level by level those that are linked to the level below. One that
// is linked to more switches of its own level than of the level below belongs above these: a shortcut from a
// leaf to a root does not make that a middle switch. O(links).
func (c *Classes) climb(leaves []bool) []int32 {
	rank := make([]int32, len(leaves))
	var level []fabric.SwitchIndex
	for s := range rank {
		rank[s] = routing.Unranked
		if leaves[s] {
			rank[s] = 0
			level = append(level, fabric.SwitchIndex(s))
		}
	}
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

// settle leaves those of a new level in it that belong there; the others lose their rank, and get another one from
// those that stay. Where none would stay, all do.
func (c *Classes) settle(level []fabric.SwitchIndex, rank []int32) []fabric.SwitchIndex {
	var above, stay []fabric.SwitchIndex
	for _, s := range level {
		beside, below := 0, 0
		for _, l := range c.graph.Of(s) {
			switch rank[l.Peer] {
			case rank[s]:
				beside++
			case rank[s] - 1:
				below++
			}
		}
		if beside > below {
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

// addDrained adds the leaves without compute nodes to those with some, and reports whether there are any: switches two
// ranks up or more that are linked to nothing but what is above one of the leaves, or are named as leaves are.
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
		case n.leaves == 0 && n.all > 1, !c.besideLeaf(fabric.SwitchIndex(s), leaves):
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

// rankByName ranks a switch as nearly all of its name are where its cables fit there, too: one that has lost all links
// downwards looks as if it were on top.
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

// fewNamed is of how many switches it takes a name to say something.
const fewNamed = 4

// isFlat reports whether the leaves are linked among themselves rather than to what is above them: a torus, a mesh, a
// dragonfly. A switch without hosts is one of them then.
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

// naming is how many switches have a pattern of names: leaves with hosts, others next to these, and all.
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

// insideDirector reports whether a switch is linked to another of its system.
func (c *Classes) insideDirector(s fabric.SwitchIndex) bool {
	own := c.Fabric.SwitchNode(s).SystemGUID
	for _, l := range c.graph.Of(s) {
		if l.Peer != s && own != 0 && c.Fabric.SwitchNode(l.Peer).SystemGUID == own {
			return true
		}
	}
	return false
}

// besideLeaf reports whether all neighbours of a switch are neighbours of one leaf. O(cables of its neighbours).
func (c *Classes) besideLeaf(s fabric.SwitchIndex, leaves []bool) bool {
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

// Heights are the tiers of all switches: their rank, and 0 for those that no path leads to.
func (c *Classes) Heights() []int32 {
	heights := make([]int32, len(c.Switches))
	for s := range heights {
		if r := c.Switches[s].Rank; r != routing.Unranked {
			heights[s] = r
		}
	}
	return heights
}

// Tiers are the switches of the subnet by their height, leaves first.
// There is one tier where nothing is above the switches with hosts.
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

// distances are those of all switches from the nearest of some.
func (c *Classes) distances(from []bool) []int32 {
	dist := make([]int32, len(from))
	var queue []fabric.SwitchIndex
	for s := range dist {
		dist[s] = routing.Unranked
		if from[s] {
			dist[s] = 0
			queue = append(queue, fabric.SwitchIndex(s))
		}
	}
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
