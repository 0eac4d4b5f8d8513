// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

const directionBit = 0x80 // of the first byte of an SMP's status

// noAnswer is the status of a request that was returned to its sender: ETIMEDOUT.
const noAnswer = 110

// delivery states how often and with which delay an answer arrives.
type delivery struct {
	copies int
	delay  time.Duration
}

// process delivers a request to its destination and converts the frame into the answer. ok is false if there is no
// answer.
func (s *Sim) process(from fabric.PortIndex, f *mad.Frame) (delivery, bool) {
	s.arrive()
	defer s.mu.Unlock()
	if s.chance(s.faults.Loss) {
		return delivery{}, false
	}
	request := f.Data
	m := &f.Data
	var ok bool
	switch class := mad.Class(m[mad.OffClass]); {
	case f.QP == mad.QP1:
		ok = s.byLID(from, f.DLID, m, s.general)
		f.SLID = f.DLID
	case class == mad.ClassSMPDirected:
		ok = s.byDirectedRoute(from, m)
		f.SLID = mad.PermissiveLID
	case class == mad.ClassSMPLID:
		ok = s.byLID(from, f.DLID, m, s.answer)
		f.SLID = f.DLID
	}
	if !ok {
		f.Data, f.Status, f.SLID = request, noAnswer, 0
		return delivery{copies: 1}, s.sendBack
	}
	out := s.drawDelivery()
	return out, out.copies > 0
}

// drawDelivery determines at random how an answer is delivered.
func (s *Sim) drawDelivery() delivery {
	if s.chance(s.faults.Loss) {
		return delivery{}
	}
	out := delivery{copies: 1, delay: s.delay()}
	if s.chance(s.faults.Repeat) {
		out.copies = 2
	}
	return out
}

func (s *Sim) byDirectedRoute(from fabric.PortIndex, m *[mad.Size]byte) bool {
	at, ok := s.walkPath(from, m)
	if !ok || !s.answer(at, m) {
		return false
	}
	m[mad.OffStatus] |= directionBit
	return true
}

// walkPath follows the initial path from a port, fills in the return path, and returns the port that receives the
// packet (IBA 1.2.1, 14.2.2). As in ibsim, packets that continue by LID at either end are dropped. The hop pointer of
// an answer ends at 0, so walkPath does not change it.
func (s *Sim) walkPath(from fabric.PortIndex, m *[mad.Size]byte) (at fabric.PortIndex, ok bool) {
	hops := int(m[mad.OffHopCount])
	if hops > mad.MaxHops || m[mad.OffHopPointer] != 0 || m[mad.OffStatus]&directionBit != 0 ||
		binary.BigEndian.Uint32(m[mad.OffDrSLID:]) != 0xffffffff {
		return 0, false
	}
	at = from
	for i := 1; i <= hops; i++ {
		if at = s.hop(at, m[mad.OffInitialPath+i], i == 1); at == fabric.None {
			return at, false
		}
		m[mad.OffReturnPath+i] = s.ports[at].num
	}
	return at, true
}

// hop sends a packet from the node of a port (argument at) through another port of the node (argument out). It returns
// the port that receives the packet, or None. Switches forward packets. Other nodes only send their own packets, and
// only through the sender's port.
func (s *Sim) hop(at fabric.PortIndex, out uint8, first bool) fabric.PortIndex {
	p := &s.ports[at]
	n := &s.nodes[p.node]
	if n.sw == nil {
		if !first || out != p.num {
			return fabric.None
		}
		return s.peer(at)
	}
	switch {
	case out > n.info.NumPorts:
		return fabric.None
	case out == 0:
		return n.first
	}
	return s.peer(n.first + fabric.PortIndex(out))
}

// byLID delivers a request to the port with a LID. This port answers the request, and byLID delivers the answer back.
func (s *Sim) byLID(from fabric.PortIndex, lid uint16, m *[mad.Size]byte,
	answer func(at fabric.PortIndex, m *[mad.Size]byte) bool) bool {
	at, ok := s.walkLID(from, lid, nil)
	if !ok || !answer(at, m) {
		return false
	}
	back, ok := s.walkLID(s.endPort(at), s.ports[from].info.LID, nil)
	return ok && s.endPort(back) == from
}

// walkLID follows the forwarding tables from an end port to the port with the LID. It returns the port at which the
// packet arrives. It calls the function visit, if not nil, with each port through which the packet leaves a node. Links
// must be Active at both ends, as in ibsim; IBA allows VL 15 before that.
func (s *Sim) walkLID(from fabric.PortIndex, lid uint16, visit func(out fabric.PortIndex)) (fabric.PortIndex, bool) {
	at := from
	if s.ports[at].owns(lid) {
		return at, true
	}
	if s.nodes[s.ports[at].node].sw == nil {
		if at = s.leave(at, visit); at == fabric.None {
			return at, false
		}
	}
	for range len(s.f.Switches) + 1 {
		n := &s.nodes[s.ports[at].node]
		if n.sw == nil {
			return at, s.ports[at].owns(lid)
		}
		out := n.sw.forward(lid)
		switch {
		case out == 0:
			return at, s.ports[n.first].owns(lid)
		case out > n.info.NumPorts:
			return at, false
		}
		if at = s.leave(n.first+fabric.PortIndex(out), visit); at == fabric.None {
			return at, false
		}
	}
	return at, false
}

// endPort returns the port whose agent answers packets that port i receives.
func (s *Sim) endPort(i fabric.PortIndex) fabric.PortIndex {
	if n := &s.nodes[s.ports[i].node]; n.sw != nil {
		return n.first
	}
	return i
}

// leave calls the function visit, if it is not nil, and returns the peer of an Active port. It returns None if the port
// is not Active.
func (s *Sim) leave(i fabric.PortIndex, visit func(out fabric.PortIndex)) fabric.PortIndex {
	if visit != nil {
		visit(i)
	}
	peer := s.peer(i)
	if peer == fabric.None || s.ports[i].info.PortState != mad.PortActive ||
		s.ports[peer].info.PortState != mad.PortActive {
		return fabric.None
	}
	return peer
}

func (p *port) owns(lid uint16) bool {
	return lid != 0 && p.info.LID != 0 && lid>>p.info.LMC == p.info.LID>>p.info.LMC
}
