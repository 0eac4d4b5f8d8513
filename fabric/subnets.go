// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"slices"
)

// Subnet describes a subnet of a fabric that holds several.
type Subnet struct {
	// Seat is a port of the subnet: port 0 of its first switch, or the first end port if it has no switch.
	Seat PortIndex
	Amounts
}

// Subnets returns the subnets of the fabric. Switches forward packets from port to port. Adapters and routers do not,
// so a node with several ports can belong to several subnets. Two adapters that are cabled to each other are a subnet.
// A node without a link belongs to no subnet. The subnet of [Fabric.SMPort] comes first. The others follow, the largest
// first. O(ports).
func Subnets(f *Fabric) []Subnet {
	of := make([]PortIndex, len(f.Ports)) // a port of the same subnet, the port itself for one port of each subnet
	for i := range of {
		of[i] = f.EndPortOf(PortIndex(i))
	}
	find := func(p PortIndex) PortIndex {
		for of[p] != p {
			of[p] = of[of[p]]
			p = of[p]
		}
		return p
	}
	links := f.Links()
	for _, l := range links {
		of[find(l.A)] = find(l.B)
	}
	index := map[PortIndex]int{}
	var all []Subnet
	for _, l := range links {
		root := find(l.A)
		i, ok := index[root]
		if !ok {
			i = len(all)
			index[root], all = i, append(all, Subnet{Seat: None})
		}
		all[i].Links++
	}
	for n := range f.NumNodes() {
		node := &f.Nodes[n]
		seen := map[int]bool{}
		for p := range node.Ports() {
			i, ok := index[find(p)]
			if f.Ports[p].Peer == None || !ok || seen[i] {
				continue
			}
			seen[i] = true
			s := &all[i]
			s.count(f, n)
			if s.Seat == None || node.IsSwitch() && !f.Nodes[f.Ports[s.Seat].Node].IsSwitch() {
				s.Seat = f.EndPortOf(p)
			}
		}
	}
	first := func(s Subnet) bool { return f.SMPort != None && find(s.Seat) == find(f.SMPort) }
	slices.SortStableFunc(all, func(a, b Subnet) int {
		if first(a) != first(b) {
			if first(a) {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Nodes, a.Nodes)
	})
	return all
}
