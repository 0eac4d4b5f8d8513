// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

const linkSize = 8

// Components of a [LinkRecord].
const (
	LinkFromLID  Mask = 1 << 0
	LinkFromPort Mask = 1 << 1
	LinkToPort   Mask = 1 << 2
	LinkToLID    Mask = 1 << 3
)

// LinkRecord is one direction of a link (IBA 15.2.5.13):
//
//	0  FromLID   2
//	2  FromPort  1
//	3  ToPort    1
//	4  ToLID     2
//	6  padding   2
type LinkRecord struct {
	FromLID  uint16
	FromPort uint8
	ToPort   uint8
	ToLID    uint16
}

// AttrID returns [AttrLinkRecord].
func (*LinkRecord) AttrID() mad.AttrID { return AttrLinkRecord }

// UnmarshalBinary decodes the record; see [Record].
func (r *LinkRecord) UnmarshalBinary(b []byte) error {
	if err := check("LinkRecord", b, linkSize-2); err != nil {
		return err
	}
	be := binary.BigEndian
	*r = LinkRecord{FromLID: be.Uint16(b), FromPort: b[2], ToPort: b[3], ToLID: be.Uint16(b[4:])}
	return nil
}

// AppendBinary appends the record's 8 bytes; see [Record].
func (r *LinkRecord) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, r.FromLID)
	dst = append(dst, r.FromPort, r.ToPort)
	dst = binary.BigEndian.AppendUint16(dst, r.ToLID)
	return append(dst, 0, 0), nil
}

// MarshalBinary returns the record's 8 bytes; see [Record].
func (r *LinkRecord) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }
