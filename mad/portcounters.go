// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
)

// AllPorts selects all ports of a switch, so that the counters are sums. The agent of the switch must have
// [PerfAllPortSelect].
const AllPorts = 255

const portCountersSize = 44

// PortCounters holds the counters of a port that every agent has (IBA 16.1.3.5). The counters stop at their greatest
// value. Offsets are in bytes:
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
	PortSelect           uint8  // port, or [AllPorts] of a switch
	CounterSelect        uint16 // counters that a Set clears: bit 0 SymbolErrors, ... 15 RcvPackets
	SymbolErrors         uint16
	LinkErrorRecovery    uint8
	LinkDowned           uint8
	RcvErrors            uint16
	RcvRemotePhysical    uint16
	RcvSwitchRelay       uint16
	XmitDiscards         uint16
	XmitConstraintErrors uint8
	RcvConstraintErrors  uint8
	CounterSelect2       uint8 // further counters that a Set clears: bit 0 XmitWait
	LocalLinkIntegrity   uint8 // 4 bits
	BufferOverruns       uint8 // 4 bits
	QP1Dropped           uint16
	VL15Dropped          uint16
	XmitData             uint32 // units of 4 bytes
	RcvData              uint32 // units of 4 bytes
	XmitPackets          uint32
	RcvPackets           uint32
	XmitWait             uint32 // ticks; valid if the agent has [PerfXmitWait]

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

const (
	numExtended              = 22
	portCountersExtendedSize = 8 + 8*numExtended
)

// PortCountersExtended holds the 64-bit counters of a port. Agents with [PerfExtendedWidth] have it (IBA 16.1.4.11).
// The counters from SymbolErrors on are those of release 1.3. Older agents leave them 0:
//
//	0  reserved        1
//	1  PortSelect      1
//	2  CounterSelect   2
//	4  CounterSelect2  4
//	8  counters        8 each, in the order of the fields
type PortCountersExtended struct {
	PortSelect           uint8  // port, or [AllPorts] of a switch
	CounterSelect        uint16 // counters that a Set clears: bit 0 XmitData, ... 7 MulticastRcvPackets
	CounterSelect2       uint32 // further counters that a Set clears: bit 0 SymbolErrors, ...
	XmitData             uint64 // units of 4 bytes
	RcvData              uint64 // units of 4 bytes
	XmitPackets          uint64
	RcvPackets           uint64
	UnicastXmitPackets   uint64
	UnicastRcvPackets    uint64
	MulticastXmitPackets uint64
	MulticastRcvPackets  uint64
	SymbolErrors         uint64
	LinkErrorRecovery    uint64
	LinkDowned           uint64
	RcvErrors            uint64
	RcvRemotePhysical    uint64
	RcvSwitchRelay       uint64
	XmitDiscards         uint64
	XmitConstraintErrors uint64
	RcvConstraintErrors  uint64
	LocalLinkIntegrity   uint64
	BufferOverruns       uint64
	VL15Dropped          uint64
	XmitWait             uint64
	QP1Dropped           uint64

	spare uint8
}

func (*PortCountersExtended) AttrID() AttrID { return AttrPortCountersExtended }

// Counters returns pointers to the counters in their order in the attribute. The select bits have the same order.
func (a *PortCountersExtended) Counters() [numExtended]*uint64 {
	return [...]*uint64{
		&a.XmitData, &a.RcvData, &a.XmitPackets, &a.RcvPackets,
		&a.UnicastXmitPackets, &a.UnicastRcvPackets, &a.MulticastXmitPackets, &a.MulticastRcvPackets,
		&a.SymbolErrors, &a.LinkErrorRecovery, &a.LinkDowned, &a.RcvErrors, &a.RcvRemotePhysical,
		&a.RcvSwitchRelay, &a.XmitDiscards, &a.XmitConstraintErrors, &a.RcvConstraintErrors,
		&a.LocalLinkIntegrity, &a.BufferOverruns, &a.VL15Dropped, &a.XmitWait, &a.QP1Dropped,
	}
}

func (a *PortCountersExtended) UnmarshalBinary(b []byte) error {
	if err := checkAtLeast("PortCountersExtended", b, portCountersExtendedSize); err != nil {
		return err
	}
	be := binary.BigEndian
	a.spare, a.PortSelect = b[0], b[1]
	a.CounterSelect = be.Uint16(b[2:])
	a.CounterSelect2 = be.Uint32(b[4:])
	for i, counter := range a.Counters() {
		*counter = be.Uint64(b[8+8*i:])
	}
	return nil
}

func (a *PortCountersExtended) AppendBinary(dst []byte) ([]byte, error) {
	be := binary.BigEndian
	dst = append(dst, a.spare, a.PortSelect)
	dst = be.AppendUint16(dst, a.CounterSelect)
	dst = be.AppendUint32(dst, a.CounterSelect2)
	for _, counter := range a.Counters() {
		dst = be.AppendUint64(dst, *counter)
	}
	return dst, nil
}

const rcvErrorDetailsSize = 16

// PortRcvErrorDetails holds the 16-bit counters that divide the receive errors of a port by cause. Agents may lack it
// (IBA 16.1.4). Offsets are in bytes:
//
// \t0  reserved       1
// \t1  PortSelect     1
// \t2  CounterSelect  2
// \t4  counters       2 each, in the order of the fields
type PortRcvErrorDetails struct {
	PortSelect          uint8
	CounterSelect       uint16 // counters that a Set clears: bit 0 LocalPhysicalErrors, ... 5 LoopingErrors
	LocalPhysicalErrors uint16
	MalformedPackets    uint16
	BufferOverruns      uint16
	DLIDMappingErrors   uint16
	VLMappingErrors     uint16
	LoopingErrors       uint16

	spare uint8
}

func (*PortRcvErrorDetails) AttrID() AttrID { return AttrPortRcvErrorDetails }

// Counters returns pointers to the counters in their order in the attribute. The select bits have the same order.
func (a *PortRcvErrorDetails) Counters() [6]*uint16 {
	return [...]*uint16{
		&a.LocalPhysicalErrors, &a.MalformedPackets, &a.BufferOverruns, &a.DLIDMappingErrors, &a.VLMappingErrors,
		&a.LoopingErrors,
	}
}

func (a *PortRcvErrorDetails) UnmarshalBinary(b []byte) error {
	if err := checkAtLeast("PortRcvErrorDetails", b, rcvErrorDetailsSize); err != nil {
		return err
	}
	be := binary.BigEndian
	a.spare, a.PortSelect = b[0], b[1]
	a.CounterSelect = be.Uint16(b[2:])
	for i, counter := range a.Counters() {
		*counter = be.Uint16(b[4+2*i:])
	}
	return nil
}

func (a *PortRcvErrorDetails) AppendBinary(dst []byte) ([]byte, error) {
	be := binary.BigEndian
	dst = append(dst, a.spare, a.PortSelect)
	dst = be.AppendUint16(dst, a.CounterSelect)
	for _, counter := range a.Counters() {
		dst = be.AppendUint16(dst, *counter)
	}
	return dst, nil
}
