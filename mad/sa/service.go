// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"bytes"
	"encoding/binary"

	"example.org/ibconsole/mad"
)

const serviceSize = 176

// Components of a [ServiceRecord].
const (
	ServiceID    Mask = 1 << 0
	ServiceGID   Mask = 1 << 1
	ServicePKey  Mask = 1 << 2
	ServiceLease Mask = 1 << 4
	ServiceKey   Mask = 1 << 5
	ServiceName  Mask = 1 << 6
)

// ServiceRecord is a service that a port registered (IBA 15.2.5.14):
//
//	 0  ID         8
//	 8  GID       16
//	24  PKey       2
//	26  reserved   2
//	28  Lease      4
//	32  Key       16
//	48  Name      64  up to a NUL
//	112 Data      64  as the service says
type ServiceRecord struct {
	ID    uint64
	GID   mad.GID
	PKey  mad.PKey
	Lease uint32 // seconds; all ones is for ever
	Key   [16]byte
	Name  [64]byte
	Data  [64]byte
}

// AttrID returns [AttrServiceRecord].
func (*ServiceRecord) AttrID() mad.AttrID { return AttrServiceRecord }

// NameString is the name up to a NUL. It is not escaped.
func (r *ServiceRecord) NameString() string {
	name, _, _ := bytes.Cut(r.Name[:], []byte{0})
	return string(name)
}

// UnmarshalBinary decodes the record; see [Record].
func (r *ServiceRecord) UnmarshalBinary(b []byte) error {
	if err := check("ServiceRecord", b, serviceSize); err != nil {
		return err
	}
	be := binary.BigEndian
	r.ID = be.Uint64(b[0:])
	copy(r.GID[:], b[8:])
	r.PKey = mad.PKey(be.Uint16(b[24:]))
	r.Lease = be.Uint32(b[28:])
	copy(r.Key[:], b[32:])
	copy(r.Name[:], b[48:])
	copy(r.Data[:], b[112:])
	return nil
}

// AppendBinary appends the record's 176 bytes; see [Record].
func (r *ServiceRecord) AppendBinary(dst []byte) ([]byte, error) {
	be := binary.BigEndian
	dst = be.AppendUint64(dst, r.ID)
	dst = append(dst, r.GID[:]...)
	dst = be.AppendUint16(dst, uint16(r.PKey))
	dst = append(dst, 0, 0)
	dst = be.AppendUint32(dst, r.Lease)
	dst = append(dst, r.Key[:]...)
	dst = append(dst, r.Name[:]...)
	return append(dst, r.Data[:]...), nil
}

// MarshalBinary returns the record's 176 bytes; see [Record].
func (r *ServiceRecord) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }
