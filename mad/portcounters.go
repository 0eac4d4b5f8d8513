// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// AllPorts asks a switch whose agent has [PerfAllPortSelect] for the sums of its ports' counters.
const AllPorts = 255

const portCountersSize = 44

// PortCounters are the counters of a port that every agent has (IBA 16.1.3.5).
// They stop at their greatest value. Offsets are in bytes:
//
//	 0  reserved            1      16  XmitConstraintErrors   1
//	 1  PortSelect          1      17  RcvConstraintErrors    1
//	 2  CounterSelect       2      18  CounterSelect2         1
//	 4  SymbolErrors        2      19  LocalLinkIntegrity     4 bits, highest first
//	 6  LinkErrorRecovery   1          BufferOverruns         4 bits
//	 7  LinkDowned          1      20  QP1Dropped             2
//	 8  RcvErrors           2      22  VL15Dropped            2
//	10  RcvRemotePhysical   2      24  XmitData               4
//	12  RcvSwitchRelay      2      28  RcvData                4
//	14  XmitDiscards        2      32  XmitPackets            4
//	                               36  RcvPackets             4
//	                               40  XmitWait               4
type PortCounters struct {
	PortSelect           uint8  // whose counters, [AllPorts] for all of a switch
	CounterSelect        uint16 // which a Set clears: bit 0 SymbolErrors, ... 15 RcvPackets
	SymbolErrors         uint16
	LinkErrorRecovery    uint8
	LinkDowned           uint8
	RcvErrors            uint16
	RcvRemotePhysical    uint16
	RcvSwitchRelay       uint16
	XmitDiscards         uint16
	XmitConstraintErrors uint8
	RcvConstraintErrors  uint8
	CounterSelect2       uint8 // which more a Set clears: bit 0 XmitWait
	LocalLinkIntegrity   uint8 // 4 bits
	BufferOverruns       uint8 // 4 bits
	QP1Dropped           uint16
	VL15Dropped          uint16
	XmitData             uint32 // units of 4 bytes
	RcvData              uint32 // units of 4 bytes
	XmitPackets          uint32
	RcvPackets           uint32
	XmitWait             uint32 // ticks; where the agent has [PerfXmitWait]

	spare uint8
}

func (*PortCounters) AttrID() AttrID { return AttrPortCounters }

func (a *PortCounters) UnmarshalBinary(b []byte) error {
	if err := checkAtLeast("PortCounters", b, portCountersSize); err != nil {
		return err
	}
	be := binary.BigEndian
	a.spare, a.PortSelect = b[0], b[1]
	a.CounterSelect = be.Uint16(b[2:])
	a.SymbolErrors = be.Uint16(b[4:])
	a.LinkErrorRecovery, a.LinkDowned = b[6], b[7]
	a.RcvErrors = be.Uint16(b[8:])
	a.RcvRemotePhysical = be.Uint16(b[10:])
	a.RcvSwitchRelay = be.Uint16(b[12:])
	a.XmitDiscards = be.Uint16(b[14:])
	a.XmitConstraintErrors, a.RcvConstraintErrors = b[16], b[17]
	a.CounterSelect2 = b[18]
	a.LocalLinkIntegrity, a.BufferOverruns = b[19]>>4, b[19]&0xf
	a.QP1Dropped = be.Uint16(b[20:])
	a.VL15Dropped = be.Uint16(b[22:])
	a.XmitData = be.Uint32(b[24:])
	a.RcvData = be.Uint32(b[28:])
	a.XmitPackets = be.Uint32(b[32:])
	a.RcvPackets = be.Uint32(b[36:])
	a.XmitWait = be.Uint32(b[40:])
	return nil
}

func (a *PortCounters) AppendBinary(dst []byte) ([]byte, error) {
	var b [portCountersSize]byte
	be := binary.BigEndian
	b[0], b[1] = a.spare, a.PortSelect
	be.PutUint16(b[2:], a.CounterSelect)
	be.PutUint16(b[4:], a.SymbolErrors)
	b[6], b[7] = a.LinkErrorRecovery, a.LinkDowned
	be.PutUint16(b[8:], a.RcvErrors)
	be.PutUint16(b[10:], a.RcvRemotePhysical)
	be.PutUint16(b[12:], a.RcvSwitchRelay)
	be.PutUint16(b[14:], a.XmitDiscards)
	b[16], b[17] = a.XmitConstraintErrors, a.RcvConstraintErrors
	b[18], b[19] = a.CounterSelect2, a.LocalLinkIntegrity<<4|a.BufferOverruns&0xf
	be.PutUint16(b[20:], a.QP1Dropped)
	be.PutUint16(b[22:], a.VL15Dropped)
	be.PutUint32(b[24:], a.XmitData)
	be.PutUint32(b[28:], a.RcvData)
	be.PutUint32(b[32:], a.XmitPackets)
	be.PutUint32(b[36:], a.RcvPackets)
	be.PutUint32(b[40:], a.XmitWait)
	return append(dst, b[:]...), nil
}
