// SPDX-License-Identifier: Apache-2.0

package assign

import "example.org/ibconsole/fabric"

// layout holds the ports of one switch in their search order.
type layout[S set] struct {
	// numPorts counts port 0.
	numPorts int
	// ordered is set if places in the search order differ from port numbers. portAt and placeOf convert between places
	// and port numbers. Values that are not ports map to themselves.
	ordered         bool
	portAt, placeOf [256]uint8
	// ignored are the places of the ports whose uses do not count.
	ignored S
	// sameNode[i] and sameSystem[i] are the places of the ports that lead to the same switch and to the same system as
	// the port at place i.
	sameNode, sameSystem [256]S

	// Scratch:
	ports [256]uint8
	peers [256]fabric.SwitchIndex
}

func (l *layout[S]) turnTo(p *plan, sw fabric.SwitchIndex) {
	n := p.f.SwitchNode(sw)
	l.numPorts = int(n.NumPorts) + 1
	order := p.orders[sw]
	l.ordered = order != nil
	l.portAt, l.placeOf = p.identity, p.identity
	for place, port := range order {
		l.portAt[place], l.placeOf[port] = port, uint8(place)
	}
	var none S
	l.ignored = none
	for _, port := range p.unused[sw] {
		l.ignored = with(l.ignored, l.placeOf[port])
	}
	if p.dor || p.most > 1 {
		l.group(p.f, n)
	}
}

// places converts a set of ports to places.
func (l *layout[S]) places(ports S) (places S) {
	for _, port := range list(l.ports[:0], ports) {
		places = with(places, l.placeOf[port])
	}
	return places
}

// group fills in sameNode and sameSystem.
func (l *layout[S]) group(f *fabric.Fabric, n *fabric.Node) {
	peers := l.peers[:l.numPorts]
	for place := range peers {
		peers[place] = f.PeerSwitch(n.FirstPort + fabric.PortIndex(l.portAt[place]))
	}
	var none S
	for i, peer := range peers {
		l.sameNode[i], l.sameSystem[i] = none, none
		if i == 0 || peer == fabric.None {
			continue
		}
		here := with(none, uint8(i))
		node, system := here, here
		for j, other := range peers[1:i] {
			switch {
			case other == peer:
				node = with(node, uint8(j+1))
				l.sameNode[j+1] = or(l.sameNode[j+1], here)
			case other == fabric.None || f.SwitchNode(other).SystemGUID != f.SwitchNode(peer).SystemGUID:
				continue
			}
			system = with(system, uint8(j+1))
			l.sameSystem[j+1] = or(l.sameSystem[j+1], here)
		}
		l.sameNode[i], l.sameSystem[i] = node, system
	}
}
