// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

const (
	portInfoSize = 72
	portInfoUsed = 4 + mad.DataSize
)

// Components of a [PortInfoRecord] that are asked by.
const (
	PortInfoLID            Mask = 1 << 0
	PortInfoPort           Mask = 1 << 1
	PortInfoCapabilityMask Mask = 1 << 7
)

// CapabilityMaskSubset is the modifier to ask for ports with at least these capabilities (IBA 15.2.5.3).
const CapabilityMaskSubset = 1 << 31

// PortInfoRecord is a port as its PortInfo has it (IBA 15.2.5.3):
//
//	 0  LID      2  of the end port
//	 2  Port     1
//	 3  Options  1
//	 4  Info    64
//	68  padding  4
type PortInfoRecord struct {
	LID     uint16
	Port    uint8
	Options uint8
	Info    mad.PortInfo
}

func (*PortInfoRecord) AttrID() mad.AttrID { return AttrPortInfoRecord }

func (r *PortInfoRecord) UnmarshalBinary(b []byte) error {
	if err := check("PortInfoRecord", b, portInfoUsed); err != nil {
		return err
	}
	r.LID = binary.BigEndian.Uint16(b)
	r.Port, r.Options = b[2], b[3]
	return r.Info.UnmarshalBinary(b[4:portInfoUsed])
}

func (r *PortInfoRecord) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, r.LID)
	dst = append(dst, r.Port, r.Options)
	dst, err := r.Info.AppendBinary(dst)
	return append(dst, 0, 0, 0, 0), err
}
