// SPDX-License-Identifier: Apache-2.0

package mad

import "example.org/ibconsole/mad/internal/wire"

// AllPorts asks a switch whose agent has [PerfAllPortSelect] for the sums of
// its ports' counters.
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

// AttrID returns [AttrPortCounters].
func (*PortCounters) AttrID() AttrID { return AttrPortCounters }

// UnmarshalBinary decodes the attribute; see [GSIAttribute].
func (a *PortCounters) UnmarshalBinary(b []byte) error {
	if err := checkAtLeast("PortCounters", b, portCountersSize); err != nil {
		return err
	}
	a.fields(wire.Decode(b))
	return nil
}

// AppendBinary appends the attribute's 44 bytes; see [GSIAttribute].
func (a *PortCounters) AppendBinary(dst []byte) ([]byte, error) {
	dst, l := wire.Append(dst, portCountersSize)
	a.fields(l)
	return dst, nil
}

func (a *PortCounters) fields(l *wire.Layout) {
	wire.Bits(l, 8, &a.spare, &a.PortSelect)
	wire.Bits(l, 16, &a.CounterSelect, &a.SymbolErrors)
	wire.Bits(l, 8, &a.LinkErrorRecovery, &a.LinkDowned)
	wire.Bits(l, 16, &a.RcvErrors, &a.RcvRemotePhysical, &a.RcvSwitchRelay, &a.XmitDiscards)
	wire.Bits(l, 8, &a.XmitConstraintErrors, &a.RcvConstraintErrors, &a.CounterSelect2)
	wire.Bits(l, 4, &a.LocalLinkIntegrity, &a.BufferOverruns)
	wire.Bits(l, 16, &a.QP1Dropped, &a.VL15Dropped)
	wire.Bits(l, 32, &a.XmitData, &a.RcvData, &a.XmitPackets, &a.RcvPackets, &a.XmitWait)
}
