// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

// Offsets in a MAD (IBA 1.2.1, 13.4.2, 13.6.2.1, 14.2.1.1 and 15.2.1.1).
const (
	offClass     = 1
	offMethod    = 3
	offStatus    = 4
	offHopCount  = 7
	offTID       = 8
	offAttr      = 16
	offMod       = 20
	offKey       = 24 // of SMPs and of the classes for boards and congestion
	offSMPData   = 64
	offSegment   = 28
	offSMKey     = 36
	offRecordLen = 44 // in units of 8 bytes
	offSAData    = 56
	saDataLen    = mad.Size - offSAData
)

// Management classes with a key (IBA 1.2.1, 13.4.4 and annex A10).
const (
	classSA         = 0x03
	classBoard      = 0x05
	classCongestion = 0x21
)

// Records of subnet administration (IBA 1.2.1, 15.2.5), and offsets in a notice of a bad M_Key (14.2.5.1).
const (
	recordPortInfo = 0x0012
	recordSMInfo   = 0x0018

	offTrapNumber = 4
	trapBadMKey   = 256
	offTrapMKey   = 24
)

const keyLen = 8

func isSMP(m *[mad.Size]byte) bool {
	c := mad.Class(m[offClass])
	return c == mad.ClassSMPLID || c == mad.ClassSMPDirected
}

// hide zeroes the keys in a MAD; see the package's comment.
func hide(m *[mad.Size]byte) {
	switch m[offClass] {
	case uint8(mad.ClassSMPLID), uint8(mad.ClassSMPDirected):
		zeroKey(m[offKey:])
		hideAttribute(attrOf(m), m[offSMPData:])
	case classSA:
		zeroKey(m[offSMKey:])
		hideRecords(m)
	case classBoard, classCongestion:
		zeroKey(m[offKey:])
	}
}

func attrOf(m *[mad.Size]byte) mad.AttrID { return mad.AttrID(binary.BigEndian.Uint16(m[offAttr:])) }

func zeroKey(b []byte) { clear(b[:keyLen]) }

// hideAttribute zeroes the keys in an attribute's data.
func hideAttribute(attr mad.AttrID, data []byte) {
	switch attr {
	case mad.AttrPortInfo:
		zeroKey(data)
	case mad.AttrSMInfo:
		zeroKey(data[8:])
	case mad.AttrNotice:
		if binary.BigEndian.Uint16(data[offTrapNumber:]) == trapBadMKey {
			zeroKey(data[offTrapMKey:])
		}
	}
}

// hideRecords zeroes the keys in the part of a table of records that one MAD carries. A part is 200 bytes
// (IBA 1.2.1, 13.6.2.1), whatever the records' length, so a key may be in two of them.
func hideRecords(m *[mad.Size]byte) {
	data := m[offSAData:]
	var key, size int
	switch attr := attrOf(m); attr {
	case recordPortInfo:
		key, size = 4, 72
	case recordSMInfo:
		key, size = 4+8, 32
	default:
		hideAttribute(attr, data)
		return
	}
	be := binary.BigEndian
	if n := int(be.Uint16(m[offRecordLen:])) * 8; n >= key+keyLen {
		size = n
	}
	from := 0
	if n := be.Uint32(m[offSegment:]); n > 1 {
		from = int(uint64(n-1) * saDataLen % uint64(size))
	}
	for at := key - from; at < len(data); at += size {
		if lo, hi := max(at, 0), min(at+keyLen, len(data)); lo < hi {
			clear(data[lo:hi])
		}
	}
}
