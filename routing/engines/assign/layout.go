// SPDX-License-Identifier: Apache-2.0

package assign

import "example.org/ibconsole/fabric"

// layout is the ports of one switch in their search order.
type layout[S set] struct {
	// numPorts counts port 0.
	numPorts int
	// ordered says that places in the order differ from port numbers. portAt and
	// placeOf translate; what is no port stays as it is.
	ordered         bool
	portAt, placeOf [256]uint8
	// ignored are the places whose use does not count.
	ignored S
	// sameNode[i] and sameSystem[i] are the places that lead to the same switch and the same system as place i.
	sameNode, sameSystem [256]S

	ports [256]uint8 // scratch
}

func (l *layout[S]) turnTo(p *plan, sw fabric.SwitchIndex) {
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
	var none S
	l.ignored = none
	for _, port := range p.unused[sw] {
		l.ignored = with(l.ignored, l.placeOf[port])
	}
	if p.dor || p.lids > 1 {
		l.group(p.f, n)
	}
}

// places translates a set of ports.
func (l *layout[S]) places(ports S) (places S) {
	for _, port := range list(l.ports[:0], ports) {
		places = with(places, l.placeOf[port])
	}
	return places
}

// group finds which ports lead to the same switch, and to the same system.
func (l *layout[S]) group(f *fabric.Fabric, n *fabric.Node) {
	peer := func(place int) fabric.NodeIndex {
		if s := f.PeerSwitch(n.FirstPort + fabric.PortIndex(l.portAt[place])); s != fabric.None {
			return f.Switches[s]
		}
		return fabric.None
	}
	var none S
	for i := 1; i < l.numPorts; i++ {
		l.sameNode[i], l.sameSystem[i] = none, none
		a := peer(i)
		if a == fabric.None {
			continue
		}
		l.sameNode[i], l.sameSystem[i] = with(none, uint8(i)), with(none, uint8(i))
		for j := 1; j < i; j++ {
			b := peer(j)
			if b == fabric.None || f.Nodes[a].SystemGUID != f.Nodes[b].SystemGUID {
				continue
			}
			l.sameSystem[i] = with(l.sameSystem[i], uint8(j))
			l.sameSystem[j] = with(l.sameSystem[j], uint8(i))
			if a == b {
				l.sameNode[i] = with(l.sameNode[i], uint8(j))
				l.sameNode[j] = with(l.sameNode[j], uint8(i))
			}
		}
	}
}
