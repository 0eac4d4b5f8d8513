// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// peer is the port at the other end of a link that is up, or None.
func (s *Sim) peer(i fabric.PortIndex) fabric.PortIndex {
	p := &s.ports[i]
	if p.cable == fabric.None || p.info.PhysState != mad.PhysLinkUp {
		return fabric.None
	}
	return p.cable
}

// train brings the link of a port up as far as cable and both ends allow, anew: to Initialize, or to Down.
// Switches at its ends note the change, but not the one that was told to make it.
func (s *Sim) train(i fabric.PortIndex, told bool) {
	ends := [2]fabric.PortIndex{i, s.ports[i].cable}
	up := !s.ports[i].cut
	for _, e := range ends {
		up = up && s.ports[e].info.PhysState != mad.PhysDisabled && !s.nodes[s.ports[e].node].off
	}
	for k, e := range ends {
		p := &s.ports[e]
		switch {
		case up:
			p.info.PhysState, p.info.PortState = mad.PhysLinkUp, mad.PortInit
		case p.info.PhysState == mad.PhysDisabled:
			p.info.PortState = mad.PortDown
		default:
			p.info.PhysState, p.info.PortState = mad.PhysPolling, mad.PortDown
		}
		p.encode()
		if sw := s.nodes[p.node].sw; sw != nil && (k == 1 || !told) {
			sw.info.PortStateChange = true
		}
	}
}
