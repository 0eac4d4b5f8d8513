// SPDX-License-Identifier: Apache-2.0

// Package wire lays attributes out in bytes: one list of the fields and their widths
// serves to decode them and to encode them.
package wire

// Layout goes through the bytes of an attribute, from the highest bit of the first on.
type Layout struct {
	bytes  []byte
	at     int // in bits
	encode bool
}

// Decode is a layout whose fields are read from b.
func Decode(b []byte) *Layout { return &Layout{bytes: b} }

// Append appends size bytes to dst. It returns the whole, and a layout whose fields
// are written to what was appended.
func Append(dst []byte, size int) ([]byte, *Layout) {
	var zero [256]byte
	whole := append(dst, zero[:size]...)
	return whole, &Layout{bytes: whole[len(dst):], encode: true}
}

// Skip passes over reserved bits, which are sent as 0.
func (l *Layout) Skip(width int) { l.at += width }

// Bytes are fields of bytes as they are.
func (l *Layout) Bytes(field []byte) {
	if at := l.at / 8; l.encode {
		copy(l.bytes[at:], field)
	} else {
		copy(field, l.bytes[at:])
	}
	l.at += 8 * len(field)
}

// Flags are fields of a bit.
func (l *Layout) Flags(fields ...*bool) {
	for _, f := range fields {
		if l.encode {
			if *f {
				l.put(1, 1)
			} else {
				l.put(0, 1)
			}
		} else {
			*f = l.get(1) != 0
		}
	}
}

// Bits are fields of so many bits each.
func Bits[T ~uint8 | ~uint16 | ~uint32 | ~uint64](l *Layout, width int, fields ...*T) {
	for _, f := range fields {
		if l.encode {
			l.put(uint64(*f), width)
		} else {
			*f = T(l.get(width))
		}
	}
}

func (l *Layout) get(width int) (v uint64) {
	for width > 0 {
		room := 8 - l.at%8
		n := min(width, room)
		v = v<<n | uint64(l.bytes[l.at/8]>>(room-n)&(1<<n-1))
		l.at, width = l.at+n, width-n
	}
	return v
}

func (l *Layout) put(v uint64, width int) {
	for width > 0 {
		room := 8 - l.at%8
		n := min(width, room)
		width -= n
		l.bytes[l.at/8] |= uint8(v>>width) & (1<<n - 1) << (room - n)
		l.at += n
	}
}
