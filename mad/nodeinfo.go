// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"encoding/binary"
)

// NodeInfo describes a node, as seen from the port that received the request (IBA 14.2.5.3):
//
//	 0  BaseVersion      1
//	 1  ClassVersion     1
//	 2  Type             1
//	 3  NumPorts         1
//	 4  SystemImageGUID  8
//	12  NodeGUID         8
//	20  PortGUID         8
//	28  PartitionCap     2
//	30  DeviceID         2
//	32  Revision         4
//	36  LocalPort        1
//	37  VendorID         3
//	40  reserved        24
type NodeInfo struct {
	BaseVersion     uint8
	ClassVersion    uint8
	Type            NodeType
	NumPorts        uint8 // without a switch's port 0
	SystemImageGUID uint64
	NodeGUID        uint64
	PortGUID        uint64
	PartitionCap    uint16
	DeviceID        uint16
	Revision        uint32
	LocalPort       uint8  // port that received the request
	VendorID        uint32 // 24 bits

	spare [24]byte
}

func (*NodeInfo) AttrID() AttrID { return AttrNodeInfo }

func (a *NodeInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrNodeInfo, b); err != nil {
		return err
	}
	be := binary.BigEndian
	a.BaseVersion = b[0]
	a.ClassVersion = b[1]
	a.Type = NodeType(b[2])
	a.NumPorts = b[3]
	a.SystemImageGUID = be.Uint64(b[4:])
	a.NodeGUID = be.Uint64(b[12:])
	a.PortGUID = be.Uint64(b[20:])
	a.PartitionCap = be.Uint16(b[28:])
	a.DeviceID = be.Uint16(b[30:])
	a.Revision = be.Uint32(b[32:])
	a.LocalPort = b[36]
	a.VendorID = be.Uint32(b[36:]) & 0xffffff
	copy(a.spare[:], b[40:])
	return nil
}

func (a *NodeInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	be := binary.BigEndian
	b[0] = a.BaseVersion
	b[1] = a.ClassVersion
	b[2] = uint8(a.Type)
	b[3] = a.NumPorts
	be.PutUint64(b[4:], a.SystemImageGUID)
	be.PutUint64(b[12:], a.NodeGUID)
	be.PutUint64(b[20:], a.PortGUID)
	be.PutUint16(b[28:], a.PartitionCap)
	be.PutUint16(b[30:], a.DeviceID)
	be.PutUint32(b[32:], a.Revision)
	be.PutUint32(b[36:], uint32(a.LocalPort)<<24|a.VendorID&0xffffff)
	copy(b[40:], a.spare[:])
	return dst, nil
}

// NodeType is the type of a node (IBA 14.2.5.3).
type NodeType uint8

// Node types.
const (
	NodeCA     NodeType = 1
	NodeSwitch NodeType = 2
	NodeRouter NodeType = 3
)

// String returns the word that the diagnostic tools use for the node type.
func (t NodeType) String() string { return named(nodeTypes, t, "?(%d)?") }

var nodeTypes = map[NodeType]string{
	NodeCA:     "Channel Adapter",
	NodeSwitch: "Switch",
	NodeRouter: "Router",
}

// NodeDescription is the description that a node reports: 64 bytes, UTF-8 by IBA 14.2.5.2. The administrator of the
// node can set it to any bytes. Escape the text before you write it to a terminal or a file.
type NodeDescription [DataSize]byte

// NewNodeDescription returns s as a node description, truncated to 64 bytes.
func NewNodeDescription(s string) NodeDescription {
	var d NodeDescription
	copy(d[:], s)
	return d
}

func (*NodeDescription) AttrID() AttrID { return AttrNodeDescription }

// String returns the bytes before the first NUL. It does not escape them.
func (d *NodeDescription) String() string {
	text, _, _ := bytes.Cut(d[:], []byte{0})
	return string(text)
}

func (d *NodeDescription) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrNodeDescription, b); err != nil {
		return err
	}
	copy(d[:], b)
	return nil
}

func (d *NodeDescription) AppendBinary(dst []byte) ([]byte, error) { return append(dst, d[:]...), nil }
