// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// maxLine is the length of the longest line that OpenSM reads in one piece (osm_ucast_file.c).
const maxLine = 1022

// lineReader reads lines of a file and counts them.
type lineReader struct {
	r    *bufio.Reader
	name string
	// line is the number of the latest line, from 1.
	line int
	// ended is set if the latest line ended with a newline.
	ended bool
	// broken is set if reading failed.
	broken bool
}

func newLineReader(r io.Reader, name string) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 1<<16), name: name}
}

// next returns the next line without its newline. The line is valid until the next call. At the end of the file, next
// returns io.EOF itself.
func (l *lineReader) next() ([]byte, error) {
	text, err := l.r.ReadSlice('\n')
	if len(text) == 0 && err == io.EOF {
		return nil, io.EOF
	}
	l.line++
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		l.broken = true
		return nil, l.fail(fmt.Errorf("read: %w", err))
	}
	l.ended = err == nil
	if l.ended {
		text = text[:len(text)-1]
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, l.fail(errors.New("a NUL byte, expected text"))
	}
	if len(text) > maxLine {
		return nil, l.fail(fmt.Errorf("the line is longer than %d bytes", maxLine))
	}
	return text, nil
}

// each calls the function parse for each line. It adds the file name and the line number to errors that parse returns.
func (l *lineReader) each(parse func(text []byte) error) error {
	for {
		text, err := l.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := parse(text); err != nil {
			return l.fail(err)
		}
	}
}

func (l *lineReader) fail(err error) error { return fmt.Errorf("%s:%d: %w", l.name, l.line, err) }

// sectionName returns the name of the switch in a heading, given the text after the GUID. OpenSM writes "('leaf-01'):".
// The tools ibroute and dump_fts write "(leaf-01):".
func sectionName(rest []byte) string {
	rest = bytes.TrimRight(bytes.TrimSpace(rest), ":")
	if len(rest) < 2 || rest[0] != '(' || rest[len(rest)-1] != ')' {
		return ""
	}
	rest = rest[1 : len(rest)-1]
	if n := len(rest); n >= 2 && rest[0] == '\'' && rest[n-1] == '\'' {
		rest = rest[1 : n-1]
	}
	return string(rest)
}

// isHeading reports whether a line is one of the two lines that ibroute and dump_fts print above a table.
func isHeading(text []byte) bool {
	return bytes.HasPrefix(text, []byte("Lid  Out")) || bytes.HasPrefix(text, []byte("Port     Info"))
}

// lostLID parses the range of LIDs in the heading of ibroute or dump_fts, such as "[0x0-0x40]". If the last LID of the
// range is a multiple of 64, it returns this LID. The tools do not print its entry, because they read one block too few
// (infiniband-diags, ibroute.c and dump_fts.c).
func lostLID(header []byte) (lid uint64, ok bool) {
	_, rest, found := bytes.Cut(header, []byte("-0x"))
	if !found {
		return 0, false
	}
	lid, rest, ok = parseHex(rest, 16)
	return lid, ok && lid > 0 && lid%fabric.BlockSize == 0 && len(rest) > 0 && rest[0] == ']'
}
