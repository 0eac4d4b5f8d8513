// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// PowerOff makes a node disappear: it answers and forwards nothing, and its links are down.
func (s *Sim) PowerOff(node fabric.NodeIndex) { s.power(node, true) }

// PowerOn makes a node come back as one that was just switched on: it has no
// LIDs, tables and keys, its counters are 0, and its links train to Initialize.
func (s *Sim) PowerOn(node fabric.NodeIndex) { s.power(node, false) }

func (s *Sim) power(node fabric.NodeIndex, off bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.nodes[node]
	if n.off == off {
		return
	}
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

// reset makes a node's settings those of one that was just switched on.
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

// Degrade makes both ends of a port's link run at another width and speed, which they report as active; what
// they have enabled stays. A port without a cable has no link: nothing happens.
func (s *Sim) Degrade(port fabric.PortIndex, width fabric.Width, speed fabric.Speed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	peer := s.peer(port)
	if peer == fabric.None {
		return
	}
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
