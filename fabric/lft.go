// SPDX-License-Identifier: Apache-2.0

package fabric

// BlockSize is the number of LIDs in one block of a linear forwarding table
// (IBA 1.2.1, 14.2.5.11).
const BlockSize = 64

// NoPath is the forwarding table entry that leads nowhere.
const NoPath = 0xff

// LFT holds the linear forwarding tables of all switches of a fabric in one
// slab: a row a switch index, a byte a LID, padded to whole blocks.
type LFT struct {
	// MaxLID is the highest LID with an entry.
	MaxLID uint16
	stride int
	slab   []byte
}

// NewLFT makes tables for this many switches and LIDs 0 to maxLID, all NoPath.
func NewLFT(switches int, maxLID uint16) *LFT {
	stride := (int(maxLID)/BlockSize + 1) * BlockSize
	t := &LFT{MaxLID: maxLID, stride: stride, slab: make([]byte, switches*stride)}
	for filled := copy(t.slab, []byte{NoPath}); filled < len(t.slab); {
		filled += copy(t.slab[filled:], t.slab[:filled])
	}
	return t
}

// Switches is the number of rows.
func (t *LFT) Switches() int {
	if t.stride == 0 {
		return 0
	}
	return len(t.slab) / t.stride
}

// Blocks is the number of blocks of each row.
func (t *LFT) Blocks() int { return t.stride / BlockSize }

// Row is the table of one switch, indexed by LID, Blocks()*BlockSize long. It
// can be written while the table is being made.
func (t *LFT) Row(sw int32) []byte {
	i := int(sw) * t.stride
	return t.slab[i : i+t.stride : i+t.stride]
}

// Port is the egress port of a switch for a LID, NoPath above MaxLID.
func (t *LFT) Port(sw int32, lid uint16) uint8 {
	if int(lid) >= t.stride {
		return NoPath
	}
	return t.slab[int(sw)*t.stride+int(lid)]
}

// Block is 64 entries of one switch, as they go over the wire.
func (t *LFT) Block(sw int32, block int) []byte {
	i := int(sw)*t.stride + block*BlockSize
	return t.slab[i : i+BlockSize : i+BlockSize]
}

// Grown returns the tables with entries up to a LID, the new ones NoPath; t itself
// where it has them.
func (t *LFT) Grown(maxLID uint16) *LFT {
	if maxLID <= t.MaxLID {
		return t
	}
	g := NewLFT(t.Switches(), maxLID)
	for sw := range t.Switches() {
		copy(g.Row(int32(sw)), t.Row(int32(sw)))
	}
	return g
}

// Clone returns a copy that can be changed.
func (t *LFT) Clone() *LFT {
	c := *t
	c.slab = append([]byte(nil), t.slab...)
	return &c
}
