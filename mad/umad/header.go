// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"encoding/binary"
	"time"

	"example.org/ibconsole/mad"
)

// The header of a MAD, struct ib_user_mad_hdr of ib_user_mad.h, in the form with a P_Key index:
//
//	 0  agent     4
//	 4  status    4  0, or the errno of a returned request
//	 8  timeout   4  milliseconds, 0: no answer is expected
//	12  retries   4
//	16  length    4  of a received packet, including this header
//	20  QP        4  big-endian
//	24  Q_Key     4  big-endian
//	28  LID       2  big-endian
//	30  SL        1
//	31  path bits 1
//	32  has GRH   1
//	33  GID index 1
//	34  hop limit 1
//	35  class     1
//	36  GID      16
//	52  flow      4  big-endian
//	56  P_Key     2  index
//	58  reserved  6
//
// The other numbers are in the byte order of the machine.
const (
	offAgent    = 0
	offStatus   = 4
	offTimeout  = 8
	offLength   = 16
	offQP       = 20
	offQKey     = 24
	offLID      = 28
	offSL       = 30
	offHasGRH   = 32
	offHopLimit = 34
	offGID      = 36
	offPKey     = 56
	headerSize  = 64
	packetSize  = headerSize + mad.Size

	leastPacket = headerSize + 24 // of a returned request, possibly only its common header
	// receiveSize is the size of the receive buffer in bytes. It fits the longest MAD of a kernel, which is
	// Omni-Path's, and unsegmented packets of libumad2sim.
	receiveSize = headerSize + 1<<16
)

// header is the decoded header of a MAD.
type header struct {
	agent   uint32
	status  uint32
	timeout uint32 // ms
	qp      uint32
	lid     uint16
	sl      uint8
	pkey    uint16
	gid     [16]byte // destination with a GRH; zero without
}

func (h *header) encode(b *[headerSize]byte) {
	host, be := binary.NativeEndian, binary.BigEndian
	clear(b[:])
	host.PutUint32(b[offAgent:], h.agent)
	host.PutUint32(b[offTimeout:], h.timeout)
	be.PutUint32(b[offQP:], h.qp)
	if h.qp != 0 {
		be.PutUint32(b[offQKey:], mad.QKey1)
	}
	be.PutUint16(b[offLID:], h.lid)
	b[offSL] = h.sl
	if h.gid != [16]byte{} {
		b[offHasGRH], b[offHopLimit] = 1, 1
		copy(b[offGID:], h.gid[:])
	}
	host.PutUint16(b[offPKey:], h.pkey)
}

func (h *header) decode(b *[headerSize]byte) {
	host, be := binary.NativeEndian, binary.BigEndian
	*h = header{
		agent:   host.Uint32(b[offAgent:]),
		status:  host.Uint32(b[offStatus:]),
		timeout: host.Uint32(b[offTimeout:]),
		qp:      be.Uint32(b[offQP:]),
		lid:     be.Uint16(b[offLID:]),
		sl:      b[offSL],
		pkey:    host.Uint16(b[offPKey:]),
	}
	if b[offHasGRH] != 0 {
		copy(h.gid[:], b[offGID:])
	}
}

// decodePacket decodes a packet into f. It returns false unless the MAD has 256 bytes, but answers of a subnet
// administration that libumad2sim passes on may have any length. If the kernel omitted bytes of a returned request,
// these bytes are 0.
func decodePacket(b []byte, f *mad.Frame) bool {
	if len(b) < leastPacket {
		return false
	}
	var h header
	h.decode((*[headerSize]byte)(b))
	wrongSize := len(b) > packetSize || h.status == 0 && len(b) != packetSize
	if wrongSize && (h.status != 0 || !unsegmented(b)) {
		return false
	}
	*f = mad.Frame{SLID: h.lid, QP: h.qp, SL: h.sl, PKey: h.pkey, Status: h.status}
	if h.status != 0 {
		f.DLID, f.SLID = h.lid, 0
	}
	copy(f.Data[:], b[headerSize:])
	if h.status == 0 {
		mad.CompleteSegment(&f.Data, uint64(len(b)-headerSize))
	}
	return true
}

// unsegmented reports whether a packet comes from libumad2sim and was not segmented. A kernel passes only complete MADs
// to an agent without RMPP.
func unsegmented(b []byte) bool { return mad.Class(b[headerSize+1]) == mad.ClassSA }

// milliseconds returns a duration in milliseconds, rounded up. So a positive duration does not become 0.
func milliseconds(d time.Duration) uint32 {
	const most = 1<<31 - 1
	return uint32(min((max(d, 0)+time.Millisecond-1)/time.Millisecond, most))
}
