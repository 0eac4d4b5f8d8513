// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// pieceReader reads a file like C's fgets with a buffer of size bytes: it returns a line, or a piece of a line that is
// longer than size-1 bytes.
type pieceReader struct {
	r    *bufio.Reader
	name string
	// line is the number of the line of the latest piece, from 1.
	line int
	// rest is set if the latest piece is not the first of its line.
	rest, inLine bool
}

func newPieceReader(r io.Reader, name string, size int) *pieceReader {
	return &pieceReader{r: bufio.NewReaderSize(struct{ io.Reader }{r}, size-1), name: name}
}

// next returns a piece including its newline, if any, up to the first NUL byte. At the end of the file it returns
// io.EOF itself.
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
	// Text describes the fault and the action of OpenSM, escaped.
	Text string
}

func (n FileNote) String() string { return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text) }
