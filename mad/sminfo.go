// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"example.org/ibconsole/mad/internal/wire"
)

// SMState is the state of a subnet manager (IBA 14.4.1).
type SMState uint8

// States of a subnet manager.
const (
	SMNotActive   SMState = 0
	SMDiscovering SMState = 1
	SMStandby     SMState = 2
	SMMaster      SMState = 3
)

// String returns the state's name as sminfo prints it.
func (s SMState) String() string {
	return word([]string{"SMINFO_NOTACT", "SMINFO_DISCOVER", "SMINFO_STANDBY", "SMINFO_MASTER"}, uint8(s))
}

// SMInfo describes a subnet manager (IBA 14.2.5.13):
//
//	 0  GUID      8
//	 8  SMKey     8
//	16  ActCount  4
//	20  Priority  4 bits, highest first
//	    State     4 bits
//	21  reserved 43
type SMInfo struct {
	GUID     uint64 // of the port it runs on
	SMKey    uint64
	ActCount uint32
	Priority uint8 // 4 bits, 15 is the highest
	State    SMState

	spare [43]byte
}

// AttrID returns [AttrSMInfo].
func (*SMInfo) AttrID() AttrID { return AttrSMInfo }

// UnmarshalBinary decodes the attribute; see [Attribute].
func (a *SMInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrSMInfo, b); err != nil {
		return err
	}
	a.fields(wire.Decode(b))
	return nil
}

// AppendBinary appends the attribute's 64 bytes; see [Attribute].
func (a *SMInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, l := wire.Append(dst, DataSize)
	a.fields(l)
	return dst, nil
}

func (a *SMInfo) fields(l *wire.Layout) {
	wire.Bits(l, 64, &a.GUID, &a.SMKey)
	wire.Bits(l, 32, &a.ActCount)
	wire.Bits(l, 4, &a.Priority)
	wire.Bits(l, 4, &a.State)
	l.Bytes(a.spare[:])
}
