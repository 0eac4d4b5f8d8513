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
	RMPPActive = 1 << 0 // the header means something
	RMPPFirst  = 1 << 1
	RMPPLast   = 1 << 2
)

// RMPPStatus says why a transfer in segments ended (IBA 13.6.2.2).
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

// ErrSegments says that a transfer in segments failed. Errors that wrap it wrap an [RMPPStatus], too.
var ErrSegments = errors.New("transfer in segments ended")

// ErrCut says that an answer is the beginning of a longer one that the transport could not carry.
var ErrCut = errors.New("the answer was cut off on its way")

// The header of a segment, behind that of all MADs (IBA 13.6.2.1):
//
//	24  Version   1
//	25  Type      1
//	26  RRespTime 5 bits, highest first; 31 is none
//	    Flags     3 bits
//	27  Status    1
//	28  Segment   4  from 1; in an ACK the last that came in order
//	32  Length    4  of a first segment that of all, of a last its own, each with
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
	OffRecordSize = 44 // in a table, in units of 8 bytes
	OffComponents = 48 // the mask of those that count
	OffSAData     = 56

	rmppVersion    = 1
	rmppNoRespTime = 31 << 3
	classHeader    = OffSAData - OffSMKey
	segmentRoom    = Size - OffSMKey

	SegmentSize   = Size - OffSAData // bytes that a segment carries of subnet administration, the one class in segments
	SegmentWindow = 64               // how many segments are under way at once
)

// segmented reports whether m is a segment of a transfer, or about one.
func segmented(m *[Size]byte) bool {
	return Class(m[OffClass]) == ClassSA && m[OffRMPPFlags]&RMPPActive != 0
}

// control makes out a packet of the given type about the transfer that m is of.
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

// ended is the error of a transfer that the other end stops.
func ended(m *[Size]byte) error {
	return fmt.Errorf("%w by the other end: %w", ErrSegments, RMPPStatus(m[OffRMPPStatus]))
}
