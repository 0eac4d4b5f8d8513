// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"slices"

	"example.org/ibconsole/mad"
)

// Amounts counts nodes and links.
type Amounts struct {
	Nodes    int
	Switches int
	// CAs is the number of channel adapters: hosts and aggregation nodes. Aggregation is the number of aggregation
	// nodes among them.
	CAs         int
	Aggregation int
	Routers     int
	Links       int
}

// Hosts returns the number of hosts.
func (a *Amounts) Hosts() int { return a.CAs - a.Aggregation }

// Inventory counts nodes and links: those of a subnet, those that failures made unreachable, and those that were never
// connected.
type Inventory struct {
	InSubnet, Unreachable Amounts
	Outside               int
}

// Inventory counts the nodes and links of the fabric. A link is in the subnet if a subnet manager finds it. Otherwise
// the link is unreachable if one of its nodes is unreachable. O(ports).
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

// UnreachableNodes returns the nodes that failures have separated from the subnet. If one port of a node is unreachable
// and another port is in the subnet, the node is not unreachable.
func (f *Fabric) UnreachableNodes() map[NodeIndex]bool {
	nodes := make(map[NodeIndex]bool, len(f.Unreachable))
	for _, e := range f.Unreachable {
		if n := f.Ports[e].Node; !f.Nodes[n].InSubnet {
			nodes[n] = true
		}
	}
	return nodes
}

// IsUnreachable reports whether a link is outside the subnet because one of its nodes is unreachable. The argument
// nodes contains the unreachable nodes.
func (f *Fabric) IsUnreachable(l Link, nodes map[NodeIndex]bool) bool {
	return !f.Discovered(l.A) && (nodes[f.Ports[l.A].Node] || nodes[f.Ports[l.B].Node])
}

// SubnetLinks returns the links of the subnet and the links that failures made unreachable. It omits links of other
// subnets in the same file. O(ports).
func (f *Fabric) SubnetLinks() []Link {
	unreachable := f.UnreachableNodes()
	return slices.DeleteFunc(f.Links(), func(l Link) bool {
		return !f.Discovered(l.A) && !f.IsUnreachable(l, unreachable)
	})
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
