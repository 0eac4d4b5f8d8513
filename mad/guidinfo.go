// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// GUIDBlock is the number of GUIDs in a block of a port's table.
const GUIDBlock = DataSize / 8

// GUIDInfo is one block of the GUIDs of a port (IBA 14.2.5.5): GUID i of block b is the port's number 8*b+i,
// and number 0 is the port's own. The attribute modifier is the block, from 0 to 31.
type GUIDInfo [GUIDBlock]uint64

func (*GUIDInfo) AttrID() AttrID { return AttrGUIDInfo }

func (a *GUIDInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrGUIDInfo, b); err != nil {
		return err
	}
	for i := range a {
		a[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return nil
}

func (a *GUIDInfo) AppendBinary(dst []byte) ([]byte, error) {
	for _, guid := range a {
		dst = binary.BigEndian.AppendUint64(dst, guid)
	}
	return dst, nil
}
