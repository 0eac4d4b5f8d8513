// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"context"
	"math"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// state describes the rest of a path from a switch on. The upper byte is the number of links between switches. Then
// come five bits for the rank of the slowest rate, and three bits for the lowest MTU.
type state uint16

const (
	// unreached marks a switch whose packets do not arrive. open marks a switch that was not yet visited. mixed marks a
	// switch with different states for the LIDs of a group.
	mixed     state = 0xfffd
	unreached state = 0xfffe
	open      state = 0xffff

	maxHops  = 62 // of links between switches
	oneHop   = 1 << 8
	mtuMask  = 0x07
	rankMask = 0xf8
)

// arrived is the state at the destination's own switch.
const arrived state = fullRank<<3 | fullMTU

func (s state) hops() uint8  { return uint8(s >> 8) }
func (s state) rank() uint16 { return uint16(s) >> 3 & 31 }
func (s state) mtu() uint8   { return uint8(s & mtuMask) }

// over returns the state one link before s.
func (s state) over(link state) state {
	if s >= maxHops<<8 {
		return unreached
	}
	return s&0xff00 + oneHop + min(s&rankMask, link&rankMask) + min(s&mtuMask, link&mtuMask)
}

// wire describes the link at a port of a switch and the target at its other end.
type wire struct {
	// to is a switch, or nowhere, or a value below nowhere for an end port.
	to   int32
	link state
}

const nowhere int32 = -1

func portOf(to int32) fabric.PortIndex { return fabric.PortIndex(-2 - to) }

// toPort returns the target of a wire that leads to an end port. No wire leads to fabric.None.
func toPort(end fabric.PortIndex) int32 {
	if end == fabric.None {
		return math.MinInt32
	}
	return int32(-2 - end)
}

// newWires returns the wire of each entry of each switch: wires[sw<<8|entry].
func newWires(ctx context.Context, f *fabric.Fabric, r *rates) ([]wire, error) {
	w := make([]wire, len(f.Switches)<<8)
	err := routing.ForEach(ctx, len(f.Switches), nil, func(_, s int) {
		wiresOf(f, r, &f.Nodes[f.Switches[s]], w[s<<8:(s+1)<<8])
	})
	return w, err
}

func wiresOf(f *fabric.Fabric, r *rates, node *fabric.Node, row []wire) {
	for i := range row {
		row[i].to = nowhere
	}
	row[0].to = toPort(node.FirstPort)
	for p := 1; p <= int(node.NumPorts); p++ {
		port := &f.Ports[node.FirstPort+fabric.PortIndex(p)]
		if port.Peer == fabric.None {
			continue
		}
		link := arrived
		if g := port.Gbps(); g > 0 {
			link = link&^rankMask | state(r.rank(g))<<3
		}
		if port.MTU > 0 && port.MTU < fullMTU {
			link = link&^mtuMask | state(port.MTU)
		}
		row[p].link = link
		if sw := f.PeerSwitch(node.FirstPort + fabric.PortIndex(p)); sw != fabric.None {
			row[p].to = int32(sw)
		} else {
			row[p].to = toPort(port.Peer)
		}
	}
}

// uniform returns the description of the wires between switches if all are equal, or -1 if they differ.
func uniform(wires []wire) int {
	link := -1
	for i := range wires {
		switch {
		case wires[i].to < 0 || int(wires[i].link) == link:
		case link >= 0:
			return -1
		default:
			link = int(wires[i].link)
		}
	}
	return link
}

// nearest appends the reachable switches to a slice. The nearest switch comes first.
func nearest(hops []uint8, out []int32) []int32 {
	var count [257]int32
	for _, h := range hops {
		count[int(h)+1]++
	}
	reached := int32(0)
	for h := range routing.NoHops {
		reached += count[h+1]
	}
	for h := 1; h < len(count); h++ {
		count[h] += count[h-1]
	}
	if cap(out) < len(hops) {
		out = make([]int32, len(hops))
	}
	out = out[:len(hops)]
	for sw, h := range hops {
		out[count[h]] = int32(sw)
		count[h]++
	}
	return out[:reached]
}
