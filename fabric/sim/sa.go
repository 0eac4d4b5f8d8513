// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

const saClassVersion = 2

// query is a request to the subnet administration.
type query struct {
	from    fabric.PortIndex // port that sent the request
	attr    mad.AttrID
	mod     uint32
	mask    sa.Mask // components to match
	data    []byte
	trusted bool // has the SM_Key
	one     bool // a Get, for one record
}

// administration is the answer of the subnet administration: a single MAD, a table with the header of its segments, or
// nothing.
type administration struct {
	answers bool
	head    [mad.Size]byte
	table   []byte
	segment bool
}

// administer answers a request to the subnet administration with records of the current state of the subnet.
func (s *Sim) administer(from fabric.PortIndex, f *mad.Frame) (out administration, handBack bool) {
	s.arrive()
	defer s.mu.Unlock()
	if s.chance(s.faults.Loss) {
		return out, false
	}
	method := mad.Method(f.Data[mad.OffMethod])
	sm := s.masterAt(from, f.DLID)
	if sm == nil || !wantsAnswer(method) {
		return out, s.sendBack
	}
	be := binary.BigEndian
	m := &f.Data
	key := be.Uint64(m[mad.OffSMKey:])
	if key != 0 && key != sm.SMKey {
		return out, s.sendBack // as OpenSM does
	}
	q := query{
		from: from, attr: mad.AttrID(be.Uint16(m[mad.OffAttr:])), mod: be.Uint32(m[mad.OffMod:]),
		mask: sa.Mask(be.Uint64(m[mad.OffComponents:])), data: m[mad.OffSAData:], trusted: key != 0,
		one: method == mad.MethodGet,
	}
	out.answers, out.head = true, *m
	clear(out.head[mad.OffRMPPVersion:])
	out.head[mad.OffMethod] |= uint8(mad.MethodResponse)
	size, status := s.reply(&out, method, &q)
	if status == mad.StatusOK && len(out.table) > 0 {
		be.PutUint16(out.head[mad.OffRecordSize:], uint16(size/8))
	}
	be.PutUint16(out.head[mad.OffStatus:], uint16(status))
	out.segment = status == mad.StatusOK && method == mad.MethodGetTable
	if !out.segment && status == mad.StatusOK {
		copy(out.head[mad.OffSAData:], out.table)
	}
	return out, false
}

// reply collects the requested records and returns the size of one record.
func (s *Sim) reply(out *administration, method mad.Method, q *query) (size int, status mad.Status) {
	m := &out.head
	switch {
	case s.chance(s.faults.Busy):
		return 0, mad.StatusBusy
	case m[mad.OffBaseVersion] != 1 || m[mad.OffClassVersion] != saClassVersion:
		return 0, mad.StatusBadVersion
	case method != mad.MethodGet && method != mad.MethodGetTable:
		return 0, mad.StatusMethodUnsupported
	case q.attr == mad.AttrClassPortInfo && method == mad.MethodGet:
		info := mad.ClassPortInfo{BaseVersion: 1, ClassVersion: saClassVersion, RespTime: respTime}
		out.table, _ = info.AppendBinary(nil)
		return len(out.table), mad.StatusOK
	}
	kind, ok := recordKinds[q.attr]
	if !ok {
		return 0, mad.StatusMethodAttrMismatch
	}
	if q.mask>>len(kind.widths) != 0 {
		return 0, sa.InvalidRequest.MAD()
	}
	out.table, status = kind.list(s, q)
	n := len(out.table) / kind.size
	switch {
	case status != mad.StatusOK:
	case method == mad.MethodGet && n == 0:
		status = sa.NoRecords.MAD()
	case method == mad.MethodGet && n > 1:
		status = sa.TooManyRecords.MAD()
	}
	return kind.size, status
}

// masterAt returns the master subnet manager that a request to a LID reaches. It returns nil if there is none, or if
// the answer could not be sent back.
func (s *Sim) masterAt(from fabric.PortIndex, lid uint16) *mad.SMInfo {
	at, ok := s.walkLID(from, lid, nil)
	if !ok {
		return nil
	}
	p := &s.ports[s.endPort(at)]
	n := &s.nodes[p.node]
	if p.sm == nil || p.sm.State != mad.SMMaster || n.off || n.silent {
		return nil
	}
	if back, ok := s.walkLID(s.endPort(at), s.ports[from].info.LID, nil); !ok || s.endPort(back) != from {
		return nil
	}
	return p.sm
}

// known yields the end ports that have LIDs.
func (s *Sim) known(yield func(i fabric.PortIndex, p *port, n *node) bool) {
	for i := range s.ports {
		p := &s.ports[i]
		n := &s.nodes[p.node]
		if (n.sw != nil) != (p.num == 0) || p.info.LID == 0 || n.off {
			continue
		}
		if !yield(fabric.PortIndex(i), p, n) {
			return
		}
	}
}

// gid returns the GID of an end port.
func (p *port) gid() mad.GID {
	prefix := p.info.GIDPrefix
	if prefix == 0 {
		prefix = mad.DefaultGIDPrefix
	}
	return mad.NewGID(prefix, p.guid)
}

// Group is a multicast group of the subnet administration with its member ports.
type Group struct {
	sa.MCMemberRecord
	Members []fabric.PortIndex
}

// SetGroups replaces the multicast groups. It does not change forwarding tables.
func (s *Sim) SetGroups(groups []Group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = append([]Group(nil), groups...)
}

// sl returns the SL of a path.
func (s *Sim) sl(src, dst uint16) uint8 {
	if s.tables == nil || s.tables.SLs == nil {
		return 0
	}
	return s.tables.SLs.SL(src, dst)
}

// pathLimits holds the smallest MTU and rate of the links of a path.
type pathLimits struct {
	mtu  mad.MTU
	rate int // index in rates
}

// pathLimits returns the smallest MTU and rate of the ports and links of the path from an end port to a LID. It returns
// false if the tables do not lead to the LID.
func (s *Sim) pathLimits(from fabric.PortIndex, lid uint16) (l pathLimits, ok bool) {
	l = pathLimits{mtu: s.ports[from].info.MTUCap, rate: rateOf(&s.ports[from].info)}
	at, ok := s.walkLID(from, lid, func(out fabric.PortIndex) {
		info := &s.ports[out].info
		l.mtu, l.rate = min(l.mtu, info.NeighborMTU), min(l.rate, rateOf(info))
	})
	if ok {
		l.mtu = min(l.mtu, s.ports[s.endPort(at)].info.MTUCap)
	}
	return l, ok
}
