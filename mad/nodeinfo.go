// SPDX-License-Identifier: Apache-2.0

package mad

import "example.org/ibconsole/mad/internal/wire"

// NodeInfo describes a node, as seen from the port at which the request came
// in (IBA 14.2.5.3):
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
	LocalPort       uint8  // where the request came in
	VendorID        uint32 // 24 bits

	spare [24]byte
}

// AttrID returns [AttrNodeInfo].
func (*NodeInfo) AttrID() AttrID { return AttrNodeInfo }

// UnmarshalBinary decodes the attribute; see [Attribute].
func (a *NodeInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrNodeInfo, b); err != nil {
		return err
	}
	a.fields(wire.Decode(b))
	return nil
}

// AppendBinary appends the attribute's 64 bytes; see [Attribute].
func (a *NodeInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, l := wire.Append(dst, DataSize)
	a.fields(l)
	return dst, nil
}

func (a *NodeInfo) fields(l *wire.Layout) {
	wire.Bits(l, 8, &a.BaseVersion, &a.ClassVersion)
	wire.Bits(l, 8, &a.Type)
	wire.Bits(l, 8, &a.NumPorts)
	wire.Bits(l, 64, &a.SystemImageGUID, &a.NodeGUID, &a.PortGUID)
	wire.Bits(l, 16, &a.PartitionCap, &a.DeviceID)
	wire.Bits(l, 32, &a.Revision)
	wire.Bits(l, 8, &a.LocalPort)
	wire.Bits(l, 24, &a.VendorID)
	l.Bytes(a.spare[:])
}
