// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Types of segments (IBA 13.6.2.1).
const (
	RMPPData  = 1
	RMPPAck   = 2
	RMPPStop  = 3
	RMPPAbort = 4
)

// Flags of segments.
const (
	RMPPActive = 1 << 0 // the header is valid
	RMPPFirst  = 1 << 1
	RMPPLast   = 1 << 2
)

// RMPPStatus is the reason why a segmented transfer ended (IBA 13.6.2.2).
type RMPPStatus uint8

// Statuses of transfers.
const (
	RMPPOK             RMPPStatus = 0
	RMPPNoResources    RMPPStatus = 1
	RMPPTooLong        RMPPStatus = 118
	RMPPBadLength      RMPPStatus = 119
	RMPPBadSegment     RMPPStatus = 120
	RMPPBadType        RMPPStatus = 121
	RMPPWindowTooSmall RMPPStatus = 122
	RMPPSegmentTooBig  RMPPStatus = 123
	RMPPBadStatus      RMPPStatus = 124
	RMPPBadVersion     RMPPStatus = 125
	RMPPTooManyRetries RMPPStatus = 126
	RMPPUnspecified    RMPPStatus = 127
)

func (s RMPPStatus) Error() string { return named(rmppStatuses, s, "RMPP status %d") }

var rmppStatuses = map[RMPPStatus]string{
	RMPPOK:             "no error",
	RMPPNoResources:    "resources exhausted",
	RMPPTooLong:        "total time too long",
	RMPPBadLength:      "inconsistent last segment and payload length",
	RMPPBadSegment:     "inconsistent first segment and segment number",
	RMPPBadType:        "bad RMPP type",
	RMPPWindowTooSmall: "new window too small",
	RMPPSegmentTooBig:  "segment number too big",
	RMPPBadStatus:      "illegal RMPP status",
	RMPPBadVersion:     "unsupported RMPP version",
	RMPPTooManyRetries: "too many retries",
	RMPPUnspecified:    "unspecified",
}

// ErrSegments reports that a segmented transfer failed. An error that wraps it also wraps an [RMPPStatus].
var ErrSegments = errors.New("transfer in segments ended")

// ErrTruncated reports that an answer is only the beginning of a longer answer that the transport could not carry.
var ErrTruncated = errors.New("the transport truncated the answer")

// The RMPP header follows the header that all MADs have in common (IBA 13.6.2.1):
//
//	24  Version   1
//	25  Type      1
//	26  RRespTime 5 bits, highest first; 31 is none
//	    Flags     3 bits
//	27  Status    1
//	28  Segment   4  from 1; in an ACK the last one received in order
//	32  Length    4  first segment: of all data; last segment: of its own; each with
//	                 the 20 bytes of class header in every segment;
//	                 in an ACK the last segment that may be sent
const (
	OffRMPPVersion = 24
	OffRMPPType    = 25
	OffRMPPFlags   = 26
	OffRMPPStatus  = 27
	OffSegment     = 28
	OffLength      = 32
	// The class header of subnet administration (IBA 15.2.1.1).
	OffSMKey      = 36
	OffRecordSize = 44 // of a record in a table, in units of 8 bytes
	OffComponents = 48 // component mask
	OffSAData     = 56

	rmppVersion    = 1
	rmppNoRespTime = 31 << 3
	classHeader    = OffSAData - OffSMKey
	segmentRoom    = Size - OffSMKey

	SegmentSize   = Size - OffSAData // bytes of data in a segment of subnet administration, the only segmented class
	SegmentWindow = 64               // segments in flight
)

// segmented reports whether m belongs to a segmented transfer.
func segmented(m *[Size]byte) bool {
	return Class(m[OffClass]) == ClassSA && m[OffRMPPFlags]&RMPPActive != 0
}

// control fills the argument out with a control packet of the given type for the transfer to which m belongs.
func control(out, m *[Size]byte, kind uint8, status RMPPStatus, data1, data2 uint32) {
	copy(out[:OffSAData], m[:OffSAData])
	clear(out[OffSAData:])
	out[OffMethod] = m[OffMethod] ^ uint8(MethodResponse)
	out[OffRMPPVersion] = rmppVersion
	out[OffRMPPType] = kind
	out[OffRMPPFlags] = rmppNoRespTime | RMPPActive
	out[OffRMPPStatus] = uint8(status)
	binary.BigEndian.PutUint32(out[OffSegment:], data1)
	binary.BigEndian.PutUint32(out[OffLength:], data2)
}

// abortedBy returns the error for a transfer that the other end has ended with m.
func abortedBy(m *[Size]byte) error {
	return fmt.Errorf("%w by the responder: %w", ErrSegments, RMPPStatus(m[OffRMPPStatus]))
}

// For programs with libibumad, the kernel splits answers of a subnet administration into segments, and acknowledges
// received segments. The library umad2sim, which replaces the kernel if the subnet is an ibsim, does neither. The whole
// answer of the program arrives as one packet, truncated after 256 bytes. The header has the fields that the kernel
// would have filled in. An acknowledgement that is meant for the kernel reaches the program as another request.

// ControlsSegments reports whether a MAD only controls a segmented transfer. A kernel would process such a MAD itself.
func ControlsSegments(m *[Size]byte) bool {
	return segmented(m) && m[OffRMPPType] != RMPPData
}

// CompleteSegment changes an answer of length bytes that no kernel has segmented. The answer becomes the first and last
// segment of a transfer, as the kernel would have made it. If the answer may be truncated, it gets a status. Other MADs
// remain unchanged.
func CompleteSegment(m *[Size]byte, length uint64) {
	be := binary.BigEndian
	if !segmented(m) || m[OffRMPPType] != 0 || be.Uint32(m[OffSegment:]) != 0 || length < OffSAData {
		return
	}
	m[OffRMPPVersion], m[OffRMPPType] = rmppVersion, RMPPData
	m[OffRMPPFlags] |= RMPPFirst | RMPPLast
	m[OffRMPPStatus] = 0
	if length >= Size {
		length = Size
		m[OffRMPPStatus] = uint8(RMPPNoResources)
	}
	be.PutUint32(m[OffSegment:], 1)
	be.PutUint32(m[OffLength:], uint32(length-OffSMKey))
}
