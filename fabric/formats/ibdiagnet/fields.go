// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
)

// cutField splits the first field, without surrounding blanks, off a line. A string in double quotes may contain
// commas.
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

// number returns the value of a column, which is decimal or begins with 0x. It returns 0 if the value is N/A or the
// column is absent.
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

// has reports whether a column is present and has a value.
func (v *values) has(column int) bool {
	b := v.text[column]
	return len(b) > 0 && !(len(b) == 3 && bytes.EqualFold(b, []byte("N/A")))
}

// wrong returns an error for the value of a column. In sections with secrets the error does not contain the value,
// because an M_Key may be in any column of a malformed row.
func (v *values) wrong(column int, expected string) error {
	name, _, _ := strings.Cut(v.of.columns[column], "|")
	if v.of.secret {
		return fmt.Errorf("%s is not %s", name, expected)
	}
	return fmt.Errorf("%s is %s, expected %s", name, quote(v.text[column]), expected)
}

// numbers stores the values of some columns in the argument out. The argument columns has pairs of a column and its
// size in bits.
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

// findings records the parts of a file that cannot be read.
type findings struct {
	name  string
	found *unread.List // nil if the first finding is returned as an error
	line  int
}

// refuse records an unreadable part at the current line. If found is nil, refuse returns the fault as an error instead.
func (p *findings) refuse(format string, args ...any) error {
	return p.refuseAt(p.line, format, args...)
}

func (p *findings) refuseAt(line int, format string, args ...any) error {
	return p.add(unread.At(p.name, line, format, args...))
}

// truncated is like refuse, for a file or a section whose end is missing.
func (p *findings) truncated(format string, args ...any) error {
	f := unread.At(p.name, p.line, format, args...)
	f.Kind = unread.Truncated
	return p.add(f)
}

func (p *findings) add(f unread.Finding) error {
	if p.found == nil {
		return f
	}
	p.found.Add(f)
	return nil
}

// quote quotes and escapes a part of a line for a message.
func quote(text []byte) string { return fabric.Escape(fmt.Sprintf("%.60q", text)) }
