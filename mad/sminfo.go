// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// SMState is the state of a subnet manager (IBA 14.4.1).
type SMState uint8

// States of a subnet manager.
const (
	SMNotActive   SMState = 0
	SMDiscovering SMState = 1
	SMStandby     SMState = 2
	SMMaster      SMState = 3
)

// String returns the name of the state as the program sminfo prints it.
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
	GUID     uint64 // port GUID of the subnet manager
	SMKey    uint64
	ActCount uint32
	Priority uint8 // 4 bits; 15 is the highest
	State    SMState

	spare [43]byte
}

func (*SMInfo) AttrID() AttrID { return AttrSMInfo }

func (a *SMInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrSMInfo, b); err != nil {
		return err
	}
	be := binary.BigEndian
	a.GUID = be.Uint64(b[0:])
	a.SMKey = be.Uint64(b[8:])
	a.ActCount = be.Uint32(b[16:])
	a.Priority = b[20] >> 4
	a.State = SMState(b[20] & 0xf)
	copy(a.spare[:], b[21:])
	return nil
}

func (a *SMInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	be := binary.BigEndian
	be.PutUint64(b[0:], a.GUID)
	be.PutUint64(b[8:], a.SMKey)
	be.PutUint32(b[16:], a.ActCount)
	b[20] = a.Priority<<4 | uint8(a.State)&0xf
	copy(b[21:], a.spare[:])
	return dst, nil
}
