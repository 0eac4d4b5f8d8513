// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// peer returns the port at the other end of a link that is up, or None.
func (s *Sim) peer(i fabric.PortIndex) fabric.PortIndex {
	p := &s.ports[i]
	if p.cable == fabric.None || p.info.PhysState != mad.PhysLinkUp {
		return fabric.None
	}
	return p.cable
}

// train sets the link of a port to Initialize if the cable and both ends allow it, otherwise to Down. Switches at the
// two ends record that a port state has changed. If the argument requested is true, the switch of the port i does not
// record it, because a request changed the port.
func (s *Sim) train(i fabric.PortIndex, requested bool) {
	ends := [2]fabric.PortIndex{i, s.ports[i].cable}
	up := !s.ports[i].cut
	for _, e := range ends {
		up = up && s.ports[e].info.PhysState != mad.PhysDisabled && !s.nodes[s.ports[e].node].off
	}
	if up && (s.ports[ends[0]].asked || s.ports[ends[1]].asked) {
		up = s.negotiate(&s.ports[ends[0]], &s.ports[ends[1]])
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
		if sw := s.nodes[p.node].sw; sw != nil && (k == 1 || !requested) {
			sw.info.PortStateChange = true
		}
	}
}

// negotiate gives both ends of a link the highest width and speed that both enable. It returns false if they have no
// width or no speed in common.
func (s *Sim) negotiate(a, b *port) bool {
	widths := a.info.WidthsEnabled() & b.info.WidthsEnabled()
	speeds := a.info.SpeedEnabled(s.caps(a)) & b.info.SpeedEnabled(s.caps(b))
	if widths == 0 || speeds == 0 {
		return false
	}
	speed := fabric.Speed(bits.Len16(uint16(speeds)))
	for _, p := range []*port{a, b} {
		was := p.info
		p.info.LinkSpeedExtActive, p.info.LinkSpeedExt2Active = 0, 0
		setLink(&p.info, &fabric.Port{Width: fabric.Width(widths.Lanes()), Speed: speed})
		keepEnabled(&p.info, &was)
	}
	return true
}

// caps returns the PortInfo with the capability masks of a port, nil for the port itself.
func (s *Sim) caps(p *port) *mad.PortInfo {
	if n := &s.nodes[p.node]; n.sw != nil {
		return &s.ports[n.first].info
	}
	return nil
}

// keepEnabled restores the enabled and supported widths and speeds of a port.
func keepEnabled(a, was *mad.PortInfo) {
	a.LinkWidthEnabled, a.LinkWidthSupported = was.LinkWidthEnabled, was.LinkWidthSupported
	a.LinkSpeedEnabled, a.LinkSpeedExtEnabled, a.LinkSpeedExt2Enabled = was.LinkSpeedEnabled,
		was.LinkSpeedExtEnabled, was.LinkSpeedExt2Enabled
	a.LinkSpeedSupported, a.LinkSpeedExtSupported, a.LinkSpeedExt2Supported = was.LinkSpeedSupported,
		was.LinkSpeedExtSupported, was.LinkSpeedExt2Supported
}

// PowerOff makes a node disappear. The node neither answers nor forwards, and its links are down.
func (s *Sim) PowerOff(node fabric.NodeIndex) { s.power(node, true) }

// PowerOn makes a node reappear in its initial state. It has no LIDs, tables and keys, its counters are 0, and its
// links train to Initialize.
func (s *Sim) PowerOn(node fabric.NodeIndex) { s.power(node, false) }

func (s *Sim) power(node fabric.NodeIndex, off bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.nodes[node]
	if n.off == off {
		return
	}
	s.disturb()
	n.off = off
	if !off {
		s.reset(node)
	}
	for i := n.first; i <= n.first+fabric.PortIndex(n.info.NumPorts); i++ {
		if s.ports[i].cable != fabric.None {
			s.train(i, false)
		}
	}
}

// reset restores the initial settings of a node.
func (s *Sim) reset(node fabric.NodeIndex) {
	n := &s.nodes[node]
	n.tables = nil
	n.fresh = true
	if n.sw != nil {
		n.sw = newSwitch(&s.f.Nodes[node])
	}
	for i := n.first; i <= n.first+fabric.PortIndex(n.info.NumPorts); i++ {
		p := newPort(s.f, i, false)
		p.cut, p.sm = s.ports[i].cut, s.ports[i].sm
		p.info.LID, p.info.MasterSMLID, p.info.LMC = 0, 0, 0
		if p.sm != nil {
			p.info.CapabilityMask |= mad.CapIsSM
		}
		p.encode()
		s.ports[i] = p
	}
}

// Rename changes a node's description.
func (s *Sim) Rename(node fabric.NodeIndex, desc string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node].desc = mad.NewNodeDescription(desc)
}

// Degrade changes the active width and speed at both ends of a port's link. The enabled widths and speeds remain.
// Degrade does nothing if the port has no cable.
func (s *Sim) Degrade(port fabric.PortIndex, width fabric.Width, speed fabric.Speed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	peer := s.peer(port)
	if peer == fabric.None {
		return
	}
	s.disturb()
	for _, i := range []fabric.PortIndex{port, peer} {
		a := &s.ports[i].info
		was := *a
		a.LinkSpeedExtActive, a.LinkSpeedExt2Active = 0, 0
		setLink(a, &fabric.Port{Width: width, Speed: speed})
		keepEnabled(a, &was)
		s.ports[i].encode()
	}
}
