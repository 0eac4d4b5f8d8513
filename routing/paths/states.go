// SPDX-License-Identifier: Apache-2.0

package paths

import "example.org/ibconsole/fabric"

// state is what a path from a switch on is like: the links in the upper byte, then
// five bits of the slowest rate's rank and three of the least MTU.
type state uint16

const (
	// unreached is a switch from which packets do not arrive, open one that was not
	// looked at yet.
	unreached state = 0xfffe
	open      state = 0xffff

	maxHops  = 64
	oneHop   = 1 << 8
	mtuMask  = 0x07
	rankMask = 0xf8
)

// arrived is the state at the destination's own switch.
const arrived state = fullRank<<3 | fullMTU

func (s state) hops() uint8  { return uint8(s >> 8) }
func (s state) rank() uint16 { return uint16(s) >> 3 & 31 }
func (s state) mtu() uint8   { return uint8(s & mtuMask) }

// over is the state one link before s.
func (s state) over(link state) state {
	if s >= maxHops<<8 {
		return unreached
	}
	return s&0xff00 + oneHop + min(s&rankMask, link&rankMask) + min(s&mtuMask, link&mtuMask)
}

// wire is what is behind a port of a switch.
type wire struct {
	// to is a switch, or nowhere, or below that an end port.
	to   int32
	link state
}

const nowhere int32 = -1

func portOf(to int32) int32 { return -2 - to }

// newWires are those of all entries of all switches: wires[sw<<8|entry].
func newWires(f *fabric.Fabric, r *rates) []wire {
	w := make([]wire, len(f.Switches)<<8)
	for i := range w {
		w[i].to = nowhere
	}
	for s, n := range f.Switches {
		node := &f.Nodes[n]
		row := w[s<<8:]
		row[0].to = -2 - node.FirstPort
		for p := 1; p <= int(node.NumPorts); p++ {
			port := &f.Ports[node.FirstPort+int32(p)]
			if port.Peer == fabric.None {
				continue
			}
			link := arrived
			if g := port.Gbps(); g > 0 {
				link = link&^rankMask | state(r.rank[g])<<3
			}
			if port.MTU > 0 && port.MTU < fullMTU {
				link = link&^mtuMask | state(port.MTU)
			}
			row[p].link = link
			if sw := f.PeerSwitch(node.FirstPort + int32(p)); sw != fabric.None {
				row[p].to = sw
			} else {
				row[p].to = -2 - port.Peer
			}
		}
	}
	return w
}

// order gives the switches in the order of their distance from one.
type order struct {
	first []int32 // of each switch, into peers, and one more
	peers []int32
}

func newOrder(f *fabric.Fabric) *order {
	o := &order{first: make([]int32, 1, len(f.Switches)+1)}
	for _, n := range f.Switches {
		node := &f.Nodes[n]
		start := len(o.peers)
		for p := 1; p <= int(node.NumPorts); p++ {
			sw := f.PeerSwitch(node.FirstPort + int32(p))
			if sw == fabric.None {
				continue
			}
			known := false
			for _, have := range o.peers[start:] {
				known = known || have == sw
			}
			if !known {
				o.peers = append(o.peers, sw)
			}
		}
		o.first = append(o.first, int32(len(o.peers)))
	}
	return o
}

// from appends the switches that can be reached from one, the nearest first. seen
// must be false everywhere, and is so again.
func (o *order) from(sw int32, seen []bool, out []int32) []int32 {
	out = append(out[:0], sw)
	seen[sw] = true
	for i := 0; i < len(out); i++ {
		for _, peer := range o.peers[o.first[out[i]]:o.first[out[i]+1]] {
			if !seen[peer] {
				seen[peer] = true
				out = append(out, peer)
			}
		}
	}
	for _, s := range out {
		seen[s] = false
	}
	return out
}
