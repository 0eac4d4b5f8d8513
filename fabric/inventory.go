// SPDX-License-Identifier: Apache-2.0

package fabric

import "example.org/ibconsole/mad"

// Amounts counts nodes and links.
type Amounts struct {
	Nodes    int
	Switches int
	// CAs counts channel adapters: aggregation nodes, which Aggregation counts, and hosts.
	CAs         int
	Aggregation int
	Routers     int
	Links       int
}

// Hosts returns the number of hosts.
func (a *Amounts) Hosts() int { return a.CAs - a.Aggregation }

// Inventory counts the nodes and links of a subnet, the nodes and links that failures made unreachable, and nodes never
// connected.
type Inventory struct {
	InSubnet, Unreachable Amounts
	Outside               int
}

// Inventory counts nodes and links. A link is in the subnet if a subnet manager finds it. Otherwise it is unreachable
// if one of its nodes is. O(ports).
func (f *Fabric) Inventory() Inventory {
	var inv Inventory
	unreachable := f.UnreachableNodes()
	for i := range f.NumNodes() {
		switch n := &f.Nodes[i]; {
		case n.InSubnet:
			inv.InSubnet.count(f, i)
		case unreachable[i]:
			inv.Unreachable.count(f, i)
		default:
			inv.Outside++
		}
	}
	for _, l := range f.Links() {
		switch {
		case f.Discovered(l.A):
			inv.InSubnet.Links++
		case f.IsUnreachable(l, unreachable):
			inv.Unreachable.Links++
		}
	}
	return inv
}

// UnreachableNodes returns the nodes that failures have separated from the subnet. A node with an unreachable end port
// is not among them if another of its ports is in the subnet.
func (f *Fabric) UnreachableNodes() map[NodeIndex]bool {
	nodes := make(map[NodeIndex]bool, len(f.Unreachable))
	for _, e := range f.Unreachable {
		if n := f.Ports[e].Node; !f.Nodes[n].InSubnet {
			nodes[n] = true
		}
	}
	return nodes
}

// IsUnreachable reports whether a link is outside the subnet because one of its nodes is among the unreachable ones.
func (f *Fabric) IsUnreachable(l Link, nodes map[NodeIndex]bool) bool {
	return !f.Discovered(l.A) && (nodes[f.Ports[l.A].Node] || nodes[f.Ports[l.B].Node])
}

func (a *Amounts) count(f *Fabric, node NodeIndex) {
	a.Nodes++
	switch n := &f.Nodes[node]; {
	case n.IsSwitch():
		a.Switches++
	case n.Type == mad.NodeRouter:
		a.Routers++
	default:
		a.CAs++
		if f.IsAggregation(node) {
			a.Aggregation++
		}
	}
}
