// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"
	"errors"
	"fmt"

	"example.org/ibconsole/mad"
)

// ErrRequest reports that a MAD is not a request to a subnet administration.
var ErrRequest = errors.New("not a request to a subnet administration")

// Header is the header of a subnet administration MAD (IBA 15.2.1.1):
//
//	 0  header of all classes  24
//	24  RMPP header            12
//	36  SMKey    8
//	44  Size     2  of a record in a table, in units of 8 bytes
//	46  reserved 2
//	48  Mask     8
//	56  data   200
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

// put encodes the header into m, except for the RMPP header.
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

// Status is the status of subnet administration (IBA 15.2.2). Errors wrap it together with the [mad.Status].
type Status uint8

// Statuses.
const (
	NoResources            Status = 1
	InvalidRequest         Status = 2
	NoRecords              Status = 3
	TooManyRecords         Status = 4
	InvalidGID             Status = 5
	InsufficientComponents Status = 6
	Denied                 Status = 7
	PrioritySuggested      Status = 8
)

func (s Status) Error() string {
	if words, ok := statusWords[s]; ok {
		return words
	}
	return fmt.Sprintf("SA status %d", uint8(s))
}

var statusWords = map[Status]string{
	NoResources:            "the subnet administration has no resources",
	InvalidRequest:         "invalid request",
	NoRecords:              "no such record",
	TooManyRecords:         "more than one record",
	InvalidGID:             "invalid GID",
	InsufficientComponents: "insufficient components in the request",
	Denied:                 "denied",
	PrioritySuggested:      "another service level is suggested",
}

// MAD returns the status as it appears in the header of a MAD.
func (s Status) MAD() mad.Status { return mad.Status(s) << 8 }
