// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// layout is the ports of one switch in their search order.
type layout struct {
	// numPorts counts port 0.
	numPorts int
	// ordered says that places in the order differ from port numbers. portAt and
	// placeOf translate; what is no port stays as it is.
	ordered         bool
	portAt, placeOf [256]uint8
	// ignored are the places whose use does not count.
	ignored routing.PortSet
	// sameNode[i] and sameSystem[i] are the places that lead to the same switch and
	// the same system as place i.
	sameNode, sameSystem [256]routing.PortSet
}

func (l *layout) turnTo(p *plan, sw int32) {
	n := p.f.SwitchNode(sw)
	l.numPorts = int(n.NumPorts) + 1
	order := p.orders[sw]
	l.ordered = order != nil
	for i := range l.portAt {
		l.portAt[i], l.placeOf[i] = uint8(i), uint8(i)
	}
	for place, port := range order {
		l.portAt[place], l.placeOf[port] = port, uint8(place)
	}
	unused := p.unused[sw]
	l.ignored = l.places(&unused)
	if p.dor || p.lids > 1 {
		l.group(p.f, n)
	}
}

// places translates a set of ports.
func (l *layout) places(ports *routing.PortSet) routing.PortSet {
	var set routing.PortSet
	for w, word := range ports {
		for ; word != 0; word &= word - 1 {
			set.Add(l.placeOf[w<<6|bits.TrailingZeros64(word)])
		}
	}
	return set
}

// group finds which ports lead to the same switch, and to the same system.
func (l *layout) group(f *fabric.Fabric, n *fabric.Node) {
	peer := func(place int) int32 {
		if s := f.PeerSwitch(n.FirstPort + int32(l.portAt[place])); s != fabric.None {
			return f.Switches[s]
		}
		return fabric.None
	}
	for i := 1; i < l.numPorts; i++ {
		l.sameNode[i], l.sameSystem[i] = routing.PortSet{}, routing.PortSet{}
		a := peer(i)
		if a == fabric.None {
			continue
		}
		l.sameNode[i].Add(uint8(i))
		l.sameSystem[i].Add(uint8(i))
		for j := 1; j < i; j++ {
			b := peer(j)
			if b == fabric.None || f.Nodes[a].SystemGUID != f.Nodes[b].SystemGUID {
				continue
			}
			l.sameSystem[i].Add(uint8(j))
			l.sameSystem[j].Add(uint8(i))
			if a == b {
				l.sameNode[i].Add(uint8(j))
				l.sameNode[j].Add(uint8(i))
			}
		}
	}
}
