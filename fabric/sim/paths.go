// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// The offsets of fields in a PathRecord (IBA 1.2.1, 15.2.5.16).
const (
	offDGID     = 8
	offSGID     = 24
	offPathDLID = 40
	offPathSLID = 42
	offNumPath  = 49
	offPathMTU  = 54
	offPathRate = 55
	offPathLife = 56
	pathLen     = 64
)

// maxPaths is the maximum number of paths in an answer.
const maxPaths = 1 << 16

// pathRecords returns the path records between the selected ports, according to the forwarding tables. For a Get it
// returns only the first record, as OpenSM does. A query without source and destination gets the status "insufficient
// components".
func (s *Sim) pathRecords(q *query) (table []byte, _ mad.Status) {
	if q.mask&(sa.PathSGID|sa.PathSLID|sa.PathDGID|sa.PathDLID) == 0 {
		return nil, sa.InsufficientComponents.MAD()
	}
	if q.selects(pathMTU) && (q.data[offPathMTU]&0x3f == 0 || q.data[offPathMTU]&0x3f > uint8(mad.MTU4096)) ||
		q.selects(pathRate) && rateOrder(q.data[offPathRate]&0x3f) < 0 {
		return nil, sa.InvalidRequest.MAD()
	}
	sources := s.ends(q, sa.PathSGID, offSGID, sa.PathSLID, offPathSLID)
	targets := s.ends(q, sa.PathDGID, offDGID, sa.PathDLID, offPathDLID)
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

// pairPaths appends the records of the paths between two ports to a table. There is one record for each selected LID of
// the destination.
func (s *Sim) pairPaths(table []byte, q *query, src, dst fabric.PortIndex) []byte {
	be := binary.BigEndian
	limit := 1 << fabric.MaxLMC
	if n := int(q.data[offNumPath] & 0x7f); q.has(sa.PathNumPath) && n > 0 {
		limit = n
	}
	if q.one {
		limit = 1
	}
	from, to := &s.ports[src].info, &s.ports[dst].info
	for i := uint16(0); i < 1<<to.LMC && limit > 0; i++ {
		slid, dlid := from.LID+i&(1<<from.LMC-1), to.LID+i
		if q.has(sa.PathSLID) {
			slid = be.Uint16(q.data[offPathSLID:])
		}
		if q.has(sa.PathDLID) && be.Uint16(q.data[offPathDLID:]) != dlid {
			continue
		}
		if r, ok := s.path(q, src, dst, slid, dlid); ok {
			table = append(table, r...)
			limit--
		}
	}
	return table
}

// ends returns the end ports that a query selects as source or destination, either by GID or by LID.
func (s *Sim) ends(q *query, byGID sa.Mask, atGID int, byLID sa.Mask, atLID int) (out []fabric.PortIndex) {
	lid := binary.BigEndian.Uint16(q.data[atLID:])
	gid := mad.GID(q.data[atGID : atGID+16])
	s.known(func(i fabric.PortIndex, p *port, _ *node) bool {
		if (!q.has(byLID) || p.owns(lid)) && (!q.has(byGID) || p.gid() == gid) {
			out = append(out, i)
		}
		return true
	})
	return out
}

// path returns the record of one path if the path exists and matches the query.
func (s *Sim) path(q *query, src, dst fabric.PortIndex, slid, dlid uint16) (record []byte, ok bool) {
	limits, ok := s.pathLimits(src, dlid)
	if !ok {
		return nil, false
	}
	r := sa.PathRecord{
		DGID: s.ports[dst].gid(), SGID: s.ports[src].gid(), DLID: dlid, SLID: slid,
		Reversible: true, PKey: defaultPKey, SL: s.sl(slid, dlid),
		MTUSelector: sa.Exactly, MTU: limits.mtu,
		RateSelector: sa.Exactly, Rate: rates[limits.rate],
		LifeTimeSelector: sa.Exactly,
	}
	if src != dst {
		r.LifeTime = packetLife
	}
	b, _ := r.AppendBinary(nil)
	const except = 0b11<<pathMTU | 0b11<<pathRate | 0b11<<pathLife | sa.PathNumPath
	return b, q.matches(b, pathWidths, except) && q.fit(b, pathMTU, offPathMTU, plain) &&
		q.fit(b, pathRate, offPathRate, byRate) && q.fit(b, pathLife, offPathLife, plain)
}

const defaultPKey = 0xffff
