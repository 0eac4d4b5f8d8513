// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Offsets in a PathRecord (IBA 1.2.1, 15.2.5.16).
const (
	offDGID       = 8
	offSGID       = 24
	offPathDLID   = 40
	offPathSLID   = 42
	offReversible = 49
	offPathPKey   = 50
	offPathSL     = 52
	offPathMTU    = 54
	offPathRate   = 55
	offPathLife   = 56
	pathLen       = 64
)

// maxPaths is how many paths are found for one question at most.
const maxPaths = 1 << 16

// pathRecords are the paths by the switches' tables between the ports that are
// asked for; of one that is asked for, the first, as OpenSM answers. A question
// with neither source nor destination has too few components.
func (s *Sim) pathRecords(q *query) (table []byte, _ mad.Status) {
	if q.mask&(1<<compPathSGID|1<<compPathSLID|1<<compPathDGID|1<<compPathDLID) == 0 {
		return nil, saTooFew
	}
	if q.selects(compPathMTUSelect) && (q.data[offPathMTU]&0x3f == 0 || q.data[offPathMTU]&0x3f > uint8(mad.MTU4096)) ||
		q.selects(compPathRateSelect) && rateOrder(q.data[offPathRate]&0x3f) < 0 {
		return nil, saInvalid
	}
	sources := s.ends(q, compPathSGID, offSGID, compPathSLID, offPathSLID)
	targets := s.ends(q, compPathDGID, offDGID, compPathDLID, offPathDLID)
	for _, src := range sources {
		for _, dst := range targets {
			table = s.pairPaths(table, q, src, dst)
			if len(table) > 0 && q.one || len(table) >= maxPaths*pathLen {
				return table, mad.StatusOK
			}
		}
	}
	return table, mad.StatusOK
}

// pairPaths appends the paths from one port to another, one to each LID of the
// destination as far as they are asked for.
func (s *Sim) pairPaths(table []byte, q *query, src, dst int32) []byte {
	be := binary.BigEndian
	most := 1 << fabric.MaxLMC
	if n := int(q.data[offReversible] & 0x7f); q.has(compPathNumber) && n > 0 {
		most = n
	}
	if q.one {
		most = 1
	}
	from, to := &s.ports[src].info, &s.ports[dst].info
	for i := uint16(0); i < 1<<to.LMC && most > 0; i++ {
		slid, dlid := from.LID+i&(1<<from.LMC-1), to.LID+i
		if q.has(compPathSLID) {
			slid = be.Uint16(q.data[offPathSLID:])
		}
		if q.has(compPathDLID) && be.Uint16(q.data[offPathDLID:]) != dlid {
			continue
		}
		if r, ok := s.path(q, src, dst, slid, dlid); ok {
			table = append(table, r[:]...)
			most--
		}
	}
	return table
}

// ends are the end ports that a question means at one end of the path.
func (s *Sim) ends(q *query, byGID, atGID, byLID, atLID int) (out []int32) {
	lid := binary.BigEndian.Uint16(q.data[atLID:])
	gid := mad.GID(q.data[atGID : atGID+16])
	s.known(func(i int32, p *port, _ *node) bool {
		if (!q.has(byLID) || p.owns(lid)) && (!q.has(byGID) || p.gid() == gid) {
			out = append(out, i)
		}
		return true
	})
	return out
}

// path is the record of one path, if it is there and is as the question wants it.
func (s *Sim) path(q *query, src, dst int32, slid, dlid uint16) (r [pathLen]byte, ok bool) {
	const exactly, reversible, fullPKey = 2 << 6, 1 << 7, 0xffff
	j, ok := s.travel(src, dlid)
	if !ok {
		return r, false
	}
	be := binary.BigEndian
	dgid, sgid := s.ports[dst].gid(), s.ports[src].gid()
	copy(r[offDGID:], dgid[:])
	copy(r[offSGID:], sgid[:])
	be.PutUint16(r[offPathDLID:], dlid)
	be.PutUint16(r[offPathSLID:], slid)
	r[offReversible] = reversible
	be.PutUint16(r[offPathPKey:], fullPKey)
	be.PutUint16(r[offPathSL:], uint16(s.sl(slid, dlid)))
	r[offPathMTU] = exactly | uint8(j.mtu)
	r[offPathRate] = exactly | rates[j.rate]
	r[offPathLife] = exactly
	if src != dst {
		r[offPathLife] |= packetLife
	}
	const except = 0b11<<compPathMTUSelect | 0b11<<compPathRateSelect | 0b11<<compPathLifeSelect | 1<<compPathNumber
	return r, q.matches(r[:], pathWidths, except) && q.fit(r[:], compPathMTUSelect, offPathMTU, plain) &&
		q.fit(r[:], compPathRateSelect, offPathRate, byRate) && q.fit(r[:], compPathLifeSelect, offPathLife, plain)
}
