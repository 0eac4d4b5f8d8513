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

// Components of a [NodeRecord] that are asked by.
const (
	NodeLID         Mask = 1 << 0
	NodeType        Mask = 1 << 4
	NodeGUID        Mask = 1 << 7
	NodeDescription Mask = 1 << 14
)

// NodeRecord is an end port's node as that port reports it (IBA 15.2.5.2):
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
	var room [mad.DataSize]byte
	binary.BigEndian.PutUint16(b[0:], r.LID)
	info, err := r.Info.AppendBinary(room[:0])
	if err != nil {
		return dst, err
	}
	copy(b[4:4+nodeInfoSize], info)
	if info, err = r.Description.AppendBinary(room[:0]); err != nil {
		return dst, err
	}
	copy(b[4+nodeInfoSize:], info)
	return append(dst, b[:]...), nil
}
