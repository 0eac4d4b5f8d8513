// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errShort says that a section ends before what it should hold.
var errShort = errors.New("cut off")

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

// decoder takes away, and remembers the first error.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
		d.b = nil
	}
}

// uint is a number of at most a bound.
func (d *decoder) uint(most uint64) uint64 {
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

// int is an index below a bound, or -1.
func decodeIndex[I ~int32](d *decoder, below int) I { return I(d.uint(uint64(below))) - 1 }

func (d *decoder) bool() bool { return d.uint(1) == 1 }

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail(errShort)
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.bytes(int(d.uint(1 << 20)))) }
