// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// SwitchInfo describes a switch (IBA 14.2.5.4):
//
//	 0  LinearFDBCap                   2
//	 2  RandomFDBCap                   2
//	 4  MulticastFDBCap                2
//	 6  LinearFDBTop                   2
//	 8  DefaultPort                    1
//	 9  DefaultMulticastPrimaryPort    1
//	10  DefaultMulticastNotPrimaryPort 1
//	11  LifeTimeValue                  5 bits, highest first
//	    PortStateChange                1 bit
//	    OptimizedSLtoVLMapping         2 bits
//	12  LIDsPerPort                    2
//	14  PartitionEnforcementCap        2
//	16  InboundEnforcementCap          1 bit, highest first
//	    OutboundEnforcementCap         1 bit
//	    FilterRawInboundCap            1 bit
//	    FilterRawOutboundCap           1 bit
//	    EnhancedPort0                  1 bit
//	    reserved                       3 bits
//	17  reserved                       1
//	18  MulticastFDBTop                2
//	20  reserved                      44
type SwitchInfo struct {
	LinearFDBCap                   uint16 // entries
	RandomFDBCap                   uint16
	MulticastFDBCap                uint16
	LinearFDBTop                   uint16 // last LID that the switch looks up
	DefaultPort                    uint8
	DefaultMulticastPrimaryPort    uint8
	DefaultMulticastNotPrimaryPort uint8
	LifeTimeValue                  uint8 // 5 bits; 4.096 us * 2^n, unlimited from 20 on
	PortStateChange                bool  // writing true clears it
	OptimizedSLtoVLMapping         uint8 // 2 bits
	LIDsPerPort                    uint16
	PartitionEnforcementCap        uint16
	InboundEnforcementCap          bool
	OutboundEnforcementCap         bool
	FilterRawInboundCap            bool
	FilterRawOutboundCap           bool
	EnhancedPort0                  bool
	MulticastFDBTop                uint16

	spareFlags uint8
	spare17    uint8
	spare      [44]byte
}

func (*SwitchInfo) AttrID() AttrID { return AttrSwitchInfo }

func (a *SwitchInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrSwitchInfo, b); err != nil {
		return err
	}
	be := binary.BigEndian
	a.LinearFDBCap = be.Uint16(b[0:])
	a.RandomFDBCap = be.Uint16(b[2:])
	a.MulticastFDBCap = be.Uint16(b[4:])
	a.LinearFDBTop = be.Uint16(b[6:])
	a.DefaultPort = b[8]
	a.DefaultMulticastPrimaryPort = b[9]
	a.DefaultMulticastNotPrimaryPort = b[10]
	a.LifeTimeValue = b[11] >> 3
	a.PortStateChange = bit(b[11], 2)
	a.OptimizedSLtoVLMapping = b[11] & 3
	a.LIDsPerPort = be.Uint16(b[12:])
	a.PartitionEnforcementCap = be.Uint16(b[14:])
	a.InboundEnforcementCap = bit(b[16], 7)
	a.OutboundEnforcementCap = bit(b[16], 6)
	a.FilterRawInboundCap = bit(b[16], 5)
	a.FilterRawOutboundCap = bit(b[16], 4)
	a.EnhancedPort0 = bit(b[16], 3)
	a.spareFlags = b[16] & 7
	a.spare17 = b[17]
	a.MulticastFDBTop = be.Uint16(b[18:])
	copy(a.spare[:], b[20:])
	return nil
}

func (a *SwitchInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	be := binary.BigEndian
	be.PutUint16(b[0:], a.LinearFDBCap)
	be.PutUint16(b[2:], a.RandomFDBCap)
	be.PutUint16(b[4:], a.MulticastFDBCap)
	be.PutUint16(b[6:], a.LinearFDBTop)
	b[8] = a.DefaultPort
	b[9] = a.DefaultMulticastPrimaryPort
	b[10] = a.DefaultMulticastNotPrimaryPort
	b[11] = a.LifeTimeValue<<3 | flag(a.PortStateChange, 2) | a.OptimizedSLtoVLMapping&3
	be.PutUint16(b[12:], a.LIDsPerPort)
	be.PutUint16(b[14:], a.PartitionEnforcementCap)
	b[16] = flag(a.InboundEnforcementCap, 7) | flag(a.OutboundEnforcementCap, 6) |
		flag(a.FilterRawInboundCap, 5) | flag(a.FilterRawOutboundCap, 4) |
		flag(a.EnhancedPort0, 3) | a.spareFlags&7
	b[17] = a.spare17
	be.PutUint16(b[18:], a.MulticastFDBTop)
	copy(b[20:], a.spare[:])
	return dst, nil
}
