// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"
	"fmt"

	"example.org/ibconsole/mad"
)

// The server side of a subnet administration, for the tests.

// ParseHeader decodes the header of a MAD. The error wraps [ErrRequest] unless it belongs to subnet administration,
// version 2.
func ParseHeader(m *[mad.Size]byte) (Header, error) {
	if m[0] != 1 || mad.Class(m[mad.OffClass]) != mad.ClassSA || m[2] != 2 {
		return Header{}, fmt.Errorf("%w: base version %d, class 0x%02x, class version %d", ErrRequest, m[0],
			m[mad.OffClass], m[2])
	}
	be := binary.BigEndian
	return Header{
		Method: mad.Method(m[mad.OffMethod]),
		Status: mad.Status(be.Uint16(m[mad.OffStatus:])),
		TID:    be.Uint64(m[mad.OffTID:]),
		Attr:   mad.AttrID(be.Uint16(m[mad.OffAttr:])),
		Mod:    be.Uint32(m[mad.OffMod:]),
		SMKey:  be.Uint64(m[mad.OffSMKey:]),
		Size:   8 * int(be.Uint16(m[mad.OffRecordSize:])),
		Mask:   Mask(be.Uint64(m[mad.OffComponents:])),
	}, nil
}

// ParseRequest decodes the header of a request and returns its record of 200 bytes. The error wraps [ErrRequest] for
// answers and for MADs that only control a segmented transfer.
func ParseRequest(m *[mad.Size]byte) (Header, []byte, error) {
	h, err := ParseHeader(m)
	switch {
	case err != nil:
		return h, nil, err
	case h.Method&mad.MethodResponse != 0:
		return h, nil, fmt.Errorf("%w: method 0x%02x is that of an answer", ErrRequest, uint8(h.Method))
	case m[mad.OffRMPPVersion+2]&mad.RMPPActive != 0 && m[mad.OffRMPPVersion+1] != mad.RMPPData:
		return h, nil, fmt.Errorf("%w: it controls a segmented transfer", ErrRequest)
	}
	return h, m[mad.OffSAData:], nil
}

// Answer makes the answer to the request with header h: data holds records of size bytes, at most one unless the method
// is GetTable. If the result is not nil, its segments are the answer; otherwise MAD m is.
func (h *Header) Answer(m *[mad.Size]byte, status mad.Status, data []byte, size int) *mad.Segmenter {
	out := *h
	out.Method, out.Status, out.SMKey, out.Size = answerTo(h.Method), status, 0, 0
	if len(data) > 0 {
		out.Size = size
	}
	clear(m[mad.OffSAData:])
	out.put(m)
	if status == mad.StatusOK && h.Method == mad.MethodGetTable {
		return mad.NewSegmenter(m, data)
	}
	copy(m[mad.OffSAData:], data)
	return nil
}

// answerTo returns the method of the answer; a Set is answered with GetResp (IBA 13.4.5).
func answerTo(m mad.Method) mad.Method {
	if m == mad.MethodSet {
		return mad.MethodGetResp
	}
	return m | mad.MethodResponse
}

// AppendTable appends records to b in the form of a table.
func AppendTable[T any, P recordOf[T]](b []byte, records []T) []byte {
	for i := range records {
		b, _ = P(&records[i]).AppendBinary(b) // does not fail
	}
	return b
}
