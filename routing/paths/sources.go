// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"example.org/ibconsole/fabric"
)

// sources builds the rows. Each switch has one row, or several rows if SLs differ between its sources.
func (b *builder) sources() (err error) {
	rows := map[source]int32{}
	if b.t.SLs != nil {
		if b.sls, err = spreadOf(b.f, b.t.SLs); err != nil {
			return err
		}
	}
	for i := range b.out.Ports {
		p := &b.out.Ports[i]
		sw := fabric.SwitchIndex(p.Switch)
		if sw == fabric.None {
			continue
		}
		key := source{sw: sw}
		if b.sls != nil {
			key.levels = b.sls.Source(p.LID)
		}
		r, ok := rows[key]
		if !ok {
			r = int32(len(b.rows))
			rows[key] = r
			b.rows = append(b.rows, row{sw, p.LID})
		}
		p.Row = r
	}
	b.out.Rows = len(b.rows)
	return nil
}

// alike reports whether the SLs to all LIDs of a group are known to be equal from every source.
func (b *builder) alike(g *group) bool {
	sls, ok := b.sls.(interface{ Destination(dst uint16) int32 })
	if !ok {
		return len(g.lids) == 1
	}
	first := sls.Destination(g.lids[0])
	return !slices.ContainsFunc(g.lids, func(l uint16) bool { return sls.Destination(l) != first })
}

type source struct {
	sw     fabric.SwitchIndex
	levels int32
}

// errSLsOfPort means that SLs depend on the LID of a source in a way that a database cannot store.
var errSLsOfPort = errors.New("paths from different LIDs of a port have different service levels, which a path " +
	"database cannot store")

// spreadOf returns SLs as a range of SLs for each source port and destination. If the LIDs of a port have different
// single SLs, it finds ranges from which [fabric.SpreadSL] selects these SLs. It returns an error if there are no such
// ranges. O(LIDs^2).
func spreadOf(f *fabric.Fabric, sls fabric.PathSLs) (fabric.SpreadSLs, error) {
	if s, ok := sls.(fabric.SpreadSLs); ok {
		return s, nil
	}
	p := &plainSLs{PathSLs: sls, source: slices.Repeat([]int32{-1}, int(f.MaxLID)+1)}
	known := map[uint64][]int32{}
	seed := maphash.MakeSeed()
	for _, e := range f.EndPorts {
		lids := f.Ports[e].LIDRange()
		if lids.Min == 0 {
			continue
		}
		row := make([]byte, 2*(int(f.MaxLID)+1))
		for dst := range int(f.MaxLID) + 1 {
			if f.PortByLID(uint16(dst)) == fabric.None {
				continue
			}
			r, ok := rangeOf(sls, lids, uint16(dst))
			if !ok {
				return nil, fmt.Errorf("%w: %s to LID %d", errSLsOfPort, f.PortName(e), dst)
			}
			row[2*dst], row[2*dst+1] = r.First, r.N
		}
		sum := maphash.Bytes(seed, row)
		at := int32(len(p.rows))
		for _, r := range known[sum] {
			if bytes.Equal(p.rows[r], row) {
				at = r
			}
		}
		if int(at) == len(p.rows) {
			p.rows, known[sum] = append(p.rows, row), append(known[sum], at)
		}
		for lid := int(lids.Min); lid <= int(lids.Max); lid++ {
			p.source[lid] = at
		}
	}
	return p, nil
}

// rangeOf returns the range of SLs that all LIDs of a source have. If they have different single SLs, it returns the
// shortest range from which [fabric.SpreadSL] selects the right SL for each LID.
func rangeOf(sls fabric.PathSLs, lids fabric.LIDRange, dst uint16) (r fabric.SLRange, ok bool) {
	first, same := fabric.RangeOf(sls, lids.Min, dst), true
	for lid := int(lids.Min) + 1; same && lid <= int(lids.Max); lid++ {
		same = fabric.RangeOf(sls, uint16(lid), dst) == first
	}
	if same {
		return first, true
	}
	for n := uint8(2); n <= 16; n++ {
		r := fabric.SLRange{N: n}
		r.First = sls.SL(lids.Min, dst) - fabric.SpreadSL(r, lids.Min, dst)
		fits := r.First <= 16-n
		for lid := int(lids.Min) + 1; fits && lid <= int(lids.Max); lid++ {
			fits = sls.SL(uint16(lid), dst) == fabric.SpreadSL(r, uint16(lid), dst)
		}
		if fits {
			return r, true
		}
	}
	return r, false
}

// plainSLs holds a range of SLs for each pair of LIDs.
type plainSLs struct {
	fabric.PathSLs
	// source is the row of each LID, or -1. A row holds the first SL and the length of a range for each destination
	// LID.
	source []int32
	rows   [][]byte
}

func (p *plainSLs) Range(src, dst uint16) fabric.SLRange {
	if r := p.Source(src); r >= 0 && 2*int(dst) < len(p.rows[r]) && p.rows[r][2*dst+1] > 0 {
		return fabric.SLRange{First: p.rows[r][2*dst], N: p.rows[r][2*dst+1]}
	}
	return fabric.OneSL(p.SL(src, dst))
}

func (p *plainSLs) Source(src uint16) int32 {
	if int(src) >= len(p.source) {
		return -1
	}
	return p.source[src]
}
