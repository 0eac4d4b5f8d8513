// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"bytes"
	"hash/maphash"
	"slices"

	"example.org/ibconsole/fabric"
)

// sources makes the rows: one for each switch, and more for the sources of a switch where SLs tell them apart.
func (b *builder) sources() {
	rows := map[source]int32{}
	if b.t.SLs != nil {
		b.sls = spreadOf(b.f, b.t.SLs)
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
}

// alike reports whether the SLs to all LIDs of a group are known to be the same from every source.
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

// spreadOf tells sources apart where the SLs themselves do not: it compares what each has for all LIDs. O(LIDs^2).
func spreadOf(f *fabric.Fabric, sls fabric.PathSLs) fabric.SpreadSLs {
	if s, ok := sls.(fabric.SpreadSLs); ok {
		return s
	}
	p := plainSLs{PathSLs: sls, source: make([]int32, int(f.MaxLID)+1)}
	var rows [][]byte
	known := map[uint64][]int32{}
	seed := maphash.MakeSeed()
	for l := 1; l <= int(f.MaxLID); l++ {
		if f.PortByLID(uint16(l)) == fabric.None {
			continue
		}
		row := make([]byte, int(f.MaxLID)+1)
		for dst := range row {
			if f.PortByLID(uint16(dst)) != fabric.None {
				row[dst] = sls.SL(uint16(l), uint16(dst))
			}
		}
		sum := maphash.Bytes(seed, row)
		p.source[l] = int32(len(rows))
		for _, r := range known[sum] {
			if bytes.Equal(rows[r], row) {
				p.source[l] = r
			}
		}
		if int(p.source[l]) == len(rows) {
			rows = append(rows, row)
			known[sum] = append(known[sum], p.source[l])
		}
	}
	return &p
}

// plainSLs are levels one for each pair.
type plainSLs struct {
	fabric.PathSLs
	source []int32
}

func (p *plainSLs) Range(src, dst uint16) (first, n uint8) { return p.SL(src, dst), 1 }
func (p *plainSLs) Source(src uint16) int32 {
	if int(src) >= len(p.source) {
		return -1
	}
	return p.source[src]
}
