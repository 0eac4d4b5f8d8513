// SPDX-License-Identifier: Apache-2.0

package fabric

import "example.org/ibconsole/internal/base/hugepages"

// BlockSize is the number of LIDs in one block of a linear forwarding table (IBA 1.2.1, 14.2.5.11).
const BlockSize = 64

// NoPath is the forwarding table entry that drops the packet.
const NoPath = 0xff

// LFT holds the linear forwarding tables of all switches. Each switch has a row, indexed by switch index. A row has one
// byte per LID and is padded to whole blocks. All rows are in one allocation. Tables made by [LFT.Patched] hold only
// their changes and share the other rows.
type LFT struct {
	MaxLID uint16 // the highest LID with an entry
	stride int
	rows   [][]byte // parts of one slab; nil for a row of a patch that is made when it is needed
	patch  *patch
}

// NewLFT returns tables for a number of switches and the LIDs 0 to maxLID. All entries are NoPath.
func NewLFT(switches int, maxLID uint16) *LFT {
	t := BlankLFT(switches, maxLID)
	for _, row := range t.rows {
		FillNoPath(row)
	}
	return t
}

// BlankLFT is like [NewLFT], but all entries are 0. It is for callers that write every entry, because it does not
// initialize the memory itself.
func BlankLFT(switches int, maxLID uint16) *LFT {
	stride := (int(maxLID)/BlockSize + 1) * BlockSize
	return onSlab(&LFT{MaxLID: maxLID, stride: stride}, hugepages.Make[byte](switches*stride), switches)
}

// FillNoPath sets entries to NoPath.
func FillNoPath(entries []byte) {
	for filled := copy(entries, []byte{NoPath}); filled < len(entries); {
		filled += copy(entries[filled:], entries[:filled])
	}
}

// onSlab sets the rows of t to parts of one allocation.
func onSlab(t *LFT, slab []byte, switches int) *LFT {
	t.rows = make([][]byte, switches)
	for sw := range t.rows {
		t.rows[sw] = slab[sw*t.stride : (sw+1)*t.stride : (sw+1)*t.stride]
	}
	return t
}

// Switches returns the number of rows.
func (t *LFT) Switches() int { return len(t.rows) }

// Blocks returns the number of blocks of each row.
func (t *LFT) Blocks() int { return t.stride / BlockSize }

// Row returns the row of one switch, indexed by LID. The row has Blocks()*BlockSize entries. Callers that make tables
// may write to the row, unless [LFT.Patched] made the tables.
func (t *LFT) Row(sw SwitchIndex) []byte {
	if row := t.rows[sw]; row != nil {
		return row
	}
	return t.patchedRow(sw)
}

// Port returns the egress port of a switch for a LID, NoPath for a LID above MaxLID.
func (t *LFT) Port(sw SwitchIndex, lid uint16) uint8 {
	if row := t.rows[sw]; int(lid) < len(row) {
		return row[lid]
	}
	return t.otherPort(sw, lid)
}

// Block returns a block of 64 entries of one switch, as a MAD contains it.
func (t *LFT) Block(sw SwitchIndex, block int) []byte {
	i := block * BlockSize
	return t.Row(sw)[i : i+BlockSize : i+BlockSize]
}

// Grown returns the tables with entries up to maxLID. New entries are NoPath. If t already has entries up to maxLID, it
// returns t.
func (t *LFT) Grown(maxLID uint16) *LFT {
	if maxLID <= t.MaxLID {
		return t
	}
	g := NewLFT(len(t.rows), maxLID)
	for sw := range t.rows {
		copy(g.Row(SwitchIndex(sw)), t.Row(SwitchIndex(sw)))
	}
	return g
}

// Clone returns a copy that can be changed.
func (t *LFT) Clone() *LFT {
	slab := hugepages.Make[byte](len(t.rows) * t.stride)[:0]
	for sw := range t.rows {
		slab = append(slab, t.Row(SwitchIndex(sw))...)
	}
	return onSlab(&LFT{MaxLID: t.MaxLID, stride: t.stride}, slab, len(t.rows))
}
