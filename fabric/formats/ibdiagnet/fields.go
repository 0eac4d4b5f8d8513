// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"fmt"

	"example.org/ibconsole/fabric"
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

// number is the value of a column, decimal or 0x; 0 where it is N/A or not there.
func (v *values) number(column, bits int) (uint64, error) {
	b := v.text[column]
	if len(b) == 0 || bytes.EqualFold(b, []byte("N/A")) {
		return 0, nil
	}
	n, ok := parse(b)
	if !ok || bits < 64 && n>>bits != 0 {
		return 0, fmt.Errorf("%s is %s, expected a number below 2^%d", v.of.columns[column], fabric.Escape(fmt.Sprintf("%.40q", b)), bits)
	}
	return n, nil
}

// numbers are the values of some columns with their sizes in bits, in pairs.
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
