// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Graph holds the cables between the switches of a subnet in flat arrays.
type Graph struct {
	// Links holds the cables of switch 0 in ascending order of ports, then the cables of switch 1, and so on. First
	// holds the index of the first cable of each switch, followed by the number of all cables.
	Links []SwitchLink
	First []int32
}

// SwitchLink is a cable as seen from one switch.
type SwitchLink struct {
	// Peer is the switch at the other end. It may be the same switch.
	Peer fabric.SwitchIndex
	// Port is the port at the near end of the cable, PeerPort the port at the far end.
	Port, PeerPort uint8
}

// NewGraph collects the cables of a fabric. O(ports).
func NewGraph(f *fabric.Fabric) *Graph {
	ports := len(f.Switches) - len(f.EndPorts) // the ports of switches less those with hosts
	for _, n := range f.Switches {
		ports += int(f.Nodes[n].NumPorts)
	}
	g := &Graph{First: make([]int32, 1, len(f.Switches)+1), Links: make([]SwitchLink, 0, max(0, ports))}
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		for p := 1; n.InSubnet && p <= int(n.NumPorts); p++ {
			port := n.FirstPort + fabric.PortIndex(p)
			if peer := f.PeerSwitch(port); peer != fabric.None {
				g.Links = append(g.Links, SwitchLink{
					Peer: peer, Port: uint8(p), PeerPort: f.Ports[f.Ports[port].Peer].Num,
				})
			}
		}
		g.First = append(g.First, int32(len(g.Links)))
	}
	return g
}

// Of returns the cables of a switch.
func (g *Graph) Of(sw fabric.SwitchIndex) []SwitchLink { return g.Links[g.First[sw]:g.First[sw+1]] }

// Switches returns the number of switches, including switches outside the subnet.
func (g *Graph) Switches() int { return len(g.First) - 1 }

// neighbours returns the other switches to which each switch is linked, in flat arrays like those of the graph. Each
// neighbour is listed once.
func (g *Graph) neighbours() (list []fabric.SwitchIndex, first []int32) {
	n := g.Switches()
	first = make([]int32, 1, n+1)
	list = make([]fabric.SwitchIndex, 0, len(g.Links))
	met := make([]fabric.SwitchIndex, n)
	for s := range fabric.SwitchIndex(n) {
		met[s] = s + 1
		for _, l := range g.Of(s) {
			if met[l.Peer] != s+1 {
				met[l.Peer] = s + 1
				list = append(list, l.Peer)
			}
		}
		first = append(first, int32(len(list)))
	}
	return list, first
}

// Subgraph is a graph from which some cables are removed.
type Subgraph struct {
	whole *Graph
	// left holds the remaining cables of the switches that have lost cables. cut marks these switches.
	left map[fabric.SwitchIndex][]SwitchLink
	cut  []bool
}

// Without returns the graph without the given links of its fabric. O(switches + links of their switches).
func (g *Graph) Without(f *fabric.Fabric, links []fabric.Link) *Subgraph {
	p := &Subgraph{g, map[fabric.SwitchIndex][]SwitchLink{}, make([]bool, g.Switches())}
	p.Change(f, links)
	return p
}

// Change replaces the set of removed links. O(links of their switches).
func (p *Subgraph) Change(f *fabric.Fabric, links []fabric.Link) {
	for sw := range p.left {
		p.cut[sw] = false
	}
	clear(p.left)
	for _, l := range links {
		for _, port := range [2]fabric.PortIndex{l.A, l.B} {
			sw, num := f.Nodes[f.Ports[port].Node].Switch, f.Ports[port].Num
			if sw == fabric.None {
				continue
			}
			left, ok := p.left[sw]
			if !ok {
				left = slices.Clone(p.whole.Of(sw))
			}
			p.cut[sw] = true
			p.left[sw] = slices.DeleteFunc(left, func(l SwitchLink) bool { return l.Port == num })
		}
	}
}

// Of returns the cables of a switch.
func (p *Subgraph) Of(sw fabric.SwitchIndex) []SwitchLink {
	if p.cut[sw] {
		return p.left[sw]
	}
	return p.whole.Of(sw)
}

// HasLost reports whether a switch has lost cables.
func (p *Subgraph) HasLost(sw fabric.SwitchIndex) bool { return p.cut[sw] }

// UnionFind divides switches into sets. Each set has a representative. UnionFind holds, for each switch, the next
// switch towards the representative of its set. A representative holds itself.
type UnionFind []fabric.SwitchIndex

// NewUnionFind returns n sets of one switch each.
func NewUnionFind(n int) UnionFind {
	u := make(UnionFind, n)
	for i := range u {
		u[i] = fabric.SwitchIndex(i)
	}
	return u
}

// Root returns the representative of the set of a switch.
func (u UnionFind) Root(sw fabric.SwitchIndex) fabric.SwitchIndex {
	for u[sw] != sw {
		u[sw] = u[u[sw]]
		sw = u[sw]
	}
	return sw
}

// Join unites the sets of two switches, and reports whether they were different sets.
func (u UnionFind) Join(a, b fabric.SwitchIndex) bool {
	a, b = u.Root(a), u.Root(b)
	u[a] = b
	return a != b
}

// RouterPorts returns the number of router ports in the subnet. Some engines do not route to them.
func RouterPorts(f *fabric.Fabric) (n int) {
	for _, e := range f.EndPorts {
		if f.Nodes[f.Ports[e].Node].Type == mad.NodeRouter {
			n++
		}
	}
	return n
}
