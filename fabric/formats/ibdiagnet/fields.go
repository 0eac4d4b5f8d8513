// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"fmt"
	"strings"
)

// cutField takes the first field of a line; a string in double quotes may hold commas. Blanks around it do not count.
func cutField(b []byte) (field, rest []byte, more bool) {
	b = bytes.TrimLeft(b, " \t")
	if len(b) > 0 && b[0] == '"' {
		if end := bytes.IndexByte(b[1:], '"'); end >= 0 {
			_, rest, more = bytes.Cut(b[end+2:], []byte(","))
			return b[1 : end+1], rest, more
		}
	}
	field, rest, more = bytes.Cut(b, []byte(","))
	return bytes.TrimRight(field, " \t"), rest, more
}

// number returns the value of a column, decimal or 0x; 0 where it is N/A or not there.
func (v *values) number(column, bits int) (uint64, error) {
	if !v.has(column) {
		return 0, nil
	}
	n, ok := parse(v.text[column])
	if !ok || bits < 64 && n>>bits != 0 {
		return 0, v.wrong(column, fmt.Sprintf("a number below 2^%d", bits))
	}
	return n, nil
}

// has reports whether a column is there and says something.
func (v *values) has(column int) bool {
	b := v.text[column]
	return len(b) > 0 && !(len(b) == 3 && bytes.EqualFold(b, []byte("N/A")))
}

// wrong says what a column is to be, and what it is where that is no secret: in a row that has slipped an M_Key may
// stand anywhere.
func (v *values) wrong(column int, expected string) error {
	name, _, _ := strings.Cut(v.of.columns[column], "|")
	if v.of.secret {
		return fmt.Errorf("%s is not %s", name, expected)
	}
	return fmt.Errorf("%s is %s, expected %s", name, quote(v.text[column]), expected)
}

// numbers returns the values of some columns with their sizes in bits, in pairs.
func (v *values) numbers(out []uint64, columns ...int) (err error) {
	for i := range out {
		if out[i], err = v.number(columns[2*i], columns[2*i+1]); err != nil {
			return err
		}
	}
	return nil
}

func parse(b []byte) (n uint64, ok bool) {
	base := uint64(10)
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		base, b = 16, b[2:]
	}
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 {
			if d = uint64(c|0x20-'a') + 10; d < 10 || d > 15 {
				return 0, false
			}
		}
		if d >= base || n > (1<<64-1-d)/base {
			return 0, false
		}
		n = n*base + d
	}
	return n, len(b) > 0
}
