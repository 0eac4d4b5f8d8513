// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

const (
	numExtended              = 22
	portCountersExtendedSize = 8 + 8*numExtended
)

// PortCountersExtended are the 64-bit counters of a port, for agents that have [PerfExtendedWidth] (IBA
// 16.1.4.11; those from SymbolErrors on, which older agents leave 0, as in release 1.3):
//
//	0  reserved        1
//	1  PortSelect      1
//	2  CounterSelect   2
//	4  CounterSelect2  4
//	8  the counters    8 each, in the order of the fields
type PortCountersExtended struct {
	PortSelect           uint8  // whose counters, [AllPorts] for all of a switch
	CounterSelect        uint16 // which a Set clears: bit 0 XmitData, ... 7 MulticastRcvPackets
	CounterSelect2       uint32 // which more a Set clears: bit 0 SymbolErrors, ...
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

// Counters are the counters in the order in which they are sent, and of the bits that select them.
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
