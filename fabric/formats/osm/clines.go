// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// pieceReader reads a file as C's fgets does into a buffer of size bytes: a line,
// or a piece of one that is longer than size-1 bytes.
type pieceReader struct {
	r    *bufio.Reader
	name string
	// line is the number of the line that the latest piece is of, from 1.
	line int
	// rest says that the latest piece is not the first of its line.
	rest, inLine bool
}

func newPieceReader(r io.Reader, name string, size int) *pieceReader {
	return &pieceReader{r: bufio.NewReaderSize(struct{ io.Reader }{r}, size-1), name: name}
}

// next returns a piece with its newline, if it has one, up to the first NUL as C
// sees it. At the end of the file the error is io.EOF itself.
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

// FileNote is something noticed on a line of a file.
type FileNote struct {
	File string
	Line int
	// Text says what was noticed and what OpenSM does with it, escaped.
	Text string
}

func (n FileNote) String() string { return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text) }
