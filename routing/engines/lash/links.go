// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// network holds the switches of the subnet with consecutive numbers. It lists the neighbours of each switch in the
// order of preference.
type network struct {
	f *fabric.Fabric
	// switches maps numbers to switch indexes. numbers maps switch indexes to numbers, or to none for a switch outside
	// the subnet.
	switches []fabric.SwitchIndex
	numbers  []int32
	links    [][]link // by number
}

// link is the set of cables from a switch to one neighbour.
type link struct {
	peer int32
	// ports lists the ports that routes to successive LIDs use in turn.
	ports []uint8
}

// newNetwork finds the neighbours in the order of ports. OpenSM uses only the first port to a neighbour, but with mesh
// analysis it uses all ports in turn.
func newNetwork(f *fabric.Fabric, opt *routing.Options) *network {
	n := &network{f: f, numbers: make([]int32, len(f.Switches))}
	for s := range n.numbers {
		n.numbers[s] = fabric.None
		if f.SwitchNode(fabric.SwitchIndex(s)).InSubnet {
			n.numbers[s] = int32(len(n.switches))
			n.switches = append(n.switches, fabric.SwitchIndex(s))
		}
	}
	g := routing.NewGraph(f)
	at := make([]int, len(n.switches)) // the index of a neighbour among the links of a switch, plus 1
	for _, s := range n.switches {
		var links []link
		for _, l := range g.Of(s) {
			peer := n.numbers[l.Peer]
			switch {
			case l.Peer == s:
			case at[peer] == 0:
				links = append(links, link{peer: peer, ports: []uint8{l.Port}})
				at[peer] = len(links)
			case opt.MeshAnalysis:
				ports := &links[at[peer]-1].ports
				*ports = append(*ports, l.Port)
			}
		}
		for _, l := range links {
			at[l.peer] = 0
		}
		n.links = append(n.links, links)
	}
	return n
}

// indexOf returns the index, among the links of switch sw, of the link to another switch.
func (n *network) indexOf(sw, peer int32) int32 {
	for i, l := range n.links[sw] {
		if l.peer == peer {
			return int32(i)
		}
	}
	return fabric.None
}

// arcs numbers the links of all switches. The links of switch s have numbers from first[s] on.
func (n *network) arcs() (first []int32) {
	first = make([]int32, 1, len(n.links)+1)
	for s := range n.links {
		first = append(first, first[s]+int32(len(n.links[s])))
	}
	return first
}
