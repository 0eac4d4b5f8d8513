// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
)

// Constants of linear forwarding tables.
const (
	LFTBlock = 64  // LIDs in a block
	NoPort   = 255 // entry of a LID without a path
)

// LinearForwardingTable is one block of a switch's table (IBA 14.2.5.10). Byte i is the egress port for LID 64*block+i,
// or [NoPort]. The attribute modifier is the block, from 0 to 767.
type LinearForwardingTable [LFTBlock]uint8

func (*LinearForwardingTable) AttrID() AttrID { return AttrLinearForwardingTable }

func (t *LinearForwardingTable) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrLinearForwardingTable, b); err != nil {
		return err
	}
	copy(t[:], b)
	return nil
}

func (t *LinearForwardingTable) AppendBinary(dst []byte) ([]byte, error) {
	return append(dst, t[:]...), nil
}

// Constants of multicast forwarding tables.
const (
	FirstMulticastLID = 0xc000 // LID of the first entry
	MFTBlock          = 32     // LIDs in a block
	MFTPorts          = 16     // ports in one attribute
)

// MulticastForwardingTable is one block of a switch's table for 16 of its ports (IBA 14.2.5.12). Bit n of element i
// stands for port 16*position+n and LID 0xc000+32*block+i. [MulticastMod] returns the attribute modifier.
type MulticastForwardingTable [MFTBlock]uint16

// MulticastMod returns the attribute modifier for a block (0 to 511) and a position of ports (0 to 15).
func MulticastMod(block uint16, position uint8) uint32 {
	return uint32(position)<<28 | uint32(block)&0x1ff
}

func (*MulticastForwardingTable) AttrID() AttrID { return AttrMulticastForwardingTable }

func (t *MulticastForwardingTable) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrMulticastForwardingTable, b); err != nil {
		return err
	}
	for i := range t {
		t[i] = binary.BigEndian.Uint16(b[2*i:])
	}
	return nil
}

func (t *MulticastForwardingTable) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	for i, ports := range t {
		binary.BigEndian.PutUint16(b[2*i:], ports)
	}
	return dst, nil
}

// SLs is the number of service levels (SLs).
const SLs = 16

// SLToVLTable maps each SL to the VL that packets with this SL use (IBA 14.2.5.8). It has 16 entries of 4 bits, with SL
// 0 in the upper half of byte 0. The other 56 bytes are reserved. [SLToVLMod] returns the attribute modifier.
type SLToVLTable struct {
	VL [SLs]uint8 // 4 bits; 15 drops the packet

	spare [DataSize - SLs/2]byte
}

// SLToVLMod returns the attribute modifier for the table of a switch from an input port to an output port. A channel
// adapter has one table, with modifier 0.
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

// VLArbBlock is the number of entries in a block of a VL arbitration table.
const VLArbBlock = DataSize / 2

// VLArbPart selects a part of the VL arbitration tables of a port.
type VLArbPart uint8

// Parts of the VL arbitration tables.
const (
	VLArbLow      VLArbPart = 1 // lower 32 entries of the low-priority table
	VLArbLowNext  VLArbPart = 2 // upper 32
	VLArbHigh     VLArbPart = 3 // lower 32 entries of the high-priority table
	VLArbHighNext VLArbPart = 4 // upper 32
)

// VLArbMod returns the attribute modifier for a part of the tables of a switch port. For a channel adapter, the
// argument port is 0.
func VLArbMod(part VLArbPart, port uint8) uint32 { return uint32(part)<<16 | uint32(port) }

// VLWeight is an entry of a VL arbitration table. In its turn, the VL may send Weight units of 64 bytes. An entry with
// weight 0 is skipped.
type VLWeight struct {
	VL     uint8 // 4 bits
	Weight uint8

	spare uint8
}

// VLArbitrationTable is a part of the tables by which a port divides its link among VLs (IBA 14.2.5.9). It has 32
// entries. An entry has 4 reserved bits, a VL of 4 bits, and a byte of weight. [VLArbMod] returns the attribute
// modifier.
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

// GUIDBlock is the number of GUIDs in a block of a port's table.
const GUIDBlock = DataSize / 8

// GUIDInfo is one block of a port's GUID table (IBA 14.2.5.5). Element i of block b is GUID 8*b+i. GUID 0 is the port
// GUID. The attribute modifier is the block, from 0 to 31.
type GUIDInfo [GUIDBlock]uint64

func (*GUIDInfo) AttrID() AttrID { return AttrGUIDInfo }

func (a *GUIDInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrGUIDInfo, b); err != nil {
		return err
	}
	for i := range a {
		a[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return nil
}

func (a *GUIDInfo) AppendBinary(dst []byte) ([]byte, error) {
	for _, guid := range a {
		dst = binary.BigEndian.AppendUint64(dst, guid)
	}
	return dst, nil
}

// Constants of P_Key tables.
const (
	PKeyBlock        = DataSize / 2 // P_Keys in a block
	PKeyFull    PKey = 0x8000       // bit that makes the port a full member
	PKeyDefault PKey = 0xffff       // full membership in the default partition, to which every port belongs
)

// PKey makes a port a full or limited member of a partition (IBA 10.9.1). If the lower 15 bits are 0, the entry is
// unused.
type PKey uint16

// Partition returns the number of the partition, which has 15 bits.
func (k PKey) Partition() uint16 { return uint16(k &^ PKeyFull) }

// PKeyTable is one block of a port's P_Key table (IBA 14.2.5.7). [PKeyMod] returns the attribute modifier.
type PKeyTable [PKeyBlock]PKey

// PKeyMod returns the attribute modifier for a block of P_Keys. On a switch, the argument port is the number of the
// port, from 0. On a channel adapter, the argument port is 0, and the table is that of the port that receives the
// request.
func PKeyMod(port uint8, block uint16) uint32 { return uint32(port)<<16 | uint32(block) }

func (*PKeyTable) AttrID() AttrID { return AttrPKeyTable }

func (t *PKeyTable) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrPKeyTable, b); err != nil {
		return err
	}
	for i := range t {
		t[i] = PKey(binary.BigEndian.Uint16(b[2*i:]))
	}
	return nil
}

func (t *PKeyTable) AppendBinary(dst []byte) ([]byte, error) {
	for _, key := range t {
		dst = binary.BigEndian.AppendUint16(dst, uint16(key))
	}
	return dst, nil
}
