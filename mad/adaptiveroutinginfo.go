// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// AdaptiveRoutingInfo is NVIDIA's own attribute: how a switch routes adaptively. Words as published headers of NVIDIA's
// lay them out, bits counted from the lowest; it was tried on no switch.
//
//	word 0  0 Enabled  1 ARN  2 FRN  3 Fallback  4 FallbackEnabled  8-11 SubGroups
//	        26 GlobalGroups  27 BySLSupported  28 BySL  29 ByTransport
//	word 1  0-11 GroupCap  12-23 GroupTop  24-27 GroupTables
//	word 2  8-15 SubGroupsSupported  16-31 SLs
//	word 3  0-7 Excluded
//	word 4  Ageing
type AdaptiveRoutingInfo struct {
	Enabled         bool
	ARN, FRN        bool // notifications of congestion and of failures are supported
	Fallback        bool // another port of the group for one that is down is supported
	FallbackEnabled bool
	SubGroups       uint8 // how many of a group are in use
	GlobalGroups    bool
	BySLSupported   bool
	BySL            bool // packets of SLs alone are routed adaptively
	ByTransport     bool // Excluded is supported

	GroupCap    uint16 // 0: the switch does not route adaptively
	GroupTop    uint16 // the highest group in use
	GroupTables uint8

	SubGroupsSupported uint8
	SLs                uint16 // a bit each
	Excluded           uint8  // the transports that are not routed adaptively: UD, RC, UC and DCT, a bit each
	Ageing             uint32 // how long a burst may pause and keep its port, in microseconds

	spare [DataSize]byte
}

func (*AdaptiveRoutingInfo) AttrID() AttrID { return AttrAdaptiveRoutingInfo }

// bits are the fields that are one bit of word 0.
func (a *AdaptiveRoutingInfo) bits() map[int]*bool {
	return map[int]*bool{
		0: &a.Enabled, 1: &a.ARN, 2: &a.FRN, 3: &a.Fallback, 4: &a.FallbackEnabled,
		26: &a.GlobalGroups, 27: &a.BySLSupported, 28: &a.BySL, 29: &a.ByTransport,
	}
}

func (a *AdaptiveRoutingInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrAdaptiveRoutingInfo, b); err != nil {
		return err
	}
	var w [5]uint32
	for i := range w {
		w[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	known := uint32(0xf << 8)
	for bit, field := range a.bits() {
		*field = w[0]>>bit&1 != 0
		known |= 1 << bit
	}
	a.SubGroups = uint8(w[0] >> 8 & 0xf)
	a.GroupCap, a.GroupTop, a.GroupTables = uint16(w[1]&0xfff), uint16(w[1]>>12&0xfff), uint8(w[1]>>24&0xf)
	a.SubGroupsSupported, a.SLs = uint8(w[2]>>8), uint16(w[2]>>16)
	a.Excluded, a.Ageing = uint8(w[3]), w[4]
	copy(a.spare[:], b)
	for i, mask := range [5]uint32{known, 0x0fff_ffff, 0xffff_ff00, 0xff, 0xffff_ffff} {
		binary.BigEndian.PutUint32(a.spare[4*i:], w[i]&^mask)
	}
	return nil
}

func (a *AdaptiveRoutingInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	copy(b, a.spare[:])
	var w [5]uint32
	for bit, field := range a.bits() {
		if *field {
			w[0] |= 1 << bit
		}
	}
	w[0] |= uint32(a.SubGroups&0xf) << 8
	w[1] = uint32(a.GroupCap&0xfff) | uint32(a.GroupTop&0xfff)<<12 | uint32(a.GroupTables&0xf)<<24
	w[2] = uint32(a.SubGroupsSupported)<<8 | uint32(a.SLs)<<16
	w[3], w[4] = uint32(a.Excluded), a.Ageing
	for i, w := range w {
		binary.BigEndian.PutUint32(b[4*i:], binary.BigEndian.Uint32(b[4*i:])|w)
	}
	return dst, nil
}
