// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// PortInfo describes a port; the attribute modifier is the port number (IBA 14.2.5.6). The fields from CapabilityMask2
// on and the ext2 bits are as in rdma-core's libibmad. "hi" and "lo" are the high and low four bits of a byte:
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
	LocalPort                    uint8  // port that received the request
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
	LinkSpeedExtEnabled          uint8 // 5 bits; 30 means none

	spare34, spare52, spare56, spare63 uint8
}

func (*PortInfo) AttrID() AttrID { return AttrPortInfo }

func (a *PortInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrPortInfo, b); err != nil {
		return err
	}
	a.decodeAddress(b)
	a.decodeLink(b)
	a.decodeVLs(b)
	a.decodeManagement(b)
	a.decodeExtended(b)
	return nil
}

func (a *PortInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	a.encodeAddress(b)
	a.encodeLink(b)
	a.encodeVLs(b)
	a.encodeManagement(b)
	a.encodeExtended(b)
	return dst, nil
}

func (a *PortInfo) decodeAddress(b []byte) {
	be := binary.BigEndian
	a.MKey = be.Uint64(b[0:])
	a.GIDPrefix = be.Uint64(b[8:])
	a.LID = be.Uint16(b[16:])
	a.MasterSMLID = be.Uint16(b[18:])
	a.CapabilityMask = CapabilityMask(be.Uint32(b[20:]))
	a.DiagCode = be.Uint16(b[24:])
	a.MKeyLeasePeriod = be.Uint16(b[26:])
	a.LocalPort = b[28]
}

func (a *PortInfo) encodeAddress(b []byte) {
	be := binary.BigEndian
	be.PutUint64(b[0:], a.MKey)
	be.PutUint64(b[8:], a.GIDPrefix)
	be.PutUint16(b[16:], a.LID)
	be.PutUint16(b[18:], a.MasterSMLID)
	be.PutUint32(b[20:], uint32(a.CapabilityMask))
	be.PutUint16(b[24:], a.DiagCode)
	be.PutUint16(b[26:], a.MKeyLeasePeriod)
	b[28] = a.LocalPort
}

func (a *PortInfo) decodeLink(b []byte) {
	a.LinkWidthEnabled = LinkWidth(b[29])
	a.LinkWidthSupported = LinkWidth(b[30])
	a.LinkWidthActive = LinkWidth(b[31])
	a.LinkSpeedSupported = b[32] >> 4
	a.PortState = PortState(b[32] & 0xf)
	a.PhysState = PhysState(b[33] >> 4)
	a.LinkDownDefault = PhysState(b[33] & 0xf)
	a.MKeyProtect = b[34] >> 6
	a.spare34 = b[34] >> 3 & 7
	a.LMC = b[34] & 7
	a.LinkSpeedActive = b[35] >> 4
	a.LinkSpeedEnabled = b[35] & 0xf
	a.NeighborMTU = MTU(b[36] >> 4)
	a.MasterSMSL = b[36] & 0xf
}

func (a *PortInfo) encodeLink(b []byte) {
	b[29] = uint8(a.LinkWidthEnabled)
	b[30] = uint8(a.LinkWidthSupported)
	b[31] = uint8(a.LinkWidthActive)
	b[32] = a.LinkSpeedSupported<<4 | uint8(a.PortState)&0xf
	b[33] = uint8(a.PhysState)<<4 | uint8(a.LinkDownDefault)&0xf
	b[34] = a.MKeyProtect<<6 | a.spare34&7<<3 | a.LMC&7
	b[35] = a.LinkSpeedActive<<4 | a.LinkSpeedEnabled&0xf
	b[36] = uint8(a.NeighborMTU)<<4 | a.MasterSMSL&0xf
}

func (a *PortInfo) decodeVLs(b []byte) {
	a.VLCap = VLs(b[37] >> 4)
	a.InitType = b[37] & 0xf
	a.VLHighLimit = b[38]
	a.VLArbHighCap = b[39]
	a.VLArbLowCap = b[40]
	a.InitTypeReply = b[41] >> 4
	a.MTUCap = MTU(b[41] & 0xf)
	a.VLStallCount = b[42] >> 5
	a.HOQLife = b[42] & 0x1f
	a.OperVLs = VLs(b[43] >> 4)
	a.PartitionEnforcementInbound = bit(b[43], 3)
	a.PartitionEnforcementOutbound = bit(b[43], 2)
	a.FilterRawInbound = bit(b[43], 1)
	a.FilterRawOutbound = bit(b[43], 0)
}

func (a *PortInfo) encodeVLs(b []byte) {
	b[37] = uint8(a.VLCap)<<4 | a.InitType&0xf
	b[38] = a.VLHighLimit
	b[39] = a.VLArbHighCap
	b[40] = a.VLArbLowCap
	b[41] = a.InitTypeReply<<4 | uint8(a.MTUCap)&0xf
	b[42] = a.VLStallCount<<5 | a.HOQLife&0x1f
	b[43] = uint8(a.OperVLs)<<4 | flag(a.PartitionEnforcementInbound, 3) |
		flag(a.PartitionEnforcementOutbound, 2) | flag(a.FilterRawInbound, 1) | flag(a.FilterRawOutbound, 0)
}

func (a *PortInfo) decodeManagement(b []byte) {
	be := binary.BigEndian
	a.MKeyViolations = be.Uint16(b[44:])
	a.PKeyViolations = be.Uint16(b[46:])
	a.QKeyViolations = be.Uint16(b[48:])
	a.GUIDCap = b[50]
	a.ClientReregister = bit(b[51], 7)
	a.MulticastPKeyTrapSuppression = b[51] >> 5 & 3
	a.SubnetTimeout = b[51] & 0x1f
	a.spare52 = b[52] >> 5
	a.RespTime = b[52] & 0x1f
	a.LocalPhyErrors = b[53] >> 4
	a.OverrunErrors = b[53] & 0xf
	a.MaxCreditHint = be.Uint16(b[54:])
}

func (a *PortInfo) encodeManagement(b []byte) {
	be := binary.BigEndian
	be.PutUint16(b[44:], a.MKeyViolations)
	be.PutUint16(b[46:], a.PKeyViolations)
	be.PutUint16(b[48:], a.QKeyViolations)
	b[50] = a.GUIDCap
	b[51] = flag(a.ClientReregister, 7) | a.MulticastPKeyTrapSuppression&3<<5 | a.SubnetTimeout&0x1f
	b[52] = a.spare52<<5 | a.RespTime&0x1f
	b[53] = a.LocalPhyErrors<<4 | a.OverrunErrors&0xf
	be.PutUint16(b[54:], a.MaxCreditHint)
}

func (a *PortInfo) decodeExtended(b []byte) {
	be := binary.BigEndian
	a.spare56 = b[56] >> 7
	a.LinkSpeedExt2Active = b[56] >> 5 & 3
	a.LinkSpeedExt2Supported = b[56] >> 3 & 3
	a.LinkSpeedExt2Enabled = b[56] & 7
	a.LinkRoundTripLatency = be.Uint32(b[56:]) & 0xffffff
	a.CapabilityMask2 = CapabilityMask2(be.Uint16(b[60:]))
	a.LinkSpeedExtActive = b[62] >> 4
	a.LinkSpeedExtSupported = b[62] & 0xf
	a.spare63 = b[63] >> 5
	a.LinkSpeedExtEnabled = b[63] & 0x1f
}

func (a *PortInfo) encodeExtended(b []byte) {
	be := binary.BigEndian
	be.PutUint32(b[56:], a.LinkRoundTripLatency)
	b[56] = a.spare56<<7 | a.LinkSpeedExt2Active&3<<5 | a.LinkSpeedExt2Supported&3<<3 | a.LinkSpeedExt2Enabled&7
	be.PutUint16(b[60:], uint16(a.CapabilityMask2))
	b[62] = a.LinkSpeedExtActive<<4 | a.LinkSpeedExtSupported&0xf
	b[63] = a.spare63<<5 | a.LinkSpeedExtEnabled&0x1f
}
