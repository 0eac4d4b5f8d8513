// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// general turns the request of a class of the general services that arrived at a
// port into the node's answer. It returns false where the node says nothing.
func (s *Sim) general(at fabric.PortIndex, m *[mad.Size]byte) bool {
	method := mad.Method(m[mad.OffMethod])
	n := &s.nodes[s.ports[at].node]
	if n.silent || n.off || mad.Class(m[mad.OffClass]) != mad.ClassPerf || !asks(method) {
		return false
	}
	a := agent{s: s, node: n, at: at, end: &s.ports[s.endPort(at)], set: method == mad.MethodSet, data: m[mad.OffData:]}
	var status mad.Status
	switch {
	case s.happens(s.faults.Busy):
		status = mad.StatusBusy
	case m[mad.OffBaseVersion] != 1 || m[mad.OffClassVersion] != 1:
		status = mad.StatusBadVersion
	case method != mad.MethodGet && method != mad.MethodSet:
		status = mad.StatusMethodUnsupported
	default:
		status = a.perf(mad.AttrID(binary.BigEndian.Uint16(m[mad.OffAttr:])))
	}
	m[mad.OffMethod] = uint8(mad.MethodGetResp)
	binary.BigEndian.PutUint16(m[mad.OffStatus:], uint16(status))
	return true
}

// asks reports whether a method wants an answer.
func asks(m mad.Method) bool {
	return m&mad.MethodResponse == 0 && m != mad.MethodTrap && m != mad.MethodTrapRepress
}
