// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// Of a table of P_Keys.
const (
	PKeyBlock        = DataSize / 2 // P_Keys in a block
	PKeyFull    PKey = 0x8000       // the bit of a P_Key that makes its port a full member
	PKeyDefault PKey = 0xffff       // full membership in the partition that every port is in
)

// PKey says that a port is a full or limited member of a partition; lower 15 bits 0: none (IBA 10.9.1).
type PKey uint16

// Partition is the partition's number, of 15 bits.
func (k PKey) Partition() uint16 { return uint16(k &^ PKeyFull) }

// PKeyTable is one block of the P_Keys of a port (IBA 14.2.5.7). The attribute modifier is that of [PKeyMod].
type PKeyTable [PKeyBlock]PKey

// PKeyMod is the attribute modifier of a block of P_Keys: of that of a switch's port, from 0 on, or with port
// 0 of that of the port that the request comes in by at a channel adapter.
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
