// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding"
	"fmt"
)

// AttrID says which attribute a MAD carries.
type AttrID uint16

// Attributes of the subnet management classes (IBA 14.2.5), and Mellanox's own.
const (
	AttrClassPortInfo            AttrID = 0x0001 // of the other classes
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

// Attributes of performance management (IBA 16.1.3).
const (
	AttrPortCounters         AttrID = 0x0012
	AttrPortCountersExtended AttrID = 0x001d
)

// Name returns the attribute's name in a management class: the numbers of attributes belong to the class.
func (a AttrID) Name(c Class) string {
	switch {
	case c.isSMP():
		return a.String()
	case a == AttrClassPortInfo:
		return "ClassPortInfo"
	case c == ClassPerf && a == AttrPortCounters:
		return "PortCounters"
	case c == ClassPerf && a == AttrPortCountersExtended:
		return "PortCountersExtended"
	case c == ClassSA:
		return a.nameSA()
	}
	return fmt.Sprintf("attribute 0x%04x of class 0x%02x", uint16(a), uint8(c))
}

func (a AttrID) nameSA() string {
	switch a {
	case AttrNotice:
		return "Notice"
	case 0x0003:
		return "InformInfo"
	case 0x0011:
		return "NodeRecord"
	case 0x0012:
		return "PortInfoRecord"
	case 0x0013:
		return "SLtoVLMappingTableRecord"
	case 0x0014:
		return "SwitchInfoRecord"
	case 0x0015:
		return "LinearForwardingTableRecord"
	case 0x0017:
		return "MulticastForwardingTableRecord"
	case 0x0018:
		return "SMInfoRecord"
	case 0x0020:
		return "LinkRecord"
	case 0x0031:
		return "ServiceRecord"
	case 0x0035:
		return "PathRecord"
	case 0x0038:
		return "MCMemberRecord"
	}
	return fmt.Sprintf("SA attribute 0x%04x", uint16(a))
}

// String returns the attribute's name in the subnet management classes.
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
// exactly [DataSize] bytes, except as [GSIAttribute] says, and gives an error that wraps [ErrLength] for any
// other number; AppendBinary yields as many and does not fail.
type Attribute interface {
	AttrID() AttrID
	encoding.BinaryUnmarshaler
	encoding.BinaryAppender
}

// GSIAttribute is what the attributes of the other classes have in common. UnmarshalBinary takes as many
// bytes as the attribute has, or more, of which the rest means nothing; for fewer it gives an error that
// wraps [ErrLength]. AppendBinary yields as many bytes as the attribute has and does not fail.
type GSIAttribute Attribute

// checkAtLeast is the first thing the decoder of a [GSIAttribute] does.
func checkAtLeast(what string, b []byte, want int) error {
	if len(b) < want {
		return fmt.Errorf("%s: %w: %d bytes, want %d or more", what, ErrLength, len(b), want)
	}
	return nil
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
