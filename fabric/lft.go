// SPDX-License-Identifier: Apache-2.0

package fabric

import "example.org/ibconsole/internal/base/hugepages"

// BlockSize is the number of LIDs in one block of a linear forwarding table (IBA 1.2.1, 14.2.5.11).
const BlockSize = 64

// NoPath is the forwarding table entry that leads nowhere.
const NoPath = 0xff

// LFT holds the linear forwarding tables of a fabric's switches in one slab: a row a switch index, a byte a LID,
// padded to whole blocks. What [LFT.Patched] makes has its own entries only, and shares the rest.
type LFT struct {
	MaxLID uint16 // the highest LID with an entry
	stride int
	rows   [][]byte // parts of one slab, nil for those that a patch makes when asked for
	patch  *patch
}

// NewLFT makes tables for this many switches and LIDs 0 to maxLID, all NoPath.
func NewLFT(switches int, maxLID uint16) *LFT {
	t := BlankLFT(switches, maxLID)
	for _, row := range t.rows {
		FillNoPath(row)
	}
	return t
}

// BlankLFT makes tables as [NewLFT], but all 0, for who writes every entry: memory is not touched before.
func BlankLFT(switches int, maxLID uint16) *LFT {
	stride := (int(maxLID)/BlockSize + 1) * BlockSize
	return onSlab(&LFT{MaxLID: maxLID, stride: stride}, hugepages.Make[byte](switches*stride), switches)
}

// FillNoPath makes entries NoPath.
func FillNoPath(entries []byte) {
	for filled := copy(entries, []byte{NoPath}); filled < len(entries); {
		filled += copy(entries[filled:], entries[:filled])
	}
}

// onSlab gives tables their rows.
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

// Row returns the table of one switch, indexed by LID, Blocks()*BlockSize long. It
// can be written while the table is being made, but not where [LFT.Patched] made it.
func (t *LFT) Row(sw SwitchIndex) []byte {
	if row := t.rows[sw]; row != nil {
		return row
	}
	return t.patchedRow(sw)
}

// Port returns the egress port of a switch for a LID, NoPath above MaxLID.
func (t *LFT) Port(sw SwitchIndex, lid uint16) uint8 {
	if row := t.rows[sw]; int(lid) < len(row) {
		return row[lid]
	}
	return t.otherPort(sw, lid)
}

// Block is 64 entries of one switch, as they go over the wire.
func (t *LFT) Block(sw SwitchIndex, block int) []byte {
	i := block * BlockSize
	return t.Row(sw)[i : i+BlockSize : i+BlockSize]
}

// Grown returns the tables with entries up to a LID, the new ones NoPath; t itself where it has them.
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
