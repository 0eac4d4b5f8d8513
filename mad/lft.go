// SPDX-License-Identifier: Apache-2.0

package mad

// Of a linear forwarding table.
const (
	LFTBlock = 64  // LIDs in a block
	NoPort   = 255 // the entry of a LID to which the switch has no path
)

// LinearForwardingTable is one block of a switch's table (IBA 14.2.5.10): byte i is the port to LID
// 64*block+i, or [NoPort]. The block is the attribute modifier, from 0 to 767.
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
