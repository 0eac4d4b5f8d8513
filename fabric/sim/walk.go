// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

const directionBit = 0x80 // of the first byte of an SMP's status

// noAnswer is the status of a request that is handed back: ETIMEDOUT.
const noAnswer = 110

// fate is what becomes of an answer.
type fate struct {
	copies int
	delay  time.Duration
}

// carry brings a request to its destination and makes the frame the answer; ok is false where none comes.
func (s *Sim) carry(from fabric.PortIndex, f *mad.Frame) (fate, bool) {
	s.arrive()
	defer s.mu.Unlock()
	if s.happens(s.faults.Loss) {
		return fate{}, false
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
		return fate{copies: 1}, s.sendBack
	}
	out := s.wayBack()
	return out, out.copies > 0
}

// wayBack is what becomes of an answer on its way.
func (s *Sim) wayBack() fate {
	if s.happens(s.faults.Loss) {
		return fate{}
	}
	out := fate{copies: 1, delay: s.delay()}
	if s.happens(s.faults.Repeat) {
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

// walkPath follows the initial path from a port, fills in the return path and returns the port at which the
// packet arrives (IBA 1.2.1, 14.2.2). Packets that are to go on by LID at either end get nowhere, as in
// ibsim. The hop pointer is back at 0 when the answer is home, so it is not touched.
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

// hop leaves the node of port at by port out and returns where it arrives, or None. Switches pass packets on;
// other nodes only send their own, and only by the port that the sender sits on.
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

// byLID brings a request to the port with a LID, which answers it, and the answer back.
func (s *Sim) byLID(from fabric.PortIndex, lid uint16, m *[mad.Size]byte,
	answer func(at fabric.PortIndex, m *[mad.Size]byte) bool) bool {
	at, ok := s.walkLID(from, lid)
	if !ok || !answer(at, m) {
		return false
	}
	back, ok := s.walkLID(s.endPort(at), s.ports[from].info.LID)
	return ok && s.endPort(back) == from
}

// walkLID follows the forwarding tables from an end port to the port that answers to the LID, and returns
// where the packet arrives there. Links must be Active at both ends, as in ibsim; IBA lets VL 15 pass before.
func (s *Sim) walkLID(from fabric.PortIndex, lid uint16) (at fabric.PortIndex, ok bool) {
	at = from
	if s.ports[at].owns(lid) {
		return at, true
	}
	if s.nodes[s.ports[at].node].sw == nil {
		if at = s.activePeer(at); at == fabric.None {
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
		if at = s.activePeer(n.first + fabric.PortIndex(out)); at == fabric.None {
			return at, false
		}
	}
	return at, false
}

// endPort is the port whose agent answers what arrives at a port.
func (s *Sim) endPort(i fabric.PortIndex) fabric.PortIndex {
	if n := &s.nodes[s.ports[i].node]; n.sw != nil {
		return n.first
	}
	return i
}

func (s *Sim) activePeer(i fabric.PortIndex) fabric.PortIndex {
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
