// SPDX-License-Identifier: Apache-2.0

package mad

import "example.org/ibconsole/mad/internal/wire"

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
	LinearFDBTop                   uint16 // the last LID that the switch looks up
	DefaultPort                    uint8
	DefaultMulticastPrimaryPort    uint8
	DefaultMulticastNotPrimaryPort uint8
	LifeTimeValue                  uint8 // 5 bits; 4.096 us * 2^n, none from 20 on
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

// AttrID returns [AttrSwitchInfo].
func (*SwitchInfo) AttrID() AttrID { return AttrSwitchInfo }

// UnmarshalBinary decodes the attribute; see [Attribute].
func (a *SwitchInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrSwitchInfo, b); err != nil {
		return err
	}
	a.fields(wire.Decode(b))
	return nil
}

// AppendBinary appends the attribute's 64 bytes; see [Attribute].
func (a *SwitchInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, l := wire.Append(dst, DataSize)
	a.fields(l)
	return dst, nil
}

func (a *SwitchInfo) fields(l *wire.Layout) {
	wire.Bits(l, 16, &a.LinearFDBCap, &a.RandomFDBCap, &a.MulticastFDBCap, &a.LinearFDBTop)
	wire.Bits(l, 8, &a.DefaultPort, &a.DefaultMulticastPrimaryPort, &a.DefaultMulticastNotPrimaryPort)
	wire.Bits(l, 5, &a.LifeTimeValue)
	l.Flags(&a.PortStateChange)
	wire.Bits(l, 2, &a.OptimizedSLtoVLMapping)
	wire.Bits(l, 16, &a.LIDsPerPort, &a.PartitionEnforcementCap)
	l.Flags(&a.InboundEnforcementCap, &a.OutboundEnforcementCap, &a.FilterRawInboundCap, &a.FilterRawOutboundCap, &a.EnhancedPort0)
	wire.Bits(l, 3, &a.spareFlags)
	wire.Bits(l, 8, &a.spare17)
	wire.Bits(l, 16, &a.MulticastFDBTop)
	l.Bytes(a.spare[:])
}
