// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"encoding/binary"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// TestHide checks that exactly the keys of a MAD full of ones are zeroed. The offsets are those of the tables of IBA
// 1.2.1 and, for congestion control, of annex A10.
func TestHide(t *testing.T) {
	notice := func(trap uint16, at int) func(*[mad.Size]byte) {
		return func(m *[mad.Size]byte) { binary.BigEndian.PutUint16(m[at+4:], trap) }
	}
	for _, test := range []struct {
		name    string
		class   uint8
		attr    mad.AttrID
		prepare func(*[mad.Size]byte)
		keys    []int
	}{
		{"an SMP", 0x01, mad.AttrNodeInfo, nil, []int{24}},
		{"a directed SMP", 0x81, mad.AttrLinearForwardingTable, nil, []int{24}},
		{"PortInfo", 0x81, mad.AttrPortInfo, nil, []int{24, 64}},
		{"SMInfo", 0x01, mad.AttrSMInfo, nil, []int{24, 72}},
		{"notice of a bad M_Key", 0x01, mad.AttrNotice, notice(256, 64), []int{24, 88}},
		{"another notice", 0x01, mad.AttrNotice, notice(128, 64), []int{24}},
		{"a report of a bad M_Key", 0x03, mad.AttrNotice, notice(256, 56), []int{36, 80}},
		{"a path record", 0x03, 0x35, nil, []int{36}},
		{"board management", 0x05, 0x12, nil, []int{24}},
		{"congestion control", 0x21, 0x12, nil, []int{24}},
		{"performance", 0x04, 0x12, nil, nil},
		{"a vendor", 0x0a, 0x12, nil, nil},
	} {
		var m [mad.Size]byte
		for i := range m {
			m[i] = 0xff
		}
		m[mad.OffClass] = test.class
		binary.BigEndian.PutUint16(m[mad.OffAttr:], uint16(test.attr))
		if test.prepare != nil {
			test.prepare(&m)
		}
		want := m
		for _, at := range test.keys {
			clear(want[at : at+8])
		}
		if hide(&m); m != want {
			t.Errorf("%s:\n%x, want\n%x", test.name, m, want)
		}
	}
}

// TestHideInTables checks that exactly the keys are zeroed in segmented tables of records of any length, including keys
// that span two segments.
func TestHideInTables(t *testing.T) {
	rnd := testenv.Rand(t)
	for range 2000 {
		attr, key, natural := mad.AttrID(recordPortInfo), 4, 72
		if rnd.IntN(2) == 0 {
			attr, key, natural = recordSMInfo, 12, 32
		}
		size := natural
		stated := uint16(0)
		if rnd.IntN(3) > 0 {
			stated = uint16(3 + rnd.IntN(40))
			size = 8 * int(stated)
		}
		parts := 1 + rnd.IntN(5)
		table := make([]byte, parts*saDataLen)
		for i := range table {
			table[i] = byte(1 + rnd.IntN(255))
		}
		for part := range parts {
			var m [mad.Size]byte
			m[mad.OffClass] = classSA
			binary.BigEndian.PutUint16(m[mad.OffAttr:], uint16(attr))
			binary.BigEndian.PutUint16(m[mad.OffRecordSize:], stated)
			if parts > 1 {
				binary.BigEndian.PutUint32(m[mad.OffSegment:], uint32(part+1))
			}
			copy(m[mad.OffSAData:], table[part*saDataLen:])
			hide(&m)
			for i, got := range m[mad.OffSAData:] {
				at := part*saDataLen + i
				want := table[at]
				if in := at % size; in >= key && in < key+8 {
					want = 0
				}
				if got != want {
					t.Fatalf("attribute %#x, records of %d bytes: byte %d of part %d is %#x, want %#x", uint16(attr),
						size, i, part, got, want)
				}
			}
		}
	}
}

// FuzzHide checks that hide handles any MAD and is idempotent.
func FuzzHide(f *testing.F) {
	for _, class := range []uint8{0x01, 0x81, 0x03, 0x21} {
		f.Add([]byte{1, class, 1, 0x81, 40: 0xff, 44: 0, 45: 9, 17: 0x12})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m [mad.Size]byte
		copy(m[:], b)
		hide(&m)
		once := m
		if hide(&m); m != once {
			t.Errorf("%x, then %x", once, m)
		}
	})
}

// TestHideKeys checks that known keys are zeroed at every offset of a MAD, and nothing else.
func TestHideKeys(t *testing.T) {
	known := []uint64{0x0123456789abcdef, 0, 0xf123456789abcdef}
	for at := range mad.Size - keyLen + 1 {
		var m [mad.Size]byte
		for i := range m {
			m[i] = 0xee
		}
		want := m
		binary.BigEndian.PutUint64(m[at:], known[at%2*2])
		clear(want[at : at+keyLen])
		if hideKeys(m[:], bytesOf(known)); m != want {
			t.Errorf("at %d:\n%x, want\n%x", at, m, want)
		}
	}
}
