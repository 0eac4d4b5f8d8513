// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
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

// next returns a line without its newline; it holds until the next call. At the
// end of the file the error is io.EOF itself.
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
