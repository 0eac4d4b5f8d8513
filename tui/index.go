// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/tui/draw"
)

// index is what the panes want to know of a fabric beyond the fabric itself,
// computed once for each.
type index struct {
	f *fabric.Fabric
	// tiers are the switches of the subnet by the number of links to the nearest
	// switch with hosts, each in the order of names; outside those that no link
	// leads to; loose the nodes that hang on no switch.
	tiers   [][]fabric.SwitchIndex
	outside []fabric.SwitchIndex
	loose   []fabric.NodeIndex

	switches, hosts, links int

	// search are the names of the nodes in lower case, rank their places in the
	// order of names.
	search []string
	rank   []int32
}

// newIndex takes O(ports + nodes log nodes).
func newIndex(f *fabric.Fabric) *index {
	ix := &index{f: f}
	ix.count()
	ix.name()
	tier := ix.tier()
	for s, n := range f.Switches {
		switch t := int(tier[s]); {
		case !f.Nodes[n].InSubnet:
			ix.outside = append(ix.outside, fabric.SwitchIndex(s))
		default:
			for len(ix.tiers) <= t {
				ix.tiers = append(ix.tiers, nil)
			}
			ix.tiers[t] = append(ix.tiers[t], fabric.SwitchIndex(s))
		}
	}
	for _, list := range append(ix.tiers, ix.outside) {
		slices.SortFunc(list, func(a, b fabric.SwitchIndex) int { return cmp.Compare(ix.rank[f.Switches[a]], ix.rank[f.Switches[b]]) })
	}
	return ix
}

func (ix *index) count() {
	f := ix.f
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case !n.IsSwitch() && !ix.onSwitch(n):
			ix.loose = append(ix.loose, fabric.NodeIndex(i))
			fallthrough
		case !n.IsSwitch() && n.InSubnet:
			ix.hosts++
		case n.IsSwitch() && n.InSubnet:
			ix.switches++
		}
	}
	for i := range f.Ports {
		if f.Ports[i].Peer > fabric.PortIndex(i) && f.Nodes[f.Ports[i].Node].InSubnet {
			ix.links++
		}
	}
}

func (ix *index) onSwitch(n *fabric.Node) bool {
	for p := range n.Slots() {
		if ix.f.PeerSwitch(p) != fabric.None {
			return true
		}
	}
	return false
}

// tier is the distance of each switch from the nearest switch with hosts; all
// are 0 where there are no hosts.
func (ix *index) tier() []int32 {
	f := ix.f
	tier := make([]int32, len(f.Switches))
	var queue []fabric.SwitchIndex
	for s := range f.Switches {
		tier[s] = fabric.None
		if ix.hasHosts(fabric.SwitchIndex(s)) {
			tier[s] = 0
			queue = append(queue, fabric.SwitchIndex(s))
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		n := f.SwitchNode(s)
		for p := range n.Ports() {
			if peer := f.PeerSwitch(p); peer != fabric.None && tier[peer] == fabric.None {
				tier[peer] = tier[s] + 1
				queue = append(queue, peer)
			}
		}
	}
	for s := range tier {
		tier[s] = max(tier[s], 0)
	}
	return tier
}

// hasHosts says whether a switch has a link to a node that is no switch.
func (ix *index) hasHosts(sw fabric.SwitchIndex) bool {
	n := ix.f.SwitchNode(sw)
	for p := range n.Ports() {
		if peer := ix.f.PeerNode(p); peer != fabric.None && !ix.f.Nodes[peer].IsSwitch() {
			return true
		}
	}
	return false
}

// name sorts the nodes by their names.
func (ix *index) name() {
	n := len(ix.f.Nodes)
	names := make([]string, n)
	ix.search, ix.rank = make([]string, n), make([]int32, n)
	by := make([]int32, n)
	for i := range n {
		names[i] = ix.f.NodeName(fabric.NodeIndex(i))
		ix.search[i] = strings.ToLower(names[i])
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return cmp.Or(draw.Natural(names[a], names[b]), cmp.Compare(a, b)) })
	for place, node := range by {
		ix.rank[node] = int32(place)
	}
}

// up counts the ports of a node that have a link.
func up(f *fabric.Fabric, n *fabric.Node) int {
	k := 0
	for p := range n.Slots() {
		if f.Ports[p].Linked() {
			k++
		}
	}
	return k
}
