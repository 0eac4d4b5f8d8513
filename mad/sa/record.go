// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"fmt"

	"example.org/ibconsole/mad"
)

// The attributes of subnet administration (IBA 15.2.5).
const (
	AttrNodeRecord     mad.AttrID = 0x0011
	AttrPortInfoRecord mad.AttrID = 0x0012
	AttrSMInfoRecord   mad.AttrID = 0x0018
	AttrLinkRecord     mad.AttrID = 0x0020
	AttrServiceRecord  mad.AttrID = 0x0031
	AttrPathRecord     mad.AttrID = 0x0035
	AttrMCMemberRecord mad.AttrID = 0x0038
)

// Mask selects components of a record. Bit i stands for field i in IBA's table of the record, including reserved
// fields.
type Mask uint64

// Record is implemented by all records. UnmarshalBinary takes the bytes of the record. It also accepts the padding to a
// multiple of eight bytes that records in tables have. If there are too few bytes, it returns an error that wraps
// mad.ErrLength. AppendBinary appends the record with padding and does not fail.
type Record = mad.GSIAttribute

// recordOf constrains a type to a pointer to T that is a [Record].
type recordOf[T any] interface {
	*T
	Record
}

func check(what string, b []byte, want int) error {
	if len(b) < want {
		return fmt.Errorf("%s: %w: %d bytes, want %d or more", what, mad.ErrLength, len(b), want)
	}
	return nil
}

// Size returns the size in bytes of a record in a table.
func Size(r Record) int {
	var buf [maxRecord]byte
	b, _ := r.AppendBinary(buf[:0]) // does not fail
	return len(b)
}

// maxRecord is the length of the longest record, a [ServiceRecord].
const maxRecord = 176

// Table decodes a table whose records have size bytes each. Each of them begins with a record of type T. O(n).
func Table[T any, P recordOf[T]](b []byte, size int) ([]T, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var zero T
	if want := Size(P(&zero)); size < want || len(b)%size != 0 {
		return nil, fmt.Errorf("%s: %w: a table of %d bytes with records of %d, want records of %d",
			P(&zero).AttrID().Name(mad.ClassSA), mad.ErrLength, len(b), size, want)
	}
	out := make([]T, len(b)/size)
	for i := range out {
		if err := P(&out[i]).UnmarshalBinary(b[i*size : (i+1)*size]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Selector states how a bound in a record restricts a value (IBA 15.2.5.16).
type Selector uint8

// Selectors, 2 bits.
const (
	GreaterThan Selector = 0
	LessThan    Selector = 1
	Exactly     Selector = 2
	Largest     Selector = 3 // smallest for times
)

// Rate is a code for the rate of a path (IBA 15.2.5.16). The codes from 11 on are those of ib_rate in rdma-core.
type Rate uint8

// rates are in units of 100 Mbit/s.
var rates = [...]int{
	2: 25, 3: 100, 4: 300, 5: 50, 6: 200, 7: 400, 8: 600, 9: 800, 10: 1200, 11: 140, 12: 560, 13: 1120, 14: 1680,
	15: 250, 16: 1000, 17: 2000, 18: 3000, 19: 280, 20: 500, 21: 4000, 22: 6000, 23: 8000, 24: 12000,
}

// Gbps returns the nominal rate in Gb/s, 0 for an invalid code.
func (r Rate) Gbps() float64 {
	if int(r) >= len(rates) {
		return 0
	}
	return float64(rates[r]) / 10
}

// bound encodes a selector in 2 bits and a value in 6 bits.
func bound(s Selector, value uint8) uint8 { return uint8(s)<<6 | value&0x3f }

func unbound(b uint8) (Selector, uint8) { return Selector(b >> 6), b & 0x3f }

func bit(set bool, n uint) uint8 {
	if set {
		return 1 << n
	}
	return 0
}
