// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// cUnsigned parses a number like C's strtoull with base 0. After leading space and a sign, the digits are hexadecimal
// after 0x, octal after 0, otherwise decimal. If the number is too large, cUnsigned returns the largest number and the
// result over is true. A negative number wraps around. If s does not begin with a number, the result rest is s.
func cUnsigned(s string) (v uint64, rest string, over bool) {
	negative, base, digits := cNumberStart(s)
	if digits == "" {
		return 0, s, false
	}
	for digits != "" {
		d := uint64(hexDigit(digits[0]))
		if d >= base {
			break
		}
		digits = digits[1:]
		if v > (math.MaxUint64-d)/base {
			over = true
			continue
		}
		v = v*base + d
	}
	switch {
	case over:
		v = math.MaxUint64
	case negative:
		v = -v
	}
	return v, digits, over
}

// cSigned parses a number like C's strtol with base 0. The result rest is the text after the number.
func cSigned(s string) (v int64, rest string) {
	negative, _, digits := cNumberStart(s)
	if digits == "" {
		return 0, s
	}
	u, rest, over := cUnsigned(s)
	switch {
	case over && negative:
		return math.MinInt64, rest
	case over:
		return math.MaxInt64, rest
	case negative && -u > 1<<63:
		return math.MinInt64, rest
	case !negative && u > math.MaxInt64:
		return math.MaxInt64, rest
	}
	return int64(u), rest
}

// cNumberStart skips the space, sign and prefix before the digits of a number. The result digits is empty if s has no
// digits there.
func cNumberStart(s string) (negative bool, base uint64, digits string) {
	for s != "" && isCSpace(s[0]) {
		s = s[1:]
	}
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative = s[0] == '-'
		s = s[1:]
	}
	switch {
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && hexDigit(s[2]) < 16:
		return negative, 16, s[2:]
	case s != "" && s[0] == '0':
		return negative, 8, s
	case s != "" && s[0] >= '1' && s[0] <= '9':
		return negative, 10, s
	}
	return negative, 0, ""
}

// pieceReader reads a file like C's fgets with a buffer of size bytes. It returns a line, or a piece of at most size-1
// bytes of a longer line.
type pieceReader struct {
	r    *bufio.Reader
	name string
	// line is the number of the line to which the latest piece belongs, from 1.
	line int
	// rest is set if the latest piece is not the first piece of its line.
	rest, inLine bool
}

func newPieceReader(r io.Reader, name string, size int) *pieceReader {
	return &pieceReader{r: bufio.NewReaderSize(struct{ io.Reader }{r}, size-1), name: name}
}

// next returns the next piece, up to the first NUL byte. The piece includes its newline, if any. At the end of the
// file, next returns io.EOF itself.
func (p *pieceReader) next() (string, error) {
	b, err := p.r.ReadSlice('\n')
	if len(b) == 0 && err == io.EOF {
		return "", io.EOF
	}
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("read %s: %w", p.name, err)
	}
	p.rest = p.inLine
	if !p.rest {
		p.line++
	}
	p.inLine = errors.Is(err, bufio.ErrBufferFull)
	text, _, _ := strings.Cut(string(b), "\x00")
	return text, nil
}

// FileNote is a remark on a line of a file.
type FileNote struct {
	File string
	Line int
	// Text describes the fault and how OpenSM handles it. It is escaped.
	Text string
}

func (n FileNote) String() string { return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text) }
