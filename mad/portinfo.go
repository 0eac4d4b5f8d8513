// SPDX-License-Identifier: Apache-2.0

package mad

import "example.org/ibconsole/mad/internal/wire"

// PortInfo describes a port; the attribute modifier is its number (IBA
// 14.2.5.6; the later fields, from CapabilityMask2 on and the ext2 bits, as in
// rdma-core's libibmad).
// "hi" and "lo" are the high and low four bits of a byte:
//
//	 0  MKey                 8      38  VLHighLimit          1
//	 8  GIDPrefix            8      39  VLArbHighCap         1
//	16  LID                  2      40  VLArbLowCap          1
//	18  MasterSMLID          2      41  InitTypeReply       hi, MTUCap lo
//	20  CapabilityMask       4      42  VLStallCount 3 bits, HOQLife 5
//	24  DiagCode             2      43  OperVLs             hi, then 1 bit each:
//	26  MKeyLeasePeriod      2          PartitionEnforcementInbound, -Outbound,
//	28  LocalPort            1          FilterRawInbound, -Outbound
//	29  LinkWidthEnabled     1      44  MKeyViolations       2
//	30  LinkWidthSupported   1      46  PKeyViolations       2
//	31  LinkWidthActive      1      48  QKeyViolations       2
//	32  LinkSpeedSupported  hi      50  GUIDCap              1
//	    PortState           lo      51  ClientReregister 1 bit,
//	33  PhysState           hi          MulticastPKeyTrapSuppression 2,
//	    LinkDownDefault     lo          SubnetTimeout 5
//	34  MKeyProtect     2 bits      52  reserved 3 bits, RespTime 5
//	    reserved 3, LMC 3           53  LocalPhyErrors      hi, OverrunErrors lo
//	35  LinkSpeedActive     hi      54  MaxCreditHint        2
//	    LinkSpeedEnabled    lo      56  reserved 1 bit, LinkSpeedExt2Active 2,
//	36  NeighborMTU         hi          -Supported 2, -Enabled 3
//	    MasterSMSL          lo      57  LinkRoundTripLatency 3
//	37  VLCap               hi      60  CapabilityMask2      2
//	    InitType            lo      62  LinkSpeedExtActive  hi, -Supported lo
//	                                63  reserved 3 bits, LinkSpeedExtEnabled 5
type PortInfo struct {
	MKey                         uint64
	GIDPrefix                    uint64
	LID                          uint16
	MasterSMLID                  uint16
	CapabilityMask               CapabilityMask
	DiagCode                     uint16
	MKeyLeasePeriod              uint16 // seconds
	LocalPort                    uint8  // where the request came in
	LinkWidthEnabled             LinkWidth
	LinkWidthSupported           LinkWidth
	LinkWidthActive              LinkWidth
	LinkSpeedSupported           uint8 // 4 bits: SDR, DDR, QDR
	PortState                    PortState
	PhysState                    PhysState
	LinkDownDefault              PhysState
	MKeyProtect                  uint8 // 2 bits
	LMC                          uint8 // 3 bits; the port has 2^LMC LIDs
	LinkSpeedActive              uint8 // 4 bits
	LinkSpeedEnabled             uint8 // 4 bits
	NeighborMTU                  MTU
	MasterSMSL                   uint8 // 4 bits
	VLCap                        VLs
	InitType                     uint8 // 4 bits
	VLHighLimit                  uint8
	VLArbHighCap                 uint8
	VLArbLowCap                  uint8
	InitTypeReply                uint8 // 4 bits
	MTUCap                       MTU
	VLStallCount                 uint8 // 3 bits
	HOQLife                      uint8 // 5 bits; 4.096 us * 2^n
	OperVLs                      VLs
	PartitionEnforcementInbound  bool
	PartitionEnforcementOutbound bool
	FilterRawInbound             bool
	FilterRawOutbound            bool
	MKeyViolations               uint16
	PKeyViolations               uint16
	QKeyViolations               uint16
	GUIDCap                      uint8
	ClientReregister             bool
	MulticastPKeyTrapSuppression uint8 // 2 bits
	SubnetTimeout                uint8 // 5 bits; 4.096 us * 2^n
	RespTime                     uint8 // 5 bits; 4.096 us * 2^n
	LocalPhyErrors               uint8 // 4 bits
	OverrunErrors                uint8 // 4 bits
	MaxCreditHint                uint16
	LinkSpeedExt2Active          uint8  // 2 bits: XDR
	LinkSpeedExt2Supported       uint8  // 2 bits
	LinkSpeedExt2Enabled         uint8  // 3 bits
	LinkRoundTripLatency         uint32 // 24 bits
	CapabilityMask2              CapabilityMask2
	LinkSpeedExtActive           uint8 // 4 bits: FDR, EDR, HDR, NDR
	LinkSpeedExtSupported        uint8 // 4 bits
	LinkSpeedExtEnabled          uint8 // 5 bits; 30 is none

	spare34, spare52, spare56, spare63 uint8
}

// AttrID returns [AttrPortInfo].
func (*PortInfo) AttrID() AttrID { return AttrPortInfo }

// UnmarshalBinary decodes the attribute; see [Attribute].
func (a *PortInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrPortInfo, b); err != nil {
		return err
	}
	a.fields(wire.Decode(b))
	return nil
}

// AppendBinary appends the attribute's 64 bytes; see [Attribute].
func (a *PortInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, l := wire.Append(dst, DataSize)
	a.fields(l)
	return dst, nil
}

func (a *PortInfo) fields(l *wire.Layout) {
	wire.Bits(l, 64, &a.MKey, &a.GIDPrefix)
	wire.Bits(l, 16, &a.LID, &a.MasterSMLID)
	wire.Bits(l, 32, &a.CapabilityMask)
	wire.Bits(l, 16, &a.DiagCode, &a.MKeyLeasePeriod)
	wire.Bits(l, 8, &a.LocalPort)
	wire.Bits(l, 8, &a.LinkWidthEnabled, &a.LinkWidthSupported, &a.LinkWidthActive)
	wire.Bits(l, 4, &a.LinkSpeedSupported)
	wire.Bits(l, 4, &a.PortState)
	wire.Bits(l, 4, &a.PhysState, &a.LinkDownDefault)
	wire.Bits(l, 2, &a.MKeyProtect)
	wire.Bits(l, 3, &a.spare34, &a.LMC)
	wire.Bits(l, 4, &a.LinkSpeedActive, &a.LinkSpeedEnabled)
	wire.Bits(l, 4, &a.NeighborMTU)
	wire.Bits(l, 4, &a.MasterSMSL)
	wire.Bits(l, 4, &a.VLCap)
	wire.Bits(l, 4, &a.InitType)
	wire.Bits(l, 8, &a.VLHighLimit, &a.VLArbHighCap, &a.VLArbLowCap)
	wire.Bits(l, 4, &a.InitTypeReply)
	wire.Bits(l, 4, &a.MTUCap)
	wire.Bits(l, 3, &a.VLStallCount)
	wire.Bits(l, 5, &a.HOQLife)
	wire.Bits(l, 4, &a.OperVLs)
	l.Flags(&a.PartitionEnforcementInbound, &a.PartitionEnforcementOutbound, &a.FilterRawInbound, &a.FilterRawOutbound)
	wire.Bits(l, 16, &a.MKeyViolations, &a.PKeyViolations, &a.QKeyViolations)
	wire.Bits(l, 8, &a.GUIDCap)
	l.Flags(&a.ClientReregister)
	wire.Bits(l, 2, &a.MulticastPKeyTrapSuppression)
	wire.Bits(l, 5, &a.SubnetTimeout)
	wire.Bits(l, 3, &a.spare52)
	wire.Bits(l, 5, &a.RespTime)
	wire.Bits(l, 4, &a.LocalPhyErrors, &a.OverrunErrors)
	wire.Bits(l, 16, &a.MaxCreditHint)
	wire.Bits(l, 1, &a.spare56)
	wire.Bits(l, 2, &a.LinkSpeedExt2Active, &a.LinkSpeedExt2Supported)
	wire.Bits(l, 3, &a.LinkSpeedExt2Enabled)
	wire.Bits(l, 24, &a.LinkRoundTripLatency)
	wire.Bits(l, 16, &a.CapabilityMask2)
	wire.Bits(l, 4, &a.LinkSpeedExtActive, &a.LinkSpeedExtSupported)
	wire.Bits(l, 3, &a.spare63)
	wire.Bits(l, 5, &a.LinkSpeedExtEnabled)
}
