// SPDX-License-Identifier: Apache-2.0

package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"example.org/ibconsole/fabric/counters"
)

// perBlock is the maximum number of ports in a block.
const perBlock = 1024

// rounded contains the counters that are stored with only 9 binary digits.
var rounded = counters.Data | counters.Of(counters.XmitWait)

// value is a value of one port of a block.
type value struct {
	nth uint16
	v   uint64
}

// block holds the counts of up to 1,024 ports, from one round or from a period. Lists are in the order of ports.
type block struct {
	what    counters.Set // the counters that the round read
	base    uint64       // milliseconds between two readings of most ports
	present [perBlock / 64]uint64
	others  []value // milliseconds of ports with other periods
	columns [counters.NumCounters][]value
	// sets lists values by port: the counters that were cleared, that stopped at their maximum value, that wrapped, and
	// that the port does not have.
	sets [numSets][]value
}

const (
	cleared = iota
	stopped
	wrapped
	missing
	numSets
)

const codecVersion = 1

func (b *block) has(nth uint16) bool { return b.present[nth/64]>>(nth%64)&1 != 0 }

func (b *block) ports() (n int) {
	for _, word := range b.present {
		n += bits.OnesCount64(word)
	}
	return n
}

// append encodes a block. The result dst compresses well. The result fine has the low bytes of codes, which do not
// compress. dst contains:
//
//	version, what, base                 varints
//	present                             a bit per port, 128 bytes
//	others                              a list
//	a column for each counter in what   a list, or codes
//	sets                                a list each
//
// A list has its length, the gaps between its ports, and its values, all as varints. Codes have a length, the gaps
// unless all present ports have a code, and the high byte of each code.
func (b *block) append() (dst, fine []byte) {
	dst = append(dst, codecVersion)
	dst = binary.AppendUvarint(dst, uint64(b.what))
	dst = binary.AppendUvarint(dst, b.base)
	for _, word := range b.present {
		dst = binary.LittleEndian.AppendUint64(dst, word)
	}
	dst = appendList(dst, b.others)
	present := b.ports()
	for c := range b.what.All() {
		if rounded.Has(c) {
			dst, fine = appendCodes(dst, fine, b.columns[c], present)
		} else {
			dst = appendList(dst, b.columns[c])
		}
	}
	for _, set := range b.sets {
		dst = appendList(dst, set)
	}
	return dst, fine
}

func appendList(dst []byte, list []value) []byte {
	dst = appendGaps(binary.AppendUvarint(dst, uint64(len(list))), list)
	for _, x := range list {
		dst = binary.AppendUvarint(dst, x.v)
	}
	return dst
}

func appendGaps(dst []byte, list []value) []byte {
	next := uint16(0)
	for _, x := range list {
		dst = binary.AppendUvarint(dst, uint64(x.nth-next))
		next = x.nth + 1
	}
	return dst
}

func appendCodes(dst, fine []byte, list []value, present int) (all, more []byte) {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	if len(list) < present {
		dst = appendGaps(dst, list)
	}
	for _, x := range list {
		c := code(x.v)
		dst, fine = append(dst, byte(c>>8)), append(fine, byte(c))
	}
	return dst, fine
}

// code encodes a number with 9 binary digits. A number less than 512 is encoded as itself. Otherwise the code is 256
// times the number of omitted digits, plus the first 9 digits. The high byte is the magnitude, which is similar among
// ports. The low byte holds the other digits.
func code(v uint64) uint16 {
	shift := max(bits.Len64(v)-9, 0)
	if shift == 0 {
		return uint16(v)
	}
	digits := v >> shift
	digits += v >> (shift - 1) & 1 // rounded; 512 becomes 256 of the next shift
	return uint16(min(uint64(shift)*256+digits, 55*256+511))
}

func decode(code uint16) uint64 {
	if code < 512 {
		return uint64(code)
	}
	return uint64(code&255|256) << min(code>>8-1, 55)
}

var errShort = errors.New("the block is truncated")

// reader decodes a block. After an error it returns zeros.
type reader struct {
	data, fine []byte
	err        error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data, r.fine = nil, nil
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.data) {
		r.fail(errShort)
		return make([]byte, n)
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.data = r.data[n:]
	return v
}

// unpack decodes the results of append into b. It reuses the memory of b.
func (b *block) unpack(data, fine []byte) error {
	r := reader{data: data, fine: fine}
	if version := r.bytes(1)[0]; version != codecVersion && r.err == nil {
		return fmt.Errorf("version %d of a block, expected %d", version, codecVersion)
	}
	b.what = counters.Set(r.uvarint())
	if b.what&^counters.All != 0 {
		r.fail(errors.New("the block has unknown counters"))
		b.what &= counters.All
	}
	b.base = r.uvarint()
	for i := range b.present {
		b.present[i] = binary.LittleEndian.Uint64(r.bytes(8))
	}
	present := b.ports()
	b.others = r.list(b.others[:0], b)
	for c := range b.columns {
		column := b.columns[c][:0]
		switch k := counters.Counter(c); {
		case !b.what.Has(k):
		case rounded.Has(k):
			column = r.codes(column, b, present)
		default:
			column = r.list(column, b)
		}
		b.columns[c] = column
	}
	for i := range b.sets {
		b.sets[i] = r.list(b.sets[i][:0], b)
	}
	if len(r.data)+len(r.fine) > 0 {
		r.fail(errors.New("data after the end of the block"))
	}
	return r.err
}

func (r *reader) gaps(list []value, n int, b *block) []value {
	next := uint64(0)
	for range n {
		next += min(r.uvarint(), perBlock)
		if next >= perBlock || !b.has(uint16(next)) {
			r.fail(errors.New("the block has values of a port that is not in it"))
			return list
		}
		list = append(list, value{nth: uint16(next)})
		next++
	}
	return list
}

func (r *reader) length() int {
	n := r.uvarint()
	if n > perBlock {
		r.fail(fmt.Errorf("the block has %d values, but only %d ports", n, perBlock))
		return 0
	}
	return int(n)
}

func (r *reader) list(list []value, b *block) []value {
	list = r.gaps(list, r.length(), b)
	for i := range list {
		list[i].v = r.uvarint()
	}
	return list
}

func (r *reader) codes(list []value, b *block, present int) []value {
	n := r.length()
	switch {
	case n < present:
		list = r.gaps(list, n, b)
	case n > present:
		r.fail(errors.New("the block has values of ports that are not in it"))
	default:
		for i, word := range b.present {
			for ; word != 0; word &= word - 1 {
				list = append(list, value{nth: uint16(i*64 + bits.TrailingZeros64(word))})
			}
		}
	}
	first := r.bytes(len(list))
	if len(r.fine) < len(list) {
		r.fail(errShort)
		return list
	}
	for i := range list {
		list[i].v = decode(uint16(first[i])<<8 | uint16(r.fine[i]))
	}
	r.fine = r.fine[len(list):]
	return list
}
