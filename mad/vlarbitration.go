// SPDX-License-Identifier: Apache-2.0

package mad

// VLArbBlock is the number of entries in a block of a VL arbitration table.
const VLArbBlock = DataSize / 2

// VLArbPart is a part of the VL arbitration tables of a port.
type VLArbPart uint8

// Parts of the VL arbitration tables.
const (
	VLArbLow      VLArbPart = 1 // of the low-priority table the lower 32 entries
	VLArbLowNext  VLArbPart = 2 // and the upper 32
	VLArbHigh     VLArbPart = 3 // of the high-priority table the lower 32 entries
	VLArbHighNext VLArbPart = 4 // and the upper 32
)

// VLArbMod is the modifier of a part of the tables of a switch's port, or with port 0 of an adapter's.
func VLArbMod(part VLArbPart, port uint8) uint32 { return uint32(part)<<16 | uint32(port) }

// VLWeight is an entry: in its turn the VL may send so many units of 64 bytes. A weight of 0 skips it.
type VLWeight struct {
	VL     uint8 // 4 bits
	Weight uint8

	spare uint8
}

// VLArbitrationTable is a part of how a port shares its link among VLs (IBA 14.2.5.9): 32 entries of a reserved
// half byte, VL in the other half, and a byte of weight. The modifier is that of [VLArbMod].
type VLArbitrationTable [VLArbBlock]VLWeight

func (*VLArbitrationTable) AttrID() AttrID { return AttrVLArbitrationTable }

func (t *VLArbitrationTable) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrVLArbitrationTable, b); err != nil {
		return err
	}
	for i := range t {
		t[i] = VLWeight{VL: b[2*i] & 0xf, Weight: b[2*i+1], spare: b[2*i] >> 4}
	}
	return nil
}

func (t *VLArbitrationTable) AppendBinary(dst []byte) ([]byte, error) {
	for _, e := range t {
		dst = append(dst, e.spare<<4|e.VL&0xf, e.Weight)
	}
	return dst, nil
}
