// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"encoding/binary"
	"time"

	"example.org/ibconsole/mad"
)

// The lengths in bytes of the parts of a packet (IBA 1.2.1, 7.7, 9.2 and 7.8).
const (
	lrhLen    = 8
	bthLen    = 12
	dethLen   = 8
	icrcLen   = 4
	vcrcLen   = 2
	headerLen = lrhLen + bthLen + dethLen
	wireLen   = headerLen + mad.Size + icrcLen + vcrcLen
)

// Lengths in bytes of headers in the file.
const (
	fileHeaderLen = 24
	pcapLen       = 16
	erfLen        = 16
	recordLen     = pcapLen + erfLen + wireLen
)

// Constants of pcap and ERF.
const (
	pcapNanoseconds = 0xa1b23c4d
	linkTypeERF     = 197
	snapLen         = 1 << 16
	erfInfiniBand   = 21
	erfVaryingLen   = 1 << 2
)

// Constants of packet headers.
const (
	vl15           = 15
	lnhIBALocal    = 2 // a BTH follows the LRH
	opUDSendOnly   = 0x64
	defaultPKey    = 0xffff
	packetLenWords = (headerLen + mad.Size + icrcLen) / 4
)

// appendFileHeader appends the header of a pcap file whose times are in nanoseconds.
func appendFileHeader(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, pcapNanoseconds)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = le.AppendUint64(b, 0) // time zone and accuracy
	b = le.AppendUint32(b, snapLen)
	return le.AppendUint32(b, linkTypeERF)
}

// packet is a MAD with its time and addresses.
type packet struct {
	at         time.Time
	slid, dlid uint16
	sl         uint8
	mad        *[mad.Size]byte
}

// appendRecord appends the file record of a packet, which has recordLen bytes. The MAD begins at offset madAt of the
// record.
func (p *packet) appendRecord(b []byte) []byte {
	le, be := binary.LittleEndian, binary.BigEndian
	sec, nsec := uint64(p.at.Unix()), uint64(p.at.Nanosecond())
	b = le.AppendUint32(b, uint32(sec))
	b = le.AppendUint32(b, uint32(nsec))
	b = le.AppendUint32(b, erfLen+wireLen)
	b = le.AppendUint32(b, erfLen+wireLen)

	b = le.AppendUint64(b, sec<<32|nsec<<32/1e9)
	b = append(b, erfInfiniBand, erfVaryingLen)
	b = be.AppendUint16(b, erfLen+wireLen)
	b = be.AppendUint16(b, 0) // packets lost
	b = be.AppendUint16(b, wireLen)

	vl, qp, qKey := uint8(0), uint32(mad.QP1), mad.QKey1
	if isSMP(p.mad) {
		vl, qp, qKey = vl15, 0, 0
	}
	b = append(b, vl<<4, p.sl<<4|lnhIBALocal)
	b = be.AppendUint16(b, p.dlid)
	b = be.AppendUint16(b, packetLenWords)
	b = be.AppendUint16(b, p.slid)
	b = append(b, opUDSendOnly, 0)
	b = be.AppendUint16(b, defaultPKey)
	b = be.AppendUint32(b, qp)
	b = be.AppendUint32(b, 0) // acknowledge request, packet sequence number
	b = be.AppendUint32(b, qKey)
	b = be.AppendUint32(b, qp)
	b = append(b, p.mad[:]...)
	return append(b, make([]byte, icrcLen+vcrcLen)...)
}

// madAt is the offset of the MAD in a record.
const madAt = pcapLen + erfLen + headerLen
