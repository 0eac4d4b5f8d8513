// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// Of a multicast forwarding table.
const (
	FirstMulticastLID = 0xc000 // the LID of the first entry
	MFTBlock          = 32     // LIDs in a block
	MFTPorts          = 16     // ports that one attribute speaks of
)

// MulticastForwardingTable is one block of a switch's table for 16 of its ports (IBA 14.2.5.12): of the LIDs
// 0xc000 + 32*block + i a mask of the ports 16*position + bit. [MulticastMod] is the modifier.
type MulticastForwardingTable [MFTBlock]uint16

// MulticastMod is the attribute modifier of a block, 0 to 511, for the ports of a position, 0 to 15.
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
