// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// recordKind describes a kind of record: the size of a record in a table, and the widths of its components in bits. The
// components are in the order of the component mask, which is also the order in the record (IBA 1.2.1, 15.2.5).
type recordKind struct {
	size   int
	widths []int
	list   func(*Sim, *query) ([]byte, mad.Status)
}

// recordKinds must not be changed.
var recordKinds = map[mad.AttrID]recordKind{
	sa.AttrNodeRecord:     {112, nodeWidths, (*Sim).nodeRecords},
	sa.AttrPortInfoRecord: {72, portInfoWidths, (*Sim).portInfoRecords},
	sa.AttrSMInfoRecord:   {32, smInfoWidths, (*Sim).smInfoRecords},
	sa.AttrPathRecord:     {pathLen, pathWidths, (*Sim).pathRecords},
	sa.AttrMCMemberRecord: {56, memberWidths, (*Sim).memberRecords},
}

var (
	nodeWidths = []int{16, 16, 8, 8, 8, 8, 64, 64, 64, 16, 16, 32, 8, 24, 512} // LID, -; NodeInfo; NodeDescription
	// LID, port, options; then PortInfo.
	portInfoWidths = []int{
		16, 8, 8, 64, 64, 16, 16, 32, 16, 16, 8, 8, 8, 8, 4, 4, 4, 4, 2, 3, 3, 4, 4, 4, 4, 4, 4, 8, 8, 8, 4, 4, 3, 5,
		4, 1, 1, 1, 1, 16, 16, 16, 8, 1, 2, 5, 3, 5, 4, 4, 16, 8, 24, 16, 4, 4, 3, 5,
	}
	smInfoWidths = []int{16, 16, 64, 64, 32, 4, 4} // LID, -; SMInfo
	// ServiceID (two halves), DGID, SGID, DLID, SLID, RawTraffic, -, FlowLabel, HopLimit, TClass, Reversible,
	// NumbPath, P_Key, QoS class, SL, selector and value of MTU, rate and packet lifetime, Preference.
	pathWidths = []int{32, 32, 128, 128, 16, 16, 1, 3, 20, 8, 8, 1, 7, 16, 12, 4, 2, 6, 2, 6, 2, 6, 8}
	// MGID, PortGID, Q_Key, MLID, selector and value of MTU, TClass, P_Key, selector and value of rate and
	// packet lifetime, SL, FlowLabel, HopLimit, Scope, JoinState, ProxyJoin.
	memberWidths = []int{128, 128, 32, 16, 2, 6, 8, 16, 2, 6, 2, 6, 4, 20, 8, 4, 4, 1}
)

// The positions of selectors in a component mask. The value of a component follows its selector.
const (
	pathMTU  = 16
	pathRate = 18
	pathLife = 20

	memberMTU  = 4
	memberRate = 8
	memberLife = 10
)

func (q *query) has(components sa.Mask) bool { return q.mask&components == components }

// matches reports whether all components of a record that the query requests match. It ignores the components in the
// argument except.
func (q *query) matches(record []byte, widths []int, except sa.Mask) bool {
	at := 0
	for i, width := range widths {
		if (q.mask&^except)>>i&1 != 0 && !sameBits(record, q.data, at, width) {
			return false
		}
		at += width
	}
	return true
}

// sameBits reports whether the bits from at up to at+width are equal. They are whole bytes, a part of one byte, or a
// range that begins within one byte and ends in another.
func sameBits(a, b []byte, at, width int) bool {
	for end := at + width; at < end; {
		n := min(8-at%8, end-at)
		mask := byte(0xff) >> (8 - n) << (8 - at%8 - n)
		if (a[at/8]^b[at/8])&mask != 0 {
			return false
		}
		at += n
	}
	return true
}

// owners returns the end ports whose LID equals the LID at the beginning of the queried record. If the component mask
// does not contain the LID, it returns all end ports.
func (s *Sim) owners(q *query, lid sa.Mask) (ports []*port) {
	want := binary.BigEndian.Uint16(q.data)
	s.known(func(_ fabric.PortIndex, p *port, _ *node) bool {
		if !q.has(lid) || p.owns(want) {
			ports = append(ports, p)
		}
		return true
	})
	return ports
}

// addTo appends a record to a table if it matches the query.
func (q *query) addTo(table []byte, r sa.Record, widths []int, except sa.Mask) []byte {
	n := len(table)
	whole, _ := r.AppendBinary(table)
	if !q.matches(whole[n:], widths, except) {
		return table
	}
	return whole
}

func (s *Sim) nodeRecords(q *query) (table []byte, _ mad.Status) {
	for _, p := range s.owners(q, sa.NodeLID) {
		n := &s.nodes[p.node]
		r := sa.NodeRecord{LID: p.info.LID, Info: n.info, Description: n.desc}
		r.Info.PortGUID, r.Info.LocalPort = p.guid, p.num
		table = q.addTo(table, &r, nodeWidths, sa.NodeLID)
	}
	return table, mad.StatusOK
}

// portInfoRecords returns the records of the ports that match a query. With [sa.CapabilityMaskSubset], a port may have
// more capabilities than the query requests (IBA 1.2.1, 15.2.5.3).
func (s *Sim) portInfoRecords(q *query) (table []byte, _ mad.Status) {
	const offCapMask = 4 + 20
	except := sa.PortInfoLID
	var caps mad.CapabilityMask
	if q.mod&sa.CapabilityMaskSubset != 0 && q.has(sa.PortInfoCapabilityMask) {
		except |= sa.PortInfoCapabilityMask
		caps = mad.CapabilityMask(binary.BigEndian.Uint32(q.data[offCapMask:]))
	}
	for _, p := range s.owners(q, sa.PortInfoLID) {
		n := &s.nodes[p.node]
		first, last := fabric.PortIndex(p.num), fabric.PortIndex(p.num)
		if n.sw != nil {
			first, last = 0, fabric.PortIndex(n.info.NumPorts)
		}
		for num := first; num <= last; num++ {
			r := sa.PortInfoRecord{LID: p.info.LID, Port: uint8(num), Info: s.ports[n.first+num].info}
			r.Info.MKey, r.Info.LocalPort = 0, uint8(num)
			if r.Info.CapabilityMask&caps == caps {
				table = q.addTo(table, &r, portInfoWidths, except)
			}
		}
	}
	return table, mad.StatusOK
}

func (s *Sim) smInfoRecords(q *query) (table []byte, _ mad.Status) {
	for _, p := range s.owners(q, sa.SMInfoLID) {
		if p.sm == nil {
			continue
		}
		r := sa.SMInfoRecord{LID: p.info.LID, Info: *p.sm}
		r.Info.SMKey = 0
		table = q.addTo(table, &r, smInfoWidths, sa.SMInfoLID)
	}
	return table, mad.StatusOK
}

// memberRecords returns one record for each matching group. If the query has the SM_Key, it returns one record for each
// member, as OpenSM does.
func (s *Sim) memberRecords(q *query) (table []byte, _ mad.Status) {
	const except = 0b11<<memberMTU | 0b11<<memberRate | 0b11<<memberLife
	for i := range s.groups {
		g := &s.groups[i]
		ports := g.Members
		if !q.trusted && !q.has(sa.MemberPortGID) {
			ports = []fabric.PortIndex{fabric.None}
		}
		for _, port := range ports {
			r := g.MCMemberRecord
			if port != fabric.None {
				r.PortGID = s.ports[port].gid()
			}
			b, _ := r.AppendBinary(nil)
			if q.matches(b, memberWidths, except) && q.inRange(b, memberMTU, 38, plain) &&
				q.inRange(b, memberRate, 42, byRate) && q.inRange(b, memberLife, 43, plain) {
				table = append(table, b...)
			}
		}
	}
	return table, mad.StatusOK
}

// packetLife is the code of the packet lifetime 4.096 us * 2^18, OpenSM's default.
const packetLife = 18

// rates lists the rate codes in ascending order of speed.
var rates = [...]sa.Rate{2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14, 17, 18, 21, 22, 23, 24}

// rateOf returns the index in rates for the rate of a port.
func rateOf(a *mad.PortInfo) int {
	speed := 2.5 // of a lane
	switch {
	case a.LinkSpeedExt2Active != 0:
		speed = 200
	case a.LinkSpeedExtActive == 1:
		speed = 14
	case a.LinkSpeedExtActive != 0:
		speed = 12.5 * float64(a.LinkSpeedExtActive)
	case a.LinkSpeedActive > 1:
		speed = 2.5 * float64(a.LinkSpeedActive)
	}
	best := 0
	for i, rate := range rates {
		if rate.Gbps() <= speed*float64(a.LinkWidthActive.Lanes()) {
			best = i
		}
	}
	return best
}
