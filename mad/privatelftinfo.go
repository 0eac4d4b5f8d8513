// SPDX-License-Identifier: Apache-2.0

package mad

// PrivateLFTInfo is NVIDIA's own attribute: whether a switch has forwarding tables that the port of entry and the SL
// choose. Bits of word 0, counted from the lowest, as published headers of NVIDIA's have it; it was tried on no switch:
//
//	0-2 Mode  8-10 ModeCap  16-23 Tables  24 NoFallback
type PrivateLFTInfo struct {
	Mode       uint8 // 0: there are none in force
	ModeCap    uint8
	Tables     uint8
	NoFallback bool // the standard forwarding table cannot be written while there are any

	spare [DataSize]byte
}

func (*PrivateLFTInfo) AttrID() AttrID { return AttrPrivateLFTInfo }

func (p *PrivateLFTInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrPrivateLFTInfo, b); err != nil {
		return err
	}
	p.Mode, p.ModeCap, p.Tables, p.NoFallback = b[3]&7, b[2]&7, b[1], b[0]&1 != 0
	copy(p.spare[:], b)
	p.spare[0] &^= 1
	p.spare[1] = 0
	p.spare[2] &^= 7
	p.spare[3] &^= 7
	return nil
}

func (p *PrivateLFTInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	copy(b, p.spare[:])
	b[1] = p.Tables
	b[2] |= p.ModeCap & 7
	b[3] |= p.Mode & 7
	if p.NoFallback {
		b[0] |= 1
	}
	return dst, nil
}
