// SPDX-License-Identifier: Apache-2.0

package fabric

// SLTable are SLs of paths, one for all paths between LIDs of two groups.
type SLTable struct {
	from, to []int32 // the groups of LIDs as sources and as destinations, None for none
	cols     int
	sls      []uint8 // by source and destination group
}

// NewSLTable makes a table of SL 0. From and to say the group of each LID, from 0 up,
// or None; LIDs beyond them have none.
func NewSLTable(from, to []int32, rows, cols int) *SLTable {
	return &SLTable{from: from, to: to, cols: cols, sls: make([]uint8, rows*cols)}
}

// Set is for the time when the table is made.
func (t *SLTable) Set(row, col int, sl uint8) { t.sls[row*t.cols+col] = sl }

// SL implements [PathSLs].
func (t *SLTable) SL(src, dst uint16) uint8 {
	if int(src) >= len(t.from) || int(dst) >= len(t.to) || t.from[src] == None || t.to[dst] == None {
		return 0
	}
	return t.sls[int(t.from[src])*t.cols+int(t.to[dst])]
}
