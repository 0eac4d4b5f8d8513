// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// graph is the switches of the subnet and the cables between them. An arc is one direction of a cable.
type graph struct {
	f *fabric.Fabric
	// members are the switches of the subnet in ascending order.
	members []fabric.SwitchIndex
	// hosts are, by switch, the LIDs on it with its own: what it weighs.
	hosts []uint64
	// Arcs of switch s stand from first[s] to first[s+1], by ascending port.
	first    []int32
	to, from []fabric.SwitchIndex
	port     []uint8 // at the switch that the arc leaves
	farPort  []uint8 // at the switch that it comes to
	// weight is the length of each arc. Before all routes it is hop, the square of the
	// number of LIDs, so that a way with fewer hops is the shorter one.
	weight []uint64
	hop    uint64
	// into has the arcs that lead to each switch, ascending, of switch s from intoFirst[s] on.
	into      []step
	intoFirst []int32
	// arcAt has the arc that leaves by a port, by firstPort[s]+port; none is -1.
	arcAt     []int32
	firstPort []fabric.PortIndex
}

func newGraph(f *fabric.Fabric, opt *routing.Options) *graph {
	n := len(f.Switches)
	g := &graph{f: f, hosts: make([]uint64, n), first: make([]int32, 1, n+1), firstPort: make([]fabric.PortIndex, n)}
	all := uint64(0)
	for _, e := range f.EndPorts {
		switch p := &f.Ports[e]; {
		case f.Nodes[p.Node].IsSwitch(), isAdapter(f, e):
			all += uint64(lids(f, e, opt))
		}
	}
	for s := range fabric.SwitchIndex(n) {
		g.addSwitch(s, opt)
		g.first = append(g.first, int32(len(g.to)))
	}
	g.weight, g.hop = make([]uint64, len(g.to)), all*all
	for i := range g.weight {
		g.weight[i] = g.hop
	}
	g.turn()
	return g
}

// turn lists the arcs by the switches that they lead to.
func (g *graph) turn() {
	n := len(g.hosts)
	g.into, g.intoFirst = make([]step, len(g.to)), make([]int32, n+1)
	for _, sw := range g.to {
		g.intoFirst[sw+1]++
	}
	for s := range n {
		g.intoFirst[s+1] += g.intoFirst[s]
	}
	at := slices.Clone(g.intoFirst[:n])
	for arc, sw := range g.to {
		g.into[at[sw]] = step{int32(arc), int32(g.from[arc])}
		at[sw]++
	}
}

func (g *graph) addSwitch(s fabric.SwitchIndex, opt *routing.Options) {
	f, node := g.f, g.f.SwitchNode(s)
	g.firstPort[s] = fabric.PortIndex(len(g.arcAt))
	for range int(node.NumPorts) + 1 {
		g.arcAt = append(g.arcAt, fabric.None)
	}
	if !node.InSubnet {
		return
	}
	g.members = append(g.members, s)
	g.hosts[s] = uint64(lids(f, node.FirstPort, opt))
	for p := fabric.PortIndex(1); p <= fabric.PortIndex(node.NumPorts); p++ {
		port := node.FirstPort + p
		far := f.Ports[port].Peer
		switch peer := f.PeerSwitch(port); {
		case far == fabric.None, peer == s:
		case peer == fabric.None:
			g.hosts[s] += uint64(lids(f, far, opt))
		default:
			g.arcAt[g.firstPort[s]+p] = int32(len(g.to))
			g.to, g.from = append(g.to, peer), append(g.from, s)
			g.port, g.farPort = append(g.port, uint8(p)), append(g.farPort, f.Ports[far].Num)
		}
	}
}

// arc is the arc by which a switch sends through a port, none where no other switch is behind it.
func (g *graph) arc(sw fabric.SwitchIndex, port uint8) int32 {
	return g.arcAt[g.firstPort[sw]+fabric.PortIndex(port)]
}

func isAdapter(f *fabric.Fabric, port fabric.PortIndex) bool {
	return f.Nodes[f.Ports[port].Node].Type == mad.NodeCA
}

// lids is the number of LIDs of an end port that are routed.
func lids(f *fabric.Fabric, e fabric.PortIndex, opt *routing.Options) int {
	return 1 << min(opt.LMC, f.Ports[e].LMC)
}
