// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// ClassPortInfoSize is the size of a [ClassPortInfo] in bytes.
const ClassPortInfoSize = 72

// ClassPortInfo describes the agent of a management class at a port (IBA 13.4.8.1):
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
	CapabilityMask  uint16 // defined by the class from bit 8 on
	CapabilityMask2 uint32 // 27 bits
	RespTime        uint8  // 5 bits; 4.096 us * 2^n
	Redirect        AgentAddress
	Trap            AgentAddress
}

// AgentAddress is the address to which requests or traps of a class are sent:
//
//	 0  GID           16
//	16  TrafficClass   1
//	17  SL             4 bits, highest first
//	    FlowLabel     20 bits
//	20  LID            2
//	22  PKey           2
//	24  HopLimit       1  reserved in a redirect address
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

// The capabilities of a performance management agent (IBA 16.1.3.1; added bits: volume 1, release 1.3).
const (
	PerfAllPortSelect     uint16 = 1 << 8  // port 255 means all ports of a switch
	PerfExtendedWidth     uint16 = 1 << 9  // supports PortCountersExtended
	PerfExtendedWidthOnly uint16 = 1 << 10 // supports it without unicast and multicast counters
	PerfXmitWait          uint16 = 1 << 12 // PortCounters contains XmitWait
)

// PerfAdditional is the capability of CapabilityMask2 of a performance management agent whose PortCountersExtended
// contains error counters and XmitWait (IBA 1.3, 16.1.3.1: IsAdditionalPortCountersExtendedSupported).
const PerfAdditional uint32 = 1 << 1

func (*ClassPortInfo) AttrID() AttrID { return AttrClassPortInfo }

func (a *ClassPortInfo) UnmarshalBinary(b []byte) error {
	if err := checkAtLeast("ClassPortInfo", b, ClassPortInfoSize); err != nil {
		return err
	}
	be := binary.BigEndian
	a.BaseVersion, a.ClassVersion = b[0], b[1]
	a.CapabilityMask = be.Uint16(b[2:])
	mask2 := be.Uint32(b[4:])
	a.CapabilityMask2, a.RespTime = mask2>>5, uint8(mask2&0x1f)
	a.Redirect.decode(b[8:])
	a.Trap.decode(b[40:])
	return nil
}

func (a *ClassPortInfo) AppendBinary(dst []byte) ([]byte, error) {
	var b [ClassPortInfoSize]byte
	be := binary.BigEndian
	b[0], b[1] = a.BaseVersion, a.ClassVersion
	be.PutUint16(b[2:], a.CapabilityMask)
	be.PutUint32(b[4:], a.CapabilityMask2<<5|uint32(a.RespTime&0x1f))
	a.Redirect.encode(b[8:])
	a.Trap.encode(b[40:])
	return append(dst, b[:]...), nil
}

func (a *AgentAddress) decode(b []byte) {
	be := binary.BigEndian
	copy(a.GID[:], b)
	tcSLFlow := be.Uint32(b[16:])
	a.TrafficClass, a.SL, a.FlowLabel = uint8(tcSLFlow>>24), uint8(tcSLFlow>>20&0xf), tcSLFlow&0xfffff
	a.LID = be.Uint16(b[20:])
	a.PKey = PKey(be.Uint16(b[22:]))
	a.HopLimit, a.QP = b[24], be.Uint32(b[24:])&0xffffff
	a.QKey = be.Uint32(b[28:])
}

func (a *AgentAddress) encode(b []byte) {
	be := binary.BigEndian
	copy(b, a.GID[:])
	be.PutUint32(b[16:], uint32(a.TrafficClass)<<24|uint32(a.SL&0xf)<<20|a.FlowLabel&0xfffff)
	be.PutUint16(b[20:], a.LID)
	be.PutUint16(b[22:], uint16(a.PKey))
	be.PutUint32(b[24:], uint32(a.HopLimit)<<24|a.QP&0xffffff)
	be.PutUint32(b[28:], a.QKey)
}
