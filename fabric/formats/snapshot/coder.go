// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// errShort reports that a section is truncated.
var errShort = errors.New("truncated")

type encoder struct{ b []byte }

func (e *encoder) uint(v uint64)            { e.b = binary.AppendUvarint(e.b, v) }
func encodeIndex[I ~int32](e *encoder, v I) { e.uint(uint64(uint32(v + 1))) }
func (e *encoder) bytes(v []byte)           { e.b = append(e.b, v...) }
func (e *encoder) string(v string)          { e.uint(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) bool(v bool) {
	if v {
		e.uint(1)
	} else {
		e.uint(0)
	}
}

// decoder decodes bytes in memory or from a reader. It keeps the first error.
type decoder struct {
	b   []byte
	err error

	// If the bytes come from a reader, b is the unused part of buf, and left is the number of bytes that have not been
	// read.
	r    io.Reader
	buf  []byte
	left int64

	unused int64 // the number of unused bytes at the error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err, d.unused = err, d.size()
		d.b, d.left = nil, 0
	}
}

// size returns the number of unused bytes.
func (d *decoder) size() int64 { return int64(len(d.b)) + d.left }

// at returns the number of used bytes of a section that has size bytes. After an error it returns the number of bytes
// that were used before the error.
func (d *decoder) at(size uint64) int64 {
	if d.err != nil {
		return int64(size) - d.unused
	}
	return int64(size) - d.size()
}

// window is the size in bytes of the buffer for a reader.
const window = 64 << 10

// fill reads until b has n bytes, or until no bytes are left.
func (d *decoder) fill(n int) {
	if len(d.b) >= n || d.left == 0 {
		return
	}
	if d.buf == nil {
		d.buf = make([]byte, window)
	}
	have := copy(d.buf, d.b)
	more := int(min(int64(len(d.buf)-have), d.left))
	if _, err := io.ReadFull(d.r, d.buf[have:have+more]); err != nil {
		d.fail(asTruncated(err))
		return
	}
	d.b, d.left = d.buf[:have+more], d.left-int64(more)
}

// asTruncated returns errShort for an error that means an unexpected end of the file. It returns other errors
// unchanged.
func asTruncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errShort
	}
	return err
}

// uint decodes a number up to most.
func (d *decoder) uint(most uint64) uint64 {
	d.fill(binary.MaxVarintLen64)
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[n:]
	if v > most {
		d.fail(fmt.Errorf("%d, expected at most %d", v, most))
		return 0
	}
	return v
}

// into decodes len(out) bytes.
func (d *decoder) into(out []byte) {
	if int64(len(out)) > d.size() {
		d.fail(errShort)
		return
	}
	n := copy(out, d.b)
	d.b, out = d.b[n:], out[n:]
	if len(out) == 0 {
		return
	}
	if _, err := io.ReadFull(d.r, out); err != nil {
		d.fail(asTruncated(err))
		return
	}
	d.left -= int64(len(out))
}

// decodeIndex decodes an index, which is less than the argument below, or -1.
func decodeIndex[I ~int32](d *decoder, below int) I { return I(d.uint(uint64(below))) - 1 }

func (d *decoder) bool() bool { return d.uint(1) == 1 }

// bytes decodes n bytes. It allocates memory if the bytes come from a reader.
func (d *decoder) bytes(n int) []byte {
	if n < 0 || int64(n) > d.size() {
		d.fail(errShort)
		return nil
	}
	if d.r == nil {
		v := d.b[:n]
		d.b = d.b[n:]
		return v
	}
	v := make([]byte, n)
	d.into(v)
	return v
}

func (d *decoder) string() string { return string(d.bytes(int(d.uint(1 << 20)))) }
