// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

// agent is a subnet management agent at work on one request.
type agent struct {
	s    *Sim
	node *node
	at   int32 // where the request came in
	end  *port // whose LID and keys count
	set  bool
	mod  uint32
	data []byte // of the attribute, request and answer
}

// answer turns the request that arrived at a port into the node's answer. It
// returns false where the node says nothing.
func (s *Sim) answer(at int32, m *[mad.Size]byte) bool {
	method := mad.Method(m[offMethod])
	n := &s.nodes[s.ports[at].node]
	if n.silent || method&mad.MethodResponse != 0 || method == mad.MethodTrap || method == mad.MethodTrapRepress {
		return false
	}
	a := agent{
		s:    s,
		node: n,
		at:   at,
		end:  &s.ports[s.endPort(at)],
		set:  method == mad.MethodSet,
		mod:  binary.BigEndian.Uint32(m[offMod:]),
		data: m[offData : offData+mad.DataSize],
	}
	attr := mad.AttrID(binary.BigEndian.Uint16(m[offAttr:]))
	if attr == mad.AttrSMInfo && a.end.sm == nil {
		return false
	}
	known, allowed := a.keyFits(binary.BigEndian.Uint64(m[offMKey:]))
	if !allowed {
		return false
	}
	var status mad.Status
	switch {
	case m[offBaseVersion] != 1 || m[offClassVersion] != 1:
		status = mad.StatusBadVersion
	case method != mad.MethodGet && method != mad.MethodSet:
		status = mad.StatusMethodUnsupported
	default:
		status = a.do(attr)
	}
	if !known && attr == mad.AttrPortInfo {
		clear(a.data[:8])
	}
	m[offMethod] = uint8(mad.MethodGetResp)
	binary.BigEndian.PutUint16(m[offStatus:], uint16(status))
	return true
}

// keyFits checks the request's M_Key (IBA 1.2.1, 14.2.4): known is false for a
// wrong one, which then must not be told the right one; a request that is not
// allowed with a wrong key is not answered at all.
func (a *agent) keyFits(key uint64) (known, allowed bool) {
	pi := &a.end.info
	if pi.MKey == 0 || key == pi.MKey {
		return true, true
	}
	if a.set || pi.MKeyProtect >= 2 {
		pi.MKeyViolations += min(1, ^pi.MKeyViolations)
		a.end.encode()
		return false, false
	}
	return pi.MKeyProtect == 0, true
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
	b, _ := a.MarshalBinary()
	return b
}
