// SPDX-License-Identifier: Apache-2.0

package mad

// SLs is how many service levels (SLs) there are.
const SLs = 16

// SLToVLTable is the VL that packets of each SL leave by (IBA 14.2.5.8): 16 entries of 4 bits, that of SL 0
// highest in byte 0; 56 bytes are reserved. The attribute modifier is that of [SLToVLMod].
type SLToVLTable struct {
	VL [SLs]uint8 // 4 bits; 15 drops the packet

	spare [DataSize - SLs/2]byte
}

// SLToVLMod is the modifier of the table from port in to port out of a switch. A channel adapter has one, 0.
func SLToVLMod(in, out uint8) uint32 { return uint32(in)<<8 | uint32(out) }

func (*SLToVLTable) AttrID() AttrID { return AttrSLToVLTable }

func (t *SLToVLTable) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrSLToVLTable, b); err != nil {
		return err
	}
	for sl := 0; sl < SLs; sl += 2 {
		t.VL[sl], t.VL[sl+1] = b[sl/2]>>4, b[sl/2]&0xf
	}
	copy(t.spare[:], b[SLs/2:])
	return nil
}

func (t *SLToVLTable) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	for sl := 0; sl < SLs; sl += 2 {
		b[sl/2] = t.VL[sl]<<4 | t.VL[sl+1]&0xf
	}
	copy(b[SLs/2:], t.spare[:])
	return dst, nil
}
