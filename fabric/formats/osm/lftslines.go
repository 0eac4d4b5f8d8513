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

// maxLine is the longest line that OpenSM reads in one piece (osm_ucast_file.c).
const maxLine = 1022

// lineReader reads lines of a file of OpenSM's and counts them.
type lineReader struct {
	r    *bufio.Reader
	name string
	// line is the number of the latest line, from 1.
	line int
	// ended says that the latest line ended with a newline.
	ended bool
	// broken says that the file cannot be read on.
	broken bool
}

func newLineReader(r io.Reader, name string) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 1<<16), name: name}
}

// next returns a line without its newline, which holds until the next call, and io.EOF itself at the file's end.
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

// each calls take with each line. The errors of take are told with the line.
func (l *lineReader) each(take func(text []byte) error) error {
	for {
		text, err := l.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(text); err != nil {
			return l.fail(err)
		}
	}
}

func (l *lineReader) fail(err error) error { return fmt.Errorf("%s:%d: %w", l.name, l.line, err) }

// sectionName returns the switch's name in what follows its GUID in a header:
// ('leaf-01'): as OpenSM writes it, (leaf-01): as ibroute and dump_fts do.
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

// isHeading recognises the two lines that ibroute and dump_fts print above a table.
func isHeading(text []byte) bool {
	return bytes.HasPrefix(text, []byte("Lid  Out")) || bytes.HasPrefix(text, []byte("Port     Info"))
}

// lostLID returns the last LID of a table of ibroute's or dump_fts's, "[0x0-0x40]", where it is a multiple of 64:
// these tools read one block too few then and do not print it (infiniband-diags, ibroute.c and dump_fts.c).
func lostLID(header []byte) (lid uint64, ok bool) {
	_, rest, found := bytes.Cut(header, []byte("-0x"))
	if !found {
		return 0, false
	}
	lid, rest, ok = parseHex(rest, 16)
	return lid, ok && lid > 0 && lid%fabric.BlockSize == 0 && len(rest) > 0 && rest[0] == ']'
}
