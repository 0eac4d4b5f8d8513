// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

const (
	nodeSize     = 112
	nodeInfoSize = 40
	nodeUsed     = 4 + nodeInfoSize + mad.DataSize
)

// Components of a [NodeRecord].
const (
	NodeLID         Mask = 1 << 0
	NodeType        Mask = 1 << 4
	NodeGUID        Mask = 1 << 7
	NodeDescription Mask = 1 << 14
)

// NodeRecord describes the node of an end port (IBA 15.2.5.2):
//
//	  0  LID          2
//	  2  reserved     2
//	  4  Info        40  the first bytes of NodeInfo
//	 44  Description 64
//	108  padding      4
type NodeRecord struct {
	LID         uint16
	Info        mad.NodeInfo
	Description mad.NodeDescription
}

func (*NodeRecord) AttrID() mad.AttrID { return AttrNodeRecord }

func (r *NodeRecord) UnmarshalBinary(b []byte) error {
	if err := check("NodeRecord", b, nodeUsed); err != nil {
		return err
	}
	var info [mad.DataSize]byte
	copy(info[:], b[4:4+nodeInfoSize])
	if err := r.Info.UnmarshalBinary(info[:]); err != nil {
		return err
	}
	r.LID = binary.BigEndian.Uint16(b)
	return r.Description.UnmarshalBinary(b[4+nodeInfoSize : nodeUsed])
}

func (r *NodeRecord) AppendBinary(dst []byte) ([]byte, error) {
	var b [nodeSize]byte
	info := mad.Data(&r.Info)
	binary.BigEndian.PutUint16(b[0:], r.LID)
	copy(b[4:4+nodeInfoSize], info[:])
	copy(b[4+nodeInfoSize:], r.Description[:])
	return append(dst, b[:]...), nil
}

const (
	portInfoSize = 72
	portInfoUsed = 4 + mad.DataSize
)

// Components of a [PortInfoRecord].
const (
	PortInfoLID            Mask = 1 << 0
	PortInfoPort           Mask = 1 << 1
	PortInfoCapabilityMask Mask = 1 << 7
)

// CapabilityMaskSubset is an attribute modifier. It selects ports that have at least the given capabilities (IBA
// 15.2.5.3).
const CapabilityMaskSubset = 1 << 31

// PortInfoRecord is the PortInfo of a port (IBA 15.2.5.3):
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

const (
	smInfoSize = 32
	smInfoUsed = 4 + 21
)

// SMInfoLID selects the component LID of an [SMInfoRecord].
const SMInfoLID Mask = 1 << 0

// SMInfoRecord describes a subnet manager (IBA 15.2.5.10):
//
//	 0  LID      2
//	 2  reserved 2
//	 4  Info    21  the first bytes of SMInfo
//	25  padding  7
type SMInfoRecord struct {
	LID  uint16
	Info mad.SMInfo
}

func (*SMInfoRecord) AttrID() mad.AttrID { return AttrSMInfoRecord }

func (r *SMInfoRecord) UnmarshalBinary(b []byte) error {
	if err := check("SMInfoRecord", b, smInfoUsed); err != nil {
		return err
	}
	var info [mad.DataSize]byte
	copy(info[:], b[4:smInfoUsed])
	r.LID = binary.BigEndian.Uint16(b)
	return r.Info.UnmarshalBinary(info[:])
}

func (r *SMInfoRecord) AppendBinary(dst []byte) ([]byte, error) {
	var b [smInfoSize]byte
	info := mad.Data(&r.Info)
	binary.BigEndian.PutUint16(b[0:], r.LID)
	copy(b[4:smInfoUsed], info[:])
	return append(dst, b[:]...), nil
}
