// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"
	"errors"

	"example.org/ibconsole/mad"
)

// ErrRequest says that a MAD is no request to a subnet administration.
var ErrRequest = errors.New("no request to a subnet administration")

// Header is what a MAD of subnet administration says before its data (IBA 15.2.1.1):
//
//	 0  the header that all classes have  24
//	24  the header of a segment           12
//	36  SMKey   8
//	44  Size    2  of a record in a table, in units of 8 bytes
//	46  reserved 2
//	48  Mask    8
//	56  data  200
type Header struct {
	Method mad.Method
	Status mad.Status
	TID    uint64
	Attr   mad.AttrID
	Mod    uint32
	SMKey  uint64
	Size   int // bytes
	Mask   Mask
}

// put writes the header into m, all of it but the header of a segment.
func (h *Header) put(m *[mad.Size]byte) {
	be := binary.BigEndian
	clear(m[:mad.OffSAData])
	m[0], m[mad.OffClass], m[2], m[mad.OffMethod] = 1, uint8(mad.ClassSA), 2, uint8(h.Method)
	be.PutUint16(m[mad.OffStatus:], uint16(h.Status))
	be.PutUint64(m[mad.OffTID:], h.TID)
	be.PutUint16(m[mad.OffAttr:], uint16(h.Attr))
	be.PutUint32(m[mad.OffMod:], h.Mod)
	be.PutUint64(m[mad.OffSMKey:], h.SMKey)
	be.PutUint16(m[mad.OffRecordSize:], uint16(h.Size/8))
	be.PutUint64(m[mad.OffComponents:], uint64(h.Mask))
}
