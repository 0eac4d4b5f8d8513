// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// agent is a subnet management agent that processes one request.
type agent struct {
	s    *Sim
	node *node
	at   fabric.PortIndex // port that received the request
	end  *port            // port with the LID and keys
	set  bool
	mod  uint32
	data []byte // attribute of the request and the answer
}

// answer converts a request that a port received into the node's answer. It returns false if the node does not respond.
func (s *Sim) answer(at fabric.PortIndex, m *[mad.Size]byte) bool {
	method := mad.Method(m[mad.OffMethod])
	n := &s.nodes[s.ports[at].node]
	if n.silent || n.off || !wantsAnswer(method) && method != mad.MethodTrapRepress {
		return false
	}
	a := agent{
		s:    s,
		node: n,
		at:   at,
		end:  &s.ports[s.endPort(at)],
		set:  method == mad.MethodSet,
		mod:  binary.BigEndian.Uint32(m[mad.OffMod:]),
		data: m[mad.OffData : mad.OffData+mad.DataSize],
	}
	attr := mad.AttrID(binary.BigEndian.Uint16(m[mad.OffAttr:]))
	if attr == mad.AttrSMInfo && a.end.sm == nil {
		return false
	}
	known, allowed := a.checkKey(method, binary.BigEndian.Uint64(m[mad.OffMKey:]))
	if !allowed || method == mad.MethodTrapRepress {
		return false
	}
	status := s.precheck(m, method)
	if a.set {
		s.disturb()
	}
	if status == mad.StatusOK {
		status = a.do(attr)
	}
	if !known && attr == mad.AttrPortInfo {
		clear(a.data[:8])
	}
	respond(m, status)
	return true
}

// precheck returns the status for a request that must be refused before its attribute is processed, otherwise StatusOK.
func (s *Sim) precheck(m *[mad.Size]byte, method mad.Method) mad.Status {
	switch {
	case s.chance(s.faults.Busy):
		return mad.StatusBusy
	case m[mad.OffBaseVersion] != 1 || m[mad.OffClassVersion] != 1:
		return mad.StatusBadVersion
	case method != mad.MethodGet && method != mad.MethodSet:
		return mad.StatusMethodUnsupported
	}
	return mad.StatusOK
}

// respond converts a request into an answer with a status. The data of the answer are already in m.
func respond(m *[mad.Size]byte, status mad.Status) {
	m[mad.OffMethod] = uint8(mad.MethodGetResp)
	binary.BigEndian.PutUint16(m[mad.OffStatus:], uint16(status))
}

// do processes an attribute. It writes the data of the answer to a.data.
func (a *agent) do(attr mad.AttrID) mad.Status {
	switch attr {
	case mad.AttrNodeDescription:
		return a.get(a.node.desc[:])
	case mad.AttrNodeInfo:
		return a.nodeInfo()
	case mad.AttrPortInfo:
		return a.portInfo()
	case mad.AttrSMInfo:
		return a.get(marshal(a.end.sm))
	case mad.AttrSwitchInfo:
		return a.switchInfo()
	case mad.AttrLinearForwardingTable:
		return a.forwardingTable()
	}
	return a.table(attr)
}

// get answers with data that cannot be set.
func (a *agent) get(data []byte) mad.Status {
	if a.set {
		return mad.StatusMethodAttrMismatch
	}
	copy(a.data, data)
	return mad.StatusOK
}

func (a *agent) nodeInfo() mad.Status {
	info := a.node.info
	info.PortGUID = a.end.guid
	info.LocalPort = a.s.ports[a.at].num
	return a.get(marshal(&info))
}

func marshal(a mad.Attribute) []byte {
	b, _ := a.AppendBinary(nil)
	return b
}

// general converts a request of a general service that a port received into the node's answer. It returns false if the
// node does not respond.
func (s *Sim) general(at fabric.PortIndex, m *[mad.Size]byte) bool {
	method := mad.Method(m[mad.OffMethod])
	n := &s.nodes[s.ports[at].node]
	if n.silent || n.off || mad.Class(m[mad.OffClass]) != mad.ClassPerf || !wantsAnswer(method) {
		return false
	}
	a := agent{s: s, node: n, at: at, end: &s.ports[s.endPort(at)], set: method == mad.MethodSet, data: m[mad.OffData:]}
	status := s.precheck(m, method)
	if status == mad.StatusOK {
		status = a.perf(mad.AttrID(binary.BigEndian.Uint16(m[mad.OffAttr:])))
	}
	respond(m, status)
	return true
}

// wantsAnswer reports whether a method requires an answer.
func wantsAnswer(m mad.Method) bool {
	return m&mad.MethodResponse == 0 && m != mad.MethodTrap && m != mad.MethodTrapRepress
}

// checkKey checks the M_Key of a request (IBA 1.2.1, 14.2.4.1 and 14.2.4.2). The result allowed is false if the key is
// wrong and the method requires the right key; the request is then not answered, counts as a violation, and starts the
// lease. The result known is false if the key is wrong and the answer must hide the right key.
//
// A request with the right key stops the lease. When the lease expires, the port is no longer protected.
func (a *agent) checkKey(method mad.Method, key uint64) (known, allowed bool) {
	p := a.end
	if !p.leaseEnd.IsZero() && !a.s.now().Before(p.leaseEnd) {
		p.leaseEnd = time.Time{}
		p.info.MKeyProtect = 0
		p.encode()
	}
	if p.info.MKey == 0 || key == p.info.MKey {
		p.leaseEnd = time.Time{}
		return true, true
	}
	if method == mad.MethodGet && p.info.MKeyProtect < 2 {
		return p.info.MKeyProtect == 0, true
	}
	p.info.MKeyViolations += min(1, ^p.info.MKeyViolations)
	p.encode()
	if p.leaseEnd.IsZero() && p.info.MKeyLeasePeriod > 0 {
		p.leaseEnd = a.s.now().Add(time.Duration(p.info.MKeyLeasePeriod) * time.Second)
	}
	return false, false
}
