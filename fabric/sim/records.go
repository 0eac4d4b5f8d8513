// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

// recordKind is a kind of record: how long one is in a table, and how many bits
// each component has, in the order of the bits of a component mask, which is that
// of the record (IBA 1.2.1, 15.2.5).
type recordKind struct {
	size   int
	widths []int
	list   func(*Sim, *query) ([]byte, mad.Status)
}

const (
	recordNode     = mad.AttrID(0x11)
	recordPortInfo = mad.AttrID(0x12)
	recordSMInfo   = mad.AttrID(0x18)
	recordPath     = mad.AttrID(0x35)
	recordMember   = mad.AttrID(0x38)
)

// recordKinds are built once and never written.
var recordKinds = map[mad.AttrID]recordKind{
	recordNode:     {112, nodeWidths, (*Sim).nodeRecords},
	recordPortInfo: {72, portInfoWidths, (*Sim).portInfoRecords},
	recordSMInfo:   {32, smInfoWidths, (*Sim).smInfoRecords},
	recordPath:     {pathLen, pathWidths, (*Sim).pathRecords},
	recordMember:   {56, memberWidths, (*Sim).memberRecords},
}

var (
	// LID, -; then NodeInfo; then NodeDescription.
	nodeWidths = []int{16, 16, 8, 8, 8, 8, 64, 64, 64, 16, 16, 32, 8, 24, 512}
	// LID, port, options; then PortInfo.
	portInfoWidths = []int{
		16, 8, 8, 64, 64, 16, 16, 32, 16, 16, 8, 8, 8, 8, 4, 4, 4, 4, 2, 3, 3, 4, 4, 4, 4, 4, 4, 8, 8, 8, 4, 4, 3, 5,
		4, 1, 1, 1, 1, 16, 16, 16, 8, 1, 2, 5, 3, 5, 4, 4, 16, 8, 24, 16, 4, 4, 3, 5,
	}
	// LID, -; then SMInfo.
	smInfoWidths = []int{16, 16, 64, 64, 32, 4, 4}
	// ServiceID (two halves), DGID, SGID, DLID, SLID, RawTraffic, -, FlowLabel,
	// HopLimit, TClass, Reversible, NumbPath, P_Key, QoS class, SL, selector and
	// value of MTU, rate and packet lifetime.
	pathWidths = []int{32, 32, 128, 128, 16, 16, 1, 3, 20, 8, 8, 1, 7, 16, 12, 4, 2, 6, 2, 6, 2, 6}
	// MGID, PortGID, Q_Key, MLID, selector and value of MTU, TClass, P_Key, selector
	// and value of rate and packet lifetime, SL, FlowLabel, HopLimit, Scope,
	// JoinState, ProxyJoin.
	memberWidths = []int{128, 128, 32, 16, 2, 6, 8, 16, 2, 6, 2, 6, 4, 20, 8, 4, 4, 1}
)

// Components by their bit in the mask.
const (
	compLID = 0 // of the records of nodes, ports and subnet managers

	compPortInfoBaseLID = 5
	compPortInfoCapMask = 7

	compPathDGID       = 2
	compPathSGID       = 3
	compPathDLID       = 4
	compPathSLID       = 5
	compPathNumber     = 12
	compPathMTUSelect  = 16
	compPathRateSelect = 18
	compPathLifeSelect = 20

	compMemberPortGID    = 1
	compMemberMTUSelect  = 4
	compMemberRateSelect = 8
	compMemberLifeSelect = 10
)

func (q *query) has(component int) bool { return q.mask>>component&1 != 0 }

// matches says whether a record has all the components that are asked for, but
// for those in except.
func (q *query) matches(record []byte, widths []int, except uint64) bool {
	at := 0
	for i, width := range widths {
		if q.has(i) && except>>i&1 == 0 && !sameBits(record, q.data, at, width) {
			return false
		}
		at += width
	}
	return true
}

// sameBits compares bits at to at+width; those of whole bytes, or all in one
// byte, or from within a byte to the end of another.
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

// lidIs says whether a LID that is asked for, if one is, belongs to a port.
func (q *query) lidIs(component int, p *port) bool {
	return !q.has(component) || p.owns(binary.BigEndian.Uint16(q.data))
}

func (s *Sim) nodeRecords(q *query) (table []byte, _ mad.Status) {
	for _, p := range s.owners(q) {
		n := &s.nodes[p.node]
		info := n.info
		info.PortGUID, info.LocalPort = p.guid, p.num
		var r [112]byte
		binary.BigEndian.PutUint16(r[:], p.info.LID)
		copy(r[4:44], marshal(&info))
		copy(r[44:108], n.desc[:])
		if q.matches(r[:], nodeWidths, 1<<compLID) {
			table = append(table, r[:]...)
		}
	}
	return table, mad.StatusOK
}

// owners are the end ports that have the LID that is asked for, or all.
func (s *Sim) owners(q *query) (ports []*port) {
	s.known(func(_ int32, p *port, _ *node) bool {
		if q.lidIs(compLID, p) {
			ports = append(ports, p)
		}
		return true
	})
	return ports
}

// portInfoRecords: with the highest bit of the modifier the capabilities that are
// asked for need not be all that a port has (IBA 1.2.1, 15.2.5.3).
func (s *Sim) portInfoRecords(q *query) (table []byte, _ mad.Status) {
	const offCapMask = 4 + 20
	except := uint64(1 << compLID)
	var caps uint32
	if q.mod>>31 != 0 && q.has(compPortInfoCapMask) {
		except |= 1 << compPortInfoCapMask
		caps = binary.BigEndian.Uint32(q.data[offCapMask:])
	}
	for _, p := range s.owners(q) {
		n := &s.nodes[p.node]
		first, last := int32(p.num), int32(p.num)
		if n.sw != nil {
			first, last = 0, int32(n.info.NumPorts)
		}
		for num := first; num <= last; num++ {
			var r [72]byte
			binary.BigEndian.PutUint16(r[:], p.info.LID)
			r[2] = uint8(num)
			copy(r[4:68], s.ports[n.first+num].wire[:])
			clear(r[4:12]) // the M_Key
			r[4+offLocalPort] = uint8(num)
			if binary.BigEndian.Uint32(r[offCapMask:])&caps == caps && q.matches(r[:], portInfoWidths, except) {
				table = append(table, r[:]...)
			}
		}
	}
	return table, mad.StatusOK
}

func (s *Sim) smInfoRecords(q *query) (table []byte, _ mad.Status) {
	for _, p := range s.owners(q) {
		if p.sm == nil {
			continue
		}
		info := *p.sm
		info.SMKey = 0
		var r [32]byte
		binary.BigEndian.PutUint16(r[:], p.info.LID)
		copy(r[4:], marshal(&info)[:28])
		if q.matches(r[:], smInfoWidths, 1<<compLID) {
			table = append(table, r[:]...)
		}
	}
	return table, mad.StatusOK
}

// memberRecords are one of each group that matches, or with the SM_Key one of
// each of its members, as OpenSM tells of them.
func (s *Sim) memberRecords(q *query) (table []byte, _ mad.Status) {
	for i := range s.groups {
		g := &s.groups[i]
		ports := g.Members
		if !q.trusted && !q.has(compMemberPortGID) {
			ports = []int32{-1}
		}
		for _, port := range ports {
			r := g.record()
			except := uint64(0b11<<compMemberMTUSelect | 0b11<<compMemberRateSelect | 0b11<<compMemberLifeSelect)
			if port >= 0 {
				gid := s.ports[port].gid()
				copy(r[16:], gid[:])
			}
			if q.matches(r[:], memberWidths, except) && q.inRange(r[:], compMemberMTUSelect, 38, plain) &&
				q.inRange(r[:], compMemberRateSelect, 42, byRate) && q.inRange(r[:], compMemberLifeSelect, 43, plain) {
				table = append(table, r[:]...)
			}
		}
	}
	return table, mad.StatusOK
}

// record is the MCMemberRecord of a group (IBA 1.2.1, 15.2.5.17).
func (g *Group) record() (r [56]byte) {
	const exactly, fullMember = 2 << 6, 1
	be := binary.BigEndian
	copy(r[:], g.MGID[:])
	be.PutUint32(r[32:], g.QKey)
	be.PutUint16(r[36:], g.MLID)
	r[38] = exactly | uint8(g.MTU)&0x3f
	be.PutUint16(r[40:], g.PKey)
	r[42] = exactly | g.Rate&0x3f
	r[43] = exactly | packetLife
	be.PutUint32(r[44:], uint32(g.SL&0xf)<<28)
	r[48] = g.MGID[1]<<4 | fullMember
	return r
}

// packetLife is 4.096 us * 2^18, what OpenSM sets by default.
const packetLife = 18

// The rates that records know, slowest first, in Gb/s and as records have them
// (IBA 1.2.1, 15.2.5.16, and later releases).
var (
	ratesGbps = [...]float64{2.5, 5, 10, 14, 20, 25, 28, 30, 40, 50, 56, 60, 80, 100, 112, 120, 168, 200, 300, 400, 600, 800, 1200}
	rates     = [...]uint8{2, 5, 3, 11, 6, 15, 19, 4, 7, 20, 12, 8, 9, 16, 13, 10, 14, 17, 18, 21, 22, 23, 24}
)

// rateOf is the fastest rate that a port can do.
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
	for i, rate := range ratesGbps {
		if rate <= speed*float64(a.LinkWidthActive.Lanes()) {
			best = i
		}
	}
	return best
}
