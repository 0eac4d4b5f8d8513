// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"encoding/binary"

	"example.org/ibconsole/mad"
)

// The management classes with a key (IBA 1.2.1, 13.4.4 and annex A10).
const (
	classSA         = 0x03
	classBoard      = 0x05
	classCongestion = 0x21
)

// The records of subnet administration (IBA 1.2.1, 15.2.5), and the offsets in a notice of a bad M_Key (14.2.5.1).
const (
	recordPortInfo = 0x0012
	recordSMInfo   = 0x0018

	offTrapNumber = 4
	offTrapMKey   = 24
)

const (
	keyLen    = 8
	saDataLen = mad.Size - mad.OffSAData
)

func isSMP(m *[mad.Size]byte) bool {
	c := mad.Class(m[mad.OffClass])
	return c == mad.ClassSMPLID || c == mad.ClassSMPDirected
}

// hide sets the keys in a MAD to 0; see the package comment.
func hide(m *[mad.Size]byte) {
	switch m[mad.OffClass] {
	case uint8(mad.ClassSMPLID), uint8(mad.ClassSMPDirected):
		zeroKey(m[mad.OffMKey:])
		hideAttribute(attrOf(m), m[mad.OffData:])
	case classSA:
		zeroKey(m[mad.OffSMKey:])
		hideRecords(m)
	case classBoard, classCongestion:
		zeroKey(m[mad.OffMKey:])
	}
}

// hideKeys sets the keys to 0 wherever they are in a MAD. Agents may leave bytes of other MADs in reserved parts.
func hideKeys(m []byte, keys [][keyLen]byte) {
	for i := range keys {
		for at := bytes.Index(m, keys[i][:]); at >= 0; at = bytes.Index(m, keys[i][:]) {
			zeroKey(m[at:])
		}
	}
}

// bytesOf returns the bytes of keys in a MAD. It omits keys without a value.
func bytesOf(keys []uint64) (all [][keyLen]byte) {
	for _, k := range keys {
		if k != 0 {
			var b [keyLen]byte
			binary.BigEndian.PutUint64(b[:], k)
			all = append(all, b)
		}
	}
	return all
}

func attrOf(m *[mad.Size]byte) mad.AttrID {
	return mad.AttrID(binary.BigEndian.Uint16(m[mad.OffAttr:]))
}

func zeroKey(b []byte) { clear(b[:keyLen]) }

// hideAttribute sets the keys in the data of an attribute to 0.
func hideAttribute(attr mad.AttrID, data []byte) {
	switch attr {
	case mad.AttrPortInfo:
		zeroKey(data)
	case mad.AttrSMInfo:
		zeroKey(data[8:])
	case mad.AttrNotice:
		if binary.BigEndian.Uint16(data[offTrapNumber:]) == mad.TrapBadMKey {
			zeroKey(data[offTrapMKey:])
		}
	}
}

// hideRecords sets the keys to 0 in the part of a table that one MAD carries. A part has 200 bytes (IBA 1.2.1,
// 13.6.2.1), whatever the record length. So a key may span two parts.
func hideRecords(m *[mad.Size]byte) {
	data := m[mad.OffSAData:]
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
	if n := int(be.Uint16(m[mad.OffRecordSize:])) * 8; n >= key+keyLen {
		size = n
	}
	from := 0
	if n := be.Uint32(m[mad.OffSegment:]); n > 1 {
		from = int(uint64(n-1) * saDataLen % uint64(size))
	}
	for at := key - from; at < len(data); at += size {
		if lo, hi := max(at, 0), min(at+keyLen, len(data)); lo < hi {
			clear(data[lo:hi])
		}
	}
}
