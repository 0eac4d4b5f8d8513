// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// Graph is the cables between the switches of a subnet, in flat arrays.
type Graph struct {
	// Links are those of switch 0 in ascending order of ports, then those of
	// switch 1, and so on; First has where each begins, and the end.
	Links []SwitchLink
	First []int32
}

// SwitchLink is a cable as seen from one switch.
type SwitchLink struct {
	// Peer is the switch at the other end, which may be the same one.
	Peer fabric.SwitchIndex
	// Port leads to it, and arrives there at PeerPort.
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

// Of are the cables of one switch.
func (g *Graph) Of(sw fabric.SwitchIndex) []SwitchLink { return g.Links[g.First[sw]:g.First[sw+1]] }

// Switches is the number of switches, those outside the subnet included.
func (g *Graph) Switches() int { return len(g.First) - 1 }

// neighbours lists for each switch the others that it is linked to, each once, in flat arrays like the graph's.
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

// Subgraph is a graph without some of its cables.
type Subgraph struct {
	whole *Graph
	// left are the cables of the switches that have lost some, which cut marks.
	left map[fabric.SwitchIndex][]SwitchLink
	cut  []bool
}

// Without takes links of the graph's fabric away. O(switches + links of their switches).
func (g *Graph) Without(f *fabric.Fabric, links []fabric.Link) *Subgraph {
	p := &Subgraph{g, map[fabric.SwitchIndex][]SwitchLink{}, make([]bool, g.Switches())}
	p.Change(f, links)
	return p
}

// Change takes these links away instead of those before. O(links of their switches).
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

// Of are the cables of one switch.
func (p *Subgraph) Of(sw fabric.SwitchIndex) []SwitchLink {
	if p.cut[sw] {
		return p.left[sw]
	}
	return p.whole.Of(sw)
}

// HasLost reports whether a switch has lost cables.
func (p *Subgraph) HasLost(sw fabric.SwitchIndex) bool { return p.cut[sw] }
