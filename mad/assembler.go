// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"fmt"
)

// Assembler is the receiving end of a segmented transfer (IBA 13.6.6.2). It stores the segments received in order, up
// to its limit in bytes, and at most [SegmentWindow] further segments, whatever the segments contain. Each segment
// costs O(1).
type Assembler struct {
	limit     int
	tid       uint64
	last      uint32 // number of the last segment; 0 while unknown
	end       int    // bytes of the last segment
	next      uint32 // first missing segment
	beyond    uint64 // bit i: segment next+i has arrived
	window    uint32 // last segment that may be sent
	truncated bool
	data      []byte
	sample    [Size]byte // a segment; its headers are those of acknowledgements
}

// NewAssembler returns an assembler for a transfer of at most limit bytes. A limit of 0 means [DefaultLimit].
func NewAssembler(limit int) *Assembler {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Assembler{limit: limit, next: 1, window: 1}
}

// Take processes MAD m of the transfer. If the result answer is true, the caller must send the MAD in the argument out.
// This MAD is an acknowledgement or ends the transfer. An error wraps [ErrSegments] and ends the transfer.
func (a *Assembler) Take(m, out *[Size]byte) (answer bool, err error) {
	be := binary.BigEndian
	if a.data == nil && a.next == 1 && a.beyond == 0 {
		a.tid = be.Uint64(m[OffTID:])
	}
	if a.Done() || be.Uint64(m[OffTID:]) != a.tid {
		return a.again(m, out), nil
	}
	switch m[OffRMPPType] {
	case RMPPStop, RMPPAbort:
		return false, abortedBy(m)
	case RMPPData:
	default:
		return a.abort(m, out, RMPPBadType)
	}
	seg := be.Uint32(m[OffSegment:])
	if status := a.check(m, seg); status != RMPPOK {
		return a.abort(m, out, status)
	}
	switch {
	case seg < a.next:
		return a.again(m, out), nil
	case seg > a.window:
		return false, nil
	}
	a.sample = *m
	if status := a.put(m, seg); status != RMPPOK {
		return a.abort(m, out, status)
	}
	if a.Done() || a.next > a.window {
		if !a.Done() {
			a.window += SegmentWindow
		}
		a.Ack(out)
		return true, nil
	}
	return false, nil
}

// Done reports whether all segments have arrived.
func (a *Assembler) Done() bool { return a.last != 0 && a.next > a.last }

// Segments returns the number of segments that have arrived in order.
func (a *Assembler) Segments() int { return int(a.next - 1) }

// Data returns the data of the segments without headers. If the transport lost the rest of the data, the error wraps
// [ErrTruncated].
func (a *Assembler) Data() ([]byte, error) {
	if a.truncated {
		return a.data, ErrTruncated
	}
	return a.data, nil
}

// size returns the size of the memory in bytes that the data occupies.
func (a *Assembler) size() int { return cap(a.data) }

// Ack fills the argument out with the acknowledgement of the segments received in order. At least one segment must have
// arrived.
func (a *Assembler) Ack(out *[Size]byte) {
	control(out, &a.sample, RMPPAck, RMPPOK, a.next-1, a.window)
}

// Abort fills the argument out with a MAD that aborts the transfer. At least one segment must have arrived.
func (a *Assembler) Abort(out *[Size]byte, status RMPPStatus) {
	control(out, &a.sample, RMPPAbort, status, 0, 0)
}

// again fills the argument out with the acknowledgement of a repeated segment, because the previous acknowledgement may
// have been lost.
func (a *Assembler) again(m, out *[Size]byte) bool {
	if m[OffRMPPType] != RMPPData || binary.BigEndian.Uint64(m[OffTID:]) != a.tid {
		return false
	}
	a.Ack(out)
	return true
}

func (a *Assembler) abort(m, out *[Size]byte, status RMPPStatus) (bool, error) {
	kind := uint8(RMPPAbort)
	if status == RMPPNoResources {
		kind = RMPPStop
	}
	control(out, m, kind, status, 0, 0)
	err := fmt.Errorf("%w: segment %d: %w", ErrSegments, binary.BigEndian.Uint32(m[OffSegment:]), status)
	if status == RMPPNoResources {
		err = fmt.Errorf("%w: the answer exceeds the limit of %d bytes", err, a.limit)
	}
	return true, err
}

// check validates the header of the data segment with number seg.
func (a *Assembler) check(m *[Size]byte, seg uint32) RMPPStatus {
	flags, length := m[OffRMPPFlags], binary.BigEndian.Uint32(m[OffLength:])
	first, last := flags&RMPPFirst != 0, flags&RMPPLast != 0
	// If a transport has truncated the answer, it sets a status in the last segment.
	truncated := last && RMPPStatus(m[OffRMPPStatus]) == RMPPNoResources
	switch {
	case m[OffRMPPVersion] != rmppVersion:
		return RMPPBadVersion
	case m[OffRMPPStatus] != 0 && !truncated:
		return RMPPBadStatus
	case seg == 0, first != (seg == 1):
		return RMPPBadSegment
	case last && (length < classHeader || length > segmentRoom):
		return RMPPBadLength
	case a.last != 0 && (seg > a.last || last != (seg == a.last)):
		return RMPPBadLength
	case last && seg <= a.window && seg >= a.next && a.beyond>>(seg-a.next) > 1:
		return RMPPBadLength // a segment beyond the last has arrived
	case first && !last && uint64(length) > uint64(a.limit)*segmentRoom/SegmentSize+segmentRoom:
		return RMPPNoResources
	}
	return RMPPOK
}

// put stores the segment with number seg. The number must be within the window.
func (a *Assembler) put(m *[Size]byte, seg uint32) RMPPStatus {
	bytes := SegmentSize
	if m[OffRMPPFlags]&RMPPLast != 0 {
		bytes = int(binary.BigEndian.Uint32(m[OffLength:])) - classHeader
		a.last, a.end = seg, bytes
		a.truncated = m[OffRMPPStatus] != 0
	}
	at := int(seg-1) * SegmentSize
	if at+bytes > a.limit {
		return RMPPNoResources
	}
	if n := at + bytes - len(a.data); n > 0 {
		a.data = append(a.data, make([]byte, n)...)
	}
	copy(a.data[at:at+bytes], m[OffSAData:])
	a.beyond |= 1 << (seg - a.next)
	for a.beyond&1 != 0 {
		a.beyond >>= 1
		a.next++
	}
	return RMPPOK
}
