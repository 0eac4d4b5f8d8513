// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"fmt"
)

// Segmenter is the sending end of a segmented transfer (IBA 13.6.6.1). It returns the segments to send and processes
// the acknowledgements. It has no timer. A caller that gets no acknowledgement in time must call Rewind, and give up
// after a while.
//
//	s := mad.NewSegmenter(&head, data)
//	for s.Next(&m) { send(&m) }
//	// then for each received MAD of the transfer:
//	_, err := s.Take(&got, &m)
//	for s.Next(&m) { send(&m) }
type Segmenter struct {
	head   [Size]byte
	data   []byte
	count  uint32 // of segments
	acked  uint32 // last segment that is acknowledged
	sent   uint32 // last segment sent since the last Rewind
	most   uint32 // last segment ever sent
	window uint32 // last segment that may be sent
}

// NewSegmenter returns a segmenter for data, which the caller must not change. The argument head is the header of the
// answer up to byte 56, including the class header. The RMPP header in head is ignored.
func NewSegmenter(head *[Size]byte, data []byte) *Segmenter {
	s := &Segmenter{head: *head, data: data, window: 1}
	s.count = uint32(max(1, (len(data)+SegmentSize-1)/SegmentSize))
	h := &s.head
	h[OffRMPPVersion], h[OffRMPPType] = rmppVersion, RMPPData
	h[OffRMPPFlags], h[OffRMPPStatus] = rmppNoRespTime|RMPPActive, 0
	return s
}

// Next sets m to the next segment to send. It returns false if an acknowledgement must arrive first.
func (s *Segmenter) Next(m *[Size]byte) bool {
	if s.sent >= min(s.window, s.count) {
		return false
	}
	s.sent++
	s.most = max(s.most, s.sent)
	copy(m[:OffSAData], s.head[:])
	at := int(s.sent-1) * SegmentSize
	clear(m[OffSAData+copy(m[OffSAData:], s.data[at:]):])
	length := 0
	if s.sent == 1 {
		m[OffRMPPFlags] |= RMPPFirst
		length = len(s.data) + int(s.count)*classHeader
	}
	if s.sent == s.count {
		m[OffRMPPFlags] |= RMPPLast
		length = len(s.data) - at + classHeader
	}
	binary.BigEndian.PutUint32(m[OffSegment:], s.sent)
	binary.BigEndian.PutUint32(m[OffLength:], uint32(length))
	return true
}

// Take processes a MAD from the receiver of the segments. If the result answer is true, the caller must send the MAD in
// the argument out, which ends the transfer. An error wraps [ErrSegments] and ends the transfer.
func (s *Segmenter) Take(m, out *[Size]byte) (answer bool, err error) {
	be := binary.BigEndian
	if !segmented(m) || be.Uint64(m[OffTID:]) != be.Uint64(s.head[OffTID:]) || s.Done() {
		return false, nil
	}
	switch m[OffRMPPType] {
	case RMPPAck:
	case RMPPStop, RMPPAbort:
		return false, abortedBy(m)
	default:
		return s.abort(out, RMPPBadType)
	}
	seg, window := be.Uint32(m[OffSegment:]), be.Uint32(m[OffLength:])
	switch {
	case seg > s.most:
		return s.abort(out, RMPPSegmentTooBig)
	case window < seg:
		return s.abort(out, RMPPWindowTooSmall)
	case seg < s.acked || window < s.window && seg == s.acked:
		return false, nil // an outdated acknowledgement
	}
	s.acked, s.sent, s.window = seg, max(s.sent, seg), max(s.window, window)
	return false, nil
}

func (s *Segmenter) abort(out *[Size]byte, status RMPPStatus) (bool, error) {
	control(out, &s.head, RMPPAbort, status, 0, 0)
	out[OffMethod] = s.head[OffMethod]
	return true, fmt.Errorf("%w: acknowledgement: %w", ErrSegments, status)
}

// Rewind makes Next continue after the last acknowledged segment.
func (s *Segmenter) Rewind() { s.sent = s.acked }

// Done reports whether all segments are acknowledged.
func (s *Segmenter) Done() bool { return s.acked == s.count }
