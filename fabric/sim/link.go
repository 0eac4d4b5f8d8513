// SPDX-License-Identifier: Apache-2.0

package sim

import (
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
		a.LinkWidthEnabled, a.LinkWidthSupported = was.LinkWidthEnabled, was.LinkWidthSupported
		a.LinkSpeedEnabled, a.LinkSpeedExtEnabled, a.LinkSpeedExt2Enabled = was.LinkSpeedEnabled,
			was.LinkSpeedExtEnabled, was.LinkSpeedExt2Enabled
		a.LinkSpeedSupported, a.LinkSpeedExtSupported, a.LinkSpeedExt2Supported = was.LinkSpeedSupported,
			was.LinkSpeedExtSupported, was.LinkSpeedExt2Supported
		s.ports[i].encode()
	}
}
