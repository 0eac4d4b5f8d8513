// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding"
	"fmt"
)

// AttrID is the ID of a MAD's attribute.
type AttrID uint16

// The attributes of the subnet management classes (IBA 14.2.5), and those of Mellanox.
const (
	AttrClassPortInfo            AttrID = 0x0001 // in other classes
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

	AttrPrivateLFTInfo            AttrID = 0xff10
	AttrAdaptiveRoutingInfo       AttrID = 0xff20
	AttrAdaptiveRoutingGroupTable AttrID = 0xff21
	AttrAdaptiveRoutingLFT        AttrID = 0xff23
)

// The attributes of performance management (IBA 16.1.3).
const (
	AttrPortSamplesControl   AttrID = 0x0010
	AttrPortCounters         AttrID = 0x0012
	AttrPortRcvErrorDetails  AttrID = 0x0015
	AttrPortCountersExtended AttrID = 0x001d
)

// Name returns the name of the attribute in a management class. The meaning of an attribute ID depends on the class.
func (a AttrID) Name(c Class) string {
	switch {
	case c.isSMP():
		return a.String()
	case a == AttrClassPortInfo:
		return "ClassPortInfo"
	case c == ClassPerf && a == AttrPortSamplesControl:
		return "PortSamplesControl"
	case c == ClassPerf && a == AttrPortCounters:
		return "PortCounters"
	case c == ClassPerf && a == AttrPortRcvErrorDetails:
		return "PortRcvErrorDetails"
	case c == ClassPerf && a == AttrPortCountersExtended:
		return "PortCountersExtended"
	case c == ClassSA:
		return named(namesSA, a, "SA attribute 0x%04x")
	}
	return fmt.Sprintf("attribute 0x%04x of class 0x%02x", uint16(a), uint8(c))
}

var namesSA = map[AttrID]string{
	AttrNotice: "Notice",
	0x0003:     "InformInfo",
	0x0011:     "NodeRecord",
	0x0012:     "PortInfoRecord",
	0x0013:     "SLtoVLMappingTableRecord",
	0x0014:     "SwitchInfoRecord",
	0x0015:     "LinearForwardingTableRecord",
	0x0017:     "MulticastForwardingTableRecord",
	0x0018:     "SMInfoRecord",
	0x0020:     "LinkRecord",
	0x0031:     "ServiceRecord",
	0x0035:     "PathRecord",
	0x0038:     "MCMemberRecord",
}

// String returns the name of the attribute in the subnet management classes.
func (a AttrID) String() string { return named(names, a, "attribute 0x%04x") }

var names = map[AttrID]string{
	AttrNotice:                   "Notice",
	AttrNodeDescription:          "NodeDescription",
	AttrNodeInfo:                 "NodeInfo",
	AttrSwitchInfo:               "SwitchInfo",
	AttrGUIDInfo:                 "GUIDInfo",
	AttrPortInfo:                 "PortInfo",
	AttrPKeyTable:                "P_KeyTable",
	AttrSLToVLTable:              "SLtoVLMappingTable",
	AttrVLArbitrationTable:       "VLArbitrationTable",
	AttrLinearForwardingTable:    "LinearForwardingTable",
	AttrRandomForwardingTable:    "RandomForwardingTable",
	AttrMulticastForwardingTable: "MulticastForwardingTable",
	AttrSMInfo:                   "SMInfo",
	AttrVendorDiag:               "VendorDiag",
	AttrLedInfo:                  "LedInfo",
	AttrMellanoxExtendedPortInfo: "MellanoxExtendedPortInfo",

	AttrPrivateLFTInfo:            "PrivateLFTInfo",
	AttrAdaptiveRoutingInfo:       "AdaptiveRoutingInfo",
	AttrAdaptiveRoutingGroupTable: "AdaptiveRoutingGroupTable",
	AttrAdaptiveRoutingLFT:        "AdaptiveRoutingLinearForwardingTable",
}

// Attribute is implemented by all attribute types. UnmarshalBinary takes exactly [DataSize] bytes, except for
// [GSIAttribute]s. For any other number of bytes it returns an error that wraps [ErrLength]. AppendBinary appends the
// same number of bytes and does not fail.
type Attribute interface {
	AttrID() AttrID
	encoding.BinaryUnmarshaler
	encoding.BinaryAppender
}

// GSIAttribute is implemented by the attributes of the general services. UnmarshalBinary ignores bytes beyond the
// attribute. If there are too few bytes, it returns an error that wraps [ErrLength]. AppendBinary appends the attribute
// and does not fail.
type GSIAttribute Attribute

// named returns the name of the number n. If n has no name, it returns the number in the given format.
func named[T ~uint8 | ~uint16](names map[T]string, n T, format string) string {
	if name, ok := names[n]; ok {
		return name
	}
	return fmt.Sprintf(format, uint16(n))
}

// checkAtLeast returns an error if b is too short to be decoded as a [GSIAttribute].
func checkAtLeast(what string, b []byte, want int) error {
	if len(b) < want {
		return fmt.Errorf("%s: %w: %d bytes, want %d or more", what, ErrLength, len(b), want)
	}
	return nil
}

// checkLength returns an error unless b has the length of an [Attribute].
func checkLength(a AttrID, b []byte) error {
	if len(b) != DataSize {
		return fmt.Errorf("%v: %w: %d bytes, want %d", a, ErrLength, len(b), DataSize)
	}
	return nil
}

// grow appends DataSize zero bytes to b. It returns the extended slice and the new part of it.
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
