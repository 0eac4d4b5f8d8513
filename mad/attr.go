// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding"
	"fmt"
)

// AttrID says which attribute a MAD carries.
type AttrID uint16

// Attributes of the subnet management classes (IBA 14.2.5), and
// Mellanox's own.
const (
	AttrNotice                   AttrID = 0x0002
	AttrNodeDescription          AttrID = 0x0010
	AttrNodeInfo                 AttrID = 0x0011
	AttrSwitchInfo               AttrID = 0x0012
	AttrGUIDInfo                 AttrID = 0x0014
	AttrPortInfo                 AttrID = 0x0015
	AttrPKeyTable                AttrID = 0x0016
	AttrSLToVLTable              AttrID = 0x0017
	AttrVLArbitrationTable       AttrID = 0x0018
	AttrLinearForwardingTable    AttrID = 0x0019
	AttrRandomForwardingTable    AttrID = 0x001a
	AttrMulticastForwardingTable AttrID = 0x001b
	AttrSMInfo                   AttrID = 0x0020
	AttrVendorDiag               AttrID = 0x0030
	AttrLedInfo                  AttrID = 0x0031
	AttrMellanoxExtendedPortInfo AttrID = 0xff90
)

// String returns the attribute's name.
func (a AttrID) String() string {
	switch a {
	case AttrNotice:
		return "Notice"
	case AttrNodeDescription:
		return "NodeDescription"
	case AttrNodeInfo:
		return "NodeInfo"
	case AttrSwitchInfo:
		return "SwitchInfo"
	case AttrGUIDInfo:
		return "GUIDInfo"
	case AttrPortInfo:
		return "PortInfo"
	case AttrPKeyTable:
		return "P_KeyTable"
	case AttrSLToVLTable:
		return "SLtoVLMappingTable"
	case AttrVLArbitrationTable:
		return "VLArbitrationTable"
	case AttrLinearForwardingTable:
		return "LinearForwardingTable"
	case AttrRandomForwardingTable:
		return "RandomForwardingTable"
	case AttrMulticastForwardingTable:
		return "MulticastForwardingTable"
	case AttrSMInfo:
		return "SMInfo"
	case AttrVendorDiag:
		return "VendorDiag"
	case AttrLedInfo:
		return "LedInfo"
	case AttrMellanoxExtendedPortInfo:
		return "MellanoxExtendedPortInfo"
	}
	return fmt.Sprintf("attribute 0x%04x", uint16(a))
}

// Attribute is what the attribute types have in common. UnmarshalBinary takes
// exactly [DataSize] bytes and gives an error that wraps [ErrLength] for any
// other number; MarshalBinary and AppendBinary yield as many and do not fail.
type Attribute interface {
	AttrID() AttrID
	encoding.BinaryUnmarshaler
	encoding.BinaryMarshaler
	encoding.BinaryAppender
}

// checkLength is the first thing every attribute's decoder does.
func checkLength(a AttrID, b []byte) error {
	if len(b) != DataSize {
		return fmt.Errorf("%v: %w: %d bytes, want %d", a, ErrLength, len(b), DataSize)
	}
	return nil
}

// grow appends DataSize zero bytes to b and returns the whole and the new part.
func grow(b []byte) (whole, part []byte) {
	n := len(b)
	var zero [DataSize]byte
	whole = append(b, zero[:]...)
	return whole, whole[n:]
}

func bit(b uint8, n uint) bool { return b>>n&1 != 0 }

func flag(set bool, n uint) uint8 {
	if set {
		return 1 << n
	}
	return 0
}
