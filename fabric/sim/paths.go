// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

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
)

// maxPaths is how many paths are found for one question at most.
const maxPaths = 1 << 16

// pathRecords are the paths by the switches' tables between the ports that are
// asked for. A question without a source has too few components.
func (s *Sim) pathRecords(q *query) (table []byte, _ mad.Status) {
	be := binary.BigEndian
	if !q.has(compPathSGID) && !q.has(compPathSLID) {
		return nil, saTooFew
	}
	most := maxPaths
	if n := int(q.data[offReversible] & 0x7f); q.has(compPathNumber) && n > 0 {
		most = n
	}
	sources := s.ends(q, compPathSGID, offSGID, compPathSLID, offPathSLID)
	targets := s.ends(q, compPathDGID, offDGID, compPathDLID, offPathDLID)
	for _, src := range sources {
		for _, dst := range targets {
			from, to := &s.ports[src], &s.ports[dst]
			n := 0
			for i := range uint16(1) << to.info.LMC {
				slid, dlid := from.info.LID, to.info.LID+i
				if q.has(compPathSLID) {
					slid = be.Uint16(q.data[offPathSLID:])
				} else if from.info.LMC > 0 {
					slid += i & (1<<from.info.LMC - 1)
				}
				if q.has(compPathDLID) && be.Uint16(q.data[offPathDLID:]) != dlid {
					continue
				}
				r, ok := s.path(q, src, dst, slid, dlid)
				if ok && n < most && len(table) < maxPaths*len(r) {
					table = append(table, r[:]...)
					n++
				}
			}
		}
	}
	return table, mad.StatusOK
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
func (s *Sim) path(q *query, src, dst int32, slid, dlid uint16) (r [64]byte, ok bool) {
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
	r[offPathLife] = exactly | packetLife
	const except = 0b11<<compPathMTUSelect | 0b11<<compPathRateSelect | 0b11<<compPathLifeSelect | 1<<compPathNumber
	return r, q.matches(r[:], pathWidths, except) && q.inRange(r[:], compPathMTUSelect, offPathMTU, plainOrder) &&
		q.inRange(r[:], compPathRateSelect, offPathRate, rateOrder) && q.inRange(r[:], compPathLifeSelect, offPathLife, plainOrder)
}
