// SPDX-License-Identifier: Apache-2.0

package mad

import "example.org/ibconsole/mad/internal/wire"

// ClassPortInfoSize is the number of bytes of a [ClassPortInfo].
const ClassPortInfoSize = 72

// ClassPortInfo describes the agent of a management class at a port (IBA
// 13.4.8.1):
//
//	 0  BaseVersion      1
//	 1  ClassVersion     1
//	 2  CapabilityMask   2
//	 4  CapabilityMask2  27 bits, highest first
//	    RespTime         5 bits
//	 8  Redirect        32  an [AgentAddress]
//	40  Trap            32  an [AgentAddress]
type ClassPortInfo struct {
	BaseVersion     uint8
	ClassVersion    uint8
	CapabilityMask  uint16 // from bit 8 on as the class says
	CapabilityMask2 uint32 // 27 bits
	RespTime        uint8  // 5 bits; 4.096 us * 2^n
	Redirect        AgentAddress
	Trap            AgentAddress
}

// AgentAddress is where the requests or traps of a class go:
//
//	 0  GID           16
//	16  TrafficClass   1
//	17  SL             4 bits, highest first
//	    FlowLabel     20 bits
//	20  LID            2
//	22  PKey           2
//	24  HopLimit       1  reserved in an address to redirect to
//	25  QP             3
//	28  QKey           4
type AgentAddress struct {
	GID          GID
	TrafficClass uint8
	SL           uint8  // 4 bits
	FlowLabel    uint32 // 20 bits
	LID          uint16
	PKey         PKey
	HopLimit     uint8
	QP           uint32 // 24 bits
	QKey         uint32
}

// Capabilities of a performance management agent (IBA 16.1.3.1, and volume 1
// release 1.3 for the bits that were added).
const (
	PerfAllPortSelect     uint16 = 1 << 8  // port 255 is all ports of a switch
	PerfExtendedWidth     uint16 = 1 << 9  // PortCountersExtended
	PerfExtendedWidthOnly uint16 = 1 << 10 // without unicast and multicast counters
	PerfXmitWait          uint16 = 1 << 12 // PortXmitWait in PortCounters
)

// AttrID returns [AttrClassPortInfo].
func (*ClassPortInfo) AttrID() AttrID { return AttrClassPortInfo }

// UnmarshalBinary decodes the attribute; see [GSIAttribute].
func (a *ClassPortInfo) UnmarshalBinary(b []byte) error {
	if err := checkAtLeast("ClassPortInfo", b, ClassPortInfoSize); err != nil {
		return err
	}
	a.fields(wire.Decode(b))
	return nil
}

// AppendBinary appends the attribute's 72 bytes; see [GSIAttribute].
func (a *ClassPortInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, l := wire.Append(dst, ClassPortInfoSize)
	a.fields(l)
	return dst, nil
}

func (a *ClassPortInfo) fields(l *wire.Layout) {
	wire.Bits(l, 8, &a.BaseVersion, &a.ClassVersion)
	wire.Bits(l, 16, &a.CapabilityMask)
	wire.Bits(l, 27, &a.CapabilityMask2)
	wire.Bits(l, 5, &a.RespTime)
	a.Redirect.fields(l)
	a.Trap.fields(l)
}

func (a *AgentAddress) fields(l *wire.Layout) {
	l.Bytes(a.GID[:])
	wire.Bits(l, 8, &a.TrafficClass)
	wire.Bits(l, 4, &a.SL)
	wire.Bits(l, 20, &a.FlowLabel)
	wire.Bits(l, 16, &a.LID)
	wire.Bits(l, 16, &a.PKey)
	wire.Bits(l, 8, &a.HopLimit)
	wire.Bits(l, 24, &a.QP)
	wire.Bits(l, 32, &a.QKey)
}
