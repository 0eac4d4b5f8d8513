// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"math"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// graph holds the switches of the subnet and the cables between them. An arc is one direction of a cable.
type graph struct {
	f *fabric.Fabric
	// members lists the switches of the subnet in ascending order.
	members []fabric.SwitchIndex
	// hosts is the weight of each switch: the number of LIDs on the switch, including its own.
	hosts []uint32
	// The arcs of switch s are first[s] to first[s+1]-1, by ascending port.
	first    []int32
	to, from []fabric.SwitchIndex
	port     []uint8 // at the switch that the arc leaves
	farPort  []uint8 // at the switch where it arrives
	back     []int32 // the other direction of the cable
	// weight is the length of each arc, in the direction of packets. Initially it is the length hop, the square of the
	// number of LIDs, so that a path with fewer hops is shorter. All routes together at most double it. Sums stay below
	// 1<<32 if hop is less than infinity.
	weight []uint32
	hop    uint64
	// arcAt holds the arc that leaves switch s by a port, at firstPort[s]+port. It is -1 if the port has no arc.
	arcAt     []int32
	firstPort []fabric.PortIndex
}

func newGraph(f *fabric.Fabric, opt *routing.Options) *graph {
	n := len(f.Switches)
	most := len(f.Ports) // arcs
	g := &graph{
		f: f, hosts: make([]uint32, n), first: make([]int32, 1, n+1), firstPort: make([]fabric.PortIndex, n),
		to: make([]fabric.SwitchIndex, 0, most), from: make([]fabric.SwitchIndex, 0, most),
		port: make([]uint8, 0, most), farPort: make([]uint8, 0, most), arcAt: make([]int32, 0, most),
	}
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
	g.hop = all * all
	g.weight = slices.Repeat([]uint32{uint32(min(g.hop, math.MaxUint32))}, len(g.to))
	g.back = make([]int32, 0, len(g.to))
	for a, sw := range g.to {
		g.back = append(g.back, g.arc(sw, g.farPort[a]))
	}
	return g
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
	g.hosts[s] = uint32(lids(f, node.FirstPort, opt))
	for p := fabric.PortIndex(1); p <= fabric.PortIndex(node.NumPorts); p++ {
		port := node.FirstPort + p
		far := f.Ports[port].Peer
		switch peer := f.PeerSwitch(port); {
		case far == fabric.None, peer == s:
		case peer == fabric.None:
			g.hosts[s] += uint32(lids(f, far, opt))
		default:
			g.arcAt[g.firstPort[s]+p] = int32(len(g.to))
			g.to, g.from = append(g.to, peer), append(g.from, s)
			g.port, g.farPort = append(g.port, uint8(p)), append(g.farPort, f.Ports[far].Num)
		}
	}
}

// arc returns the arc by which a switch sends through a port, or none if the port leads to no other switch.
func (g *graph) arc(sw fabric.SwitchIndex, port uint8) int32 {
	return g.arcAt[g.firstPort[sw]+fabric.PortIndex(port)]
}

func isAdapter(f *fabric.Fabric, port fabric.PortIndex) bool {
	return f.Nodes[f.Ports[port].Node].Type == mad.NodeCA
}

// lids returns the number of LIDs of an end port that are routed.
func lids(f *fabric.Fabric, e fabric.PortIndex, opt *routing.Options) int {
	return 1 << min(opt.LMC, f.Ports[e].LMC)
}
