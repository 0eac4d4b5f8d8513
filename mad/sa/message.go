// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"
	"errors"
	"fmt"

	"example.org/ibconsole/mad"
)

// ErrRequest says that a MAD is no request to a subnet administration.
var ErrRequest = errors.New("no request to a subnet administration")

// Offsets in a MAD of subnet administration.
const (
	offClass  = 1
	offMethod = 3
	offStatus = 4
	offTID    = 8
	offAttr   = 16
	offMod    = 20
	offRMPP   = 24
	offSMKey  = 36
	offSize   = 44
	offMask   = 48
	offData   = 56
)

// Header is what a MAD of subnet administration says before its data (IBA
// 15.2.1.1):
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

// ParseHeader reads the header of a MAD. The error wraps [ErrRequest] if it is
// not of subnet administration, version 2.
func ParseHeader(m *[mad.Size]byte) (Header, error) {
	if m[0] != 1 || mad.Class(m[offClass]) != mad.ClassSA || m[2] != 2 {
		return Header{}, fmt.Errorf("%w: base version %d, class 0x%02x, class version %d", ErrRequest, m[0], m[offClass], m[2])
	}
	be := binary.BigEndian
	return Header{
		Method: mad.Method(m[offMethod]),
		Status: mad.Status(be.Uint16(m[offStatus:])),
		TID:    be.Uint64(m[offTID:]),
		Attr:   mad.AttrID(be.Uint16(m[offAttr:])),
		Mod:    be.Uint32(m[offMod:]),
		SMKey:  be.Uint64(m[offSMKey:]),
		Size:   8 * int(be.Uint16(m[offSize:])),
		Mask:   Mask(be.Uint64(m[offMask:])),
	}, nil
}

// ParseRequest reads the header of a request and returns the record in it, of 200
// bytes. The error wraps [ErrRequest] for answers, and for MADs that are only
// about the segments of another.
func ParseRequest(m *[mad.Size]byte) (Header, []byte, error) {
	h, err := ParseHeader(m)
	switch {
	case err != nil:
		return h, nil, err
	case h.Method&mad.MethodResponse != 0:
		return h, nil, fmt.Errorf("%w: method 0x%02x is that of an answer", ErrRequest, uint8(h.Method))
	case m[offRMPP+2]&mad.RMPPActive != 0 && m[offRMPP+1] != mad.RMPPData:
		return h, nil, fmt.Errorf("%w: it is about the segments of another", ErrRequest)
	}
	return h, m[offData:], nil
}

// put writes the header into m, all of it but the header of a segment.
func (h *Header) put(m *[mad.Size]byte) {
	be := binary.BigEndian
	clear(m[:offData])
	m[0], m[offClass], m[2], m[offMethod] = 1, uint8(mad.ClassSA), 2, uint8(h.Method)
	be.PutUint16(m[offStatus:], uint16(h.Status))
	be.PutUint64(m[offTID:], h.TID)
	be.PutUint16(m[offAttr:], uint16(h.Attr))
	be.PutUint32(m[offMod:], h.Mod)
	be.PutUint64(m[offSMKey:], h.SMKey)
	be.PutUint16(m[offSize:], uint16(h.Size/8))
	be.PutUint64(m[offMask:], uint64(h.Mask))
}

// Answer makes the answer to the request with header h: data are the records of
// size bytes each, at most one unless GetTable was asked for. What goes out is
// what [mad.Segmenter.Next] gives if that is not nil, or the MAD m by itself.
func (h *Header) Answer(m *[mad.Size]byte, status mad.Status, data []byte, size int) *mad.Segmenter {
	out := *h
	out.Method, out.Status, out.SMKey, out.Size = answerTo(h.Method), status, 0, 0
	if len(data) > 0 {
		out.Size = size
	}
	clear(m[offData:])
	out.put(m)
	if status == mad.StatusOK && h.Method == mad.MethodGetTable {
		return mad.NewSegmenter(m, data)
	}
	copy(m[offData:], data)
	return nil
}

// answerTo is the method of the answer; that to a Set is GetResp (IBA 13.4.5).
func answerTo(m mad.Method) mad.Method {
	if m == mad.MethodSet {
		return mad.MethodGetResp
	}
	return m | mad.MethodResponse
}
