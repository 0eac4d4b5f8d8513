// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"math"

	"example.org/ibconsole/fabric"
)

// pairSLs holds decoded SLs. Each source LID has a row, indexed by destination LID.
type pairSLs struct {
	row  []int32 // by source LID
	rows [][]byte
}

// SL implements [fabric.PathSLs].
func (p *pairSLs) SL(src, dst uint16) uint8 {
	if int(src) >= len(p.row) || p.row[src] < 0 {
		return 0
	}
	row := p.rows[p.row[src]]
	if int(dst) >= len(row) {
		return 0
	}
	return row[dst]
}

// encodeSLs encodes the rows of SLs for all LIDs. Equal rows are encoded once. O(LIDs^2).
func encodeSLs(f *fabric.Fabric, sls fabric.PathSLs) []byte {
	e := &encoder{}
	e.uint(uint64(f.MaxLID))
	seen := map[string]int{}
	row := make([]byte, int(f.MaxLID)+1)
	for src := range int(f.MaxLID) + 1 {
		if f.PortByLID(uint16(src)) == fabric.None {
			e.uint(0)
			continue
		}
		for dst := range row {
			row[dst] = 0
			if f.PortByLID(uint16(dst)) != fabric.None {
				row[dst] = sls.SL(uint16(src), uint16(dst))
			}
		}
		i, ok := seen[string(row)]
		if !ok {
			i = len(seen)
			seen[string(row)] = i
		}
		e.uint(uint64(i) + 1)
		if !ok {
			e.bytes(row)
		}
	}
	return e.b
}

func decodeSLs(d *decoder) (fabric.PathSLs, error) {
	most := int(d.uint(math.MaxUint16))
	p := &pairSLs{row: make([]int32, most+1)}
	for src := range p.row {
		p.row[src] = decodeIndex[int32](d, len(p.rows)+1)
		if int(p.row[src]) == len(p.rows) && d.err == nil {
			p.rows = append(p.rows, d.bytes(most+1))
		}
	}
	if d.err != nil {
		return nil, fmt.Errorf("sls: %w", d.err)
	}
	return p, nil
}

// packedRanges holds the range of SLs of each pair as a byte, instead of an SL.
type packedRanges struct{ fabric.PathSLs }

// SL implements [fabric.PathSLs].
func (p packedRanges) SL(src, dst uint16) uint8 {
	r := fabric.RangeOf(p.PathSLs, src, dst)
	if r.First > 15 {
		return 0
	}
	return (r.N-1)<<4 | r.First
}

// any reports whether a pair has more than one SL.
func (p packedRanges) any(f *fabric.Fabric) bool {
	if _, ok := p.PathSLs.(fabric.RangedSLs); !ok {
		return false
	}
	sources := map[int32]bool{}
	for src := range int(f.MaxLID) + 1 {
		if s, ok := p.PathSLs.(fabric.SpreadSLs); ok {
			n := s.Source(uint16(src))
			if sources[n] {
				continue
			}
			sources[n] = true
		}
		for dst := range int(f.MaxLID) + 1 {
			if p.SL(uint16(src), uint16(dst)) > 15 {
				return true
			}
		}
	}
	return false
}

// rangedSLs adds decoded ranges to decoded SLs.
type rangedSLs struct {
	fabric.PathSLs
	packed fabric.PathSLs
}

// Range implements [fabric.RangedSLs].
func (r rangedSLs) Range(src, dst uint16) fabric.SLRange {
	if b := r.packed.SL(src, dst); b > 15 {
		return fabric.SLRange{First: b & 15, N: b>>4 + 1}
	}
	return fabric.OneSL(r.SL(src, dst))
}

func decodeRanges(sls fabric.PathSLs, d *decoder) (fabric.PathSLs, error) {
	packed, err := decodeSLs(d)
	if err != nil || sls == nil {
		return nil, err
	}
	return rangedSLs{sls, packed}, nil
}
