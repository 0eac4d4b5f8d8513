// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
)

// AdaptiveRoutingInfo is an NVIDIA attribute with the settings of a switch for adaptive routing. The bits, counted from
// the lowest, are those in published headers of NVIDIA. They are untested on a real switch:
//
//	word 0  0 Enabled  1 ARN  2 FRN  3 Fallback  4 FallbackEnabled  8-11 SubGroups
//	        26 GlobalGroups  27 BySLSupported  28 BySL  29 ByTransport
//	word 1  0-11 GroupCap  12-23 GroupTop  24-27 GroupTables
//	word 2  8-15 SubGroupsSupported  16-31 SLs
//	word 3  0-7 Excluded
//	word 4  Ageing
type AdaptiveRoutingInfo struct {
	Enabled         bool
	ARN, FRN        bool // supports notifications of congestion and of failures
	Fallback        bool // supports replacing a failed port by another of its group
	FallbackEnabled bool
	SubGroups       uint8 // subgroups of each group in use
	GlobalGroups    bool
	BySLSupported   bool
	BySL            bool // only packets of SLs are routed adaptively
	ByTransport     bool // supports Excluded

	GroupCap    uint16 // 0: the switch does not route adaptively
	GroupTop    uint16 // highest group in use
	GroupTables uint8

	SubGroupsSupported uint8
	SLs                uint16 // one bit each
	Excluded           uint8  // transports not routed adaptively: UD, RC, UC and DCT, one bit each
	Ageing             uint32 // pause within a burst, in microseconds, after which it may change its port

	spare [DataSize]byte
}

func (*AdaptiveRoutingInfo) AttrID() AttrID { return AttrAdaptiveRoutingInfo }

// bits maps the numbers of bits in word 0 to the fields that have a single bit.
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

// AdaptiveRoutingGroups is the number of groups in a block of [AdaptiveRoutingGroupTable].
const AdaptiveRoutingGroups = 2

// PortMask is a set of ports from 0 to 255.
type PortMask [4]uint64

// Has reports whether a port is in the set.
func (m *PortMask) Has(port uint8) bool { return m[port>>6]>>(port&63)&1 != 0 }

// Add adds a port to the set.
func (m *PortMask) Add(port uint8) { m[port>>6] |= 1 << (port & 63) }

// AdaptiveRoutingGroupTable is an NVIDIA attribute. It is a block of two port groups in the first group table,
// beginning with group 2*modifier. A group is a 256-bit number in which bit n stands for port n. The format is that in
// published headers of NVIDIA and is untested on a real switch.
type AdaptiveRoutingGroupTable [AdaptiveRoutingGroups]PortMask

func (*AdaptiveRoutingGroupTable) AttrID() AttrID { return AttrAdaptiveRoutingGroupTable }

func (t *AdaptiveRoutingGroupTable) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrAdaptiveRoutingGroupTable, b); err != nil {
		return err
	}
	for g := range t {
		for i := range t[g] {
			t[g][len(t[g])-1-i] = binary.BigEndian.Uint64(b[32*g+8*i:])
		}
	}
	return nil
}

func (t *AdaptiveRoutingGroupTable) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	for g := range t {
		for i := range t[g] {
			binary.BigEndian.PutUint64(b[32*g+8*i:], t[g][len(t[g])-1-i])
		}
	}
	return dst, nil
}

// AdaptiveRoutingLIDs is the number of LIDs in a block of [AdaptiveRoutingLFT].
const AdaptiveRoutingLIDs = 16

// LIDState determines how a switch chooses the egress port for packets to a LID.
type LIDState uint8

// The states of LIDs. Their values are those in the attribute.
const (
	LIDBounded LIDState = iota
	LIDFree
	LIDStatic
	LIDHash
)

// AdaptiveRoutingLFT is the NVIDIA attribute AdaptiveRoutingLinearForwardingTable, in the format that switches use
// since SwitchX. It is a block of 16 LIDs in the first table, beginning with LID 16*modifier. Each element is a word.
// The bits, counted from the lowest, are those in published headers of NVIDIA. They are untested on a real switch:
//
//	0-11 Group  16-23 Port  24-27 Table  30-31 State
type AdaptiveRoutingLFT [AdaptiveRoutingLIDs]AdaptiveRoutingEntry

// AdaptiveRoutingEntry states how packets to a LID leave a switch.
type AdaptiveRoutingEntry struct {
	Group uint16 // group of the LID; the port in state [LIDStatic]
	Port  uint8  // port of packets that may not be routed adaptively
	Table uint8  // group table
	State LIDState

	spare uint32
}

func (*AdaptiveRoutingLFT) AttrID() AttrID { return AttrAdaptiveRoutingLFT }

func (t *AdaptiveRoutingLFT) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrAdaptiveRoutingLFT, b); err != nil {
		return err
	}
	for i := range t {
		w := binary.BigEndian.Uint32(b[4*i:])
		t[i] = AdaptiveRoutingEntry{
			Group: uint16(w & 0xfff), Port: uint8(w >> 16), Table: uint8(w >> 24 & 0xf), State: LIDState(w >> 30),
			spare: w & 0x3000_f000,
		}
	}
	return nil
}

func (t *AdaptiveRoutingLFT) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	for i := range t {
		e := &t[i]
		binary.BigEndian.PutUint32(b[4*i:], uint32(e.Group&0xfff)|uint32(e.Port)<<16|uint32(e.Table&0xf)<<24|
			uint32(e.State&3)<<30|e.spare)
	}
	return dst, nil
}

// PrivateLFTInfo is an NVIDIA attribute. It states whether a switch has several forwarding tables, which are selected
// by ingress port and SL. The bits of word 0, counted from the lowest, are those in published headers of NVIDIA. They
// are untested on a real switch:
//
//	0-2 Mode  8-10 ModeCap  16-23 Tables  24 NoFallback
type PrivateLFTInfo struct {
	Mode       uint8 // 0: not in use
	ModeCap    uint8
	Tables     uint8
	NoFallback bool // the standard forwarding table cannot be written while these are in use

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
