// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// agent is a subnet management agent at work on one request.
type agent struct {
	s    *Sim
	node *node
	at   fabric.PortIndex // where the request came in
	end  *port            // whose LID and keys count
	set  bool
	mod  uint32
	data []byte // of the attribute, request and answer
}

// answer turns the request that arrived at a port into the node's answer; false where it says nothing.
func (s *Sim) answer(at fabric.PortIndex, m *[mad.Size]byte) bool {
	method := mad.Method(m[mad.OffMethod])
	n := &s.nodes[s.ports[at].node]
	if n.silent || n.off || !asks(method) && method != mad.MethodTrapRepress {
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
	known, allowed := a.keyFits(method, binary.BigEndian.Uint64(m[mad.OffMKey:]))
	if !allowed || method == mad.MethodTrapRepress {
		return false
	}
	status := s.unfit(m, method)
	if status == mad.StatusOK {
		status = a.do(attr)
	}
	if !known && attr == mad.AttrPortInfo {
		clear(a.data[:8])
	}
	respond(m, status)
	return true
}

// unfit says why a request is refused before it is looked at, StatusOK if it is not.
func (s *Sim) unfit(m *[mad.Size]byte, method mad.Method) mad.Status {
	switch {
	case s.happens(s.faults.Busy):
		return mad.StatusBusy
	case m[mad.OffBaseVersion] != 1 || m[mad.OffClassVersion] != 1:
		return mad.StatusBadVersion
	case method != mad.MethodGet && method != mad.MethodSet:
		return mad.StatusMethodUnsupported
	}
	return mad.StatusOK
}

// respond makes a request whose data are those of the answer the answer.
func respond(m *[mad.Size]byte, status mad.Status) {
	m[mad.OffMethod] = uint8(mad.MethodGetResp)
	binary.BigEndian.PutUint16(m[mad.OffStatus:], uint16(status))
}

// do does what is asked, and leaves the answer in a.data.
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

// general turns the request of a class of the general services that arrived at a
// port into the node's answer. It returns false where the node says nothing.
func (s *Sim) general(at fabric.PortIndex, m *[mad.Size]byte) bool {
	method := mad.Method(m[mad.OffMethod])
	n := &s.nodes[s.ports[at].node]
	if n.silent || n.off || mad.Class(m[mad.OffClass]) != mad.ClassPerf || !asks(method) {
		return false
	}
	a := agent{s: s, node: n, at: at, end: &s.ports[s.endPort(at)], set: method == mad.MethodSet, data: m[mad.OffData:]}
	status := s.unfit(m, method)
	if status == mad.StatusOK {
		status = a.perf(mad.AttrID(binary.BigEndian.Uint16(m[mad.OffAttr:])))
	}
	respond(m, status)
	return true
}

// asks reports whether a method wants an answer.
func asks(m mad.Method) bool {
	return m&mad.MethodResponse == 0 && m != mad.MethodTrap && m != mad.MethodTrapRepress
}
