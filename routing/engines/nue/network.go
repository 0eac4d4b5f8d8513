// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"cmp"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// network holds the switches of the subnet and the channels between them. A channel is one direction of a cable.
// Switches are numbered in the order of their LIDs as OpenSM compares LIDs: low byte first.
type network struct {
	f        *fabric.Fabric
	opt      *routing.Options
	switches []fabric.SwitchIndex
	number   []int32 // by switch index, None outside the subnet
	// The channels that leave switch s are first[s] to first[s+1]-1, by ascending port. back is the channel of the same
	// cable in the opposite direction.
	first          []int32
	from, to, back []int32
	port, farPort  []uint8
	// length is the length of each channel, as a step to the switch where the channel ends. Initially it is the square
	// of the number of LIDs. lengths holds the same lengths, grouped by the switch that the channels leave.
	length  []step
	lengths [][]step
	// load holds, for each switch, the number of LIDs from which the switch sends to a destination: its own LIDs and
	// the LIDs of its hosts. OpenSM counts them in 8 bits.
	load []uint64
}

func newNetwork(f *fabric.Fabric, opt *routing.Options) *network {
	n := &network{f: f, opt: opt, first: make([]int32, 1), number: make([]int32, len(f.Switches))}
	for s := range f.NumSwitches() {
		n.number[s] = fabric.None
		if f.SwitchNode(s).InSubnet {
			n.switches = append(n.switches, s)
		}
	}
	slices.SortFunc(n.switches, func(a, b fabric.SwitchIndex) int {
		return cmp.Compare(bits.ReverseBytes16(f.SwitchLID(a)), bits.ReverseBytes16(f.SwitchLID(b)))
	})
	for i, s := range n.switches {
		n.number[s] = int32(i)
	}
	for i := range n.switches {
		n.addSwitch(int32(i))
	}
	n.pair()
	all := uint64(0)
	for _, e := range f.EndPorts {
		if isRouted(f, e) {
			all += uint64(n.lids(e))
		}
	}
	for c, to := range n.to {
		n.length = append(n.length, stepTo(to, all*all)|placeOf(n.back[c]-n.first[to]))
	}
	for s := range int32(len(n.switches)) {
		low, high := n.out(s)
		n.lengths = append(n.lengths, n.length[low:high])
	}
	return n
}

func (n *network) addSwitch(s int32) {
	node := n.f.SwitchNode(n.switches[s])
	load := n.lids(node.FirstPort)
	for p := fabric.PortIndex(1); p <= fabric.PortIndex(node.NumPorts); p++ {
		port := node.FirstPort + p
		far := n.f.Ports[port].Peer
		switch peer := n.f.PeerSwitch(port); {
		case far == fabric.None, peer == n.switches[s]:
		case peer == fabric.None:
			load += n.lids(far)
		default:
			n.from, n.to = append(n.from, s), append(n.to, n.number[peer])
			n.port, n.farPort = append(n.port, uint8(p)), append(n.farPort, n.f.Ports[far].Num)
		}
	}
	n.load = append(n.load, uint64(uint8(load)))
	n.first = append(n.first, int32(len(n.to)))
}

// pair finds the opposite of each channel.
func (n *network) pair() {
	n.back = make([]int32, len(n.to))
	for c, to := range n.to {
		for d := n.first[to]; d < n.first[to+1]; d++ {
			if n.port[d] == n.farPort[c] {
				n.back[c] = d
			}
		}
	}
}

// out returns the range of channels that leave switch s: the first channel, and the end of the range.
func (n *network) out(s int32) (low, high int32) { return n.first[s], n.first[s+1] }

// shortest returns the length of the shortest channel, or 1 if there are no channels.
func (n *network) shortest() uint64 {
	if len(n.length) == 0 {
		return 1
	}
	return slices.Min(n.length).distance()
}

// lids returns the number of LIDs of an end port that are routed.
func (n *network) lids(e fabric.PortIndex) int { return 1 << min(n.opt.LMC, n.f.Ports[e].LMC) }

// isRouted reports whether an end port is a destination. Ports of routers are not destinations, as in OpenSM's engine.
func isRouted(f *fabric.Fabric, e fabric.PortIndex) bool {
	node := &f.Nodes[f.Ports[e].Node]
	return node.IsSwitch() || node.Type == mad.NodeCA
}

// target is an end port to which tables have routes. port is the port of the switch that leads to it, or 0 for the
// switch itself.
type target struct {
	sw    int32
	local uint8
	lid   uint16
	lids  int
}

func (n *network) target(e fabric.PortIndex) (target, bool) {
	sw, local := n.f.AttachedSwitch(e)
	if sw == fabric.None || n.number[sw] == fabric.None {
		return target{}, false
	}
	return target{n.number[sw], local, n.f.Ports[e].LID, n.lids(e)}, true
}

// parts distributes the destinations over VLs in turn, in OpenSM's order of ports. In each VL, adapters come before
// switches. OpenSM does the same if it is built without METIS, as Debian's OpenSM is (osm_ucast_nue.c).
func (n *network) parts(vls int) [][]target {
	parts := make([][]target, vls)
	turn := 0
	for _, e := range n.f.EndPorts {
		t, ok := n.target(e)
		if !ok || !isRouted(n.f, e) || t.local == 0 && !n.opt.NueIncludeSwitches {
			continue
		}
		parts[turn] = append(parts[turn], t)
		turn = (turn + 1) % vls
	}
	for _, part := range parts {
		slices.SortStableFunc(part, func(a, b target) int { return switchesLast(a) - switchesLast(b) })
	}
	return parts
}

func switchesLast(t target) int {
	if t.local == 0 {
		return 1
	}
	return 0
}
