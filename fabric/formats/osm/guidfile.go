// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"io"
	"strings"
)

// GUIDFile is a file of GUIDs, one a line with what is said of it: the form of the files that [GUIDFileKind] lists.
type GUIDFile struct {
	Name string
	// Lines are those that OpenSM takes.
	Lines []GUIDLine
	// Broken says that OpenSM gives the file up at a line that it cannot read. The lines before it have taken effect.
	Broken bool
	// Notes are lines that OpenSM takes otherwise than they look, or not at all.
	Notes []FileNote
}

// GUIDLine is a line of a [GUIDFile].
type GUIDLine struct {
	GUID uint64
	// Rest is what follows the GUID and space.
	Rest string
	Line int
}

// guidLine is the buffer that OpenSM reads lines of these files into (cl_nodenamemap.c).
const guidLine = 256

// ReadGUIDFile reads a file of GUIDs as OpenSM does (cl_nodenamemap.c, parse_node_map): empty lines and those
// that begin with # are skipped, a GUID is a number as C writes it, hexadecimal after 0x alone. What is wrong
// is noted, with what OpenSM does of it. An error is one of reading. O(bytes).
func ReadGUIDFile(r io.Reader, name string) (*GUIDFile, error) {
	f := &GUIDFile{Name: name}
	pieces := newPieceReader(r, name, guidLine)
	for {
		piece, err := pieces.next()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		if pieces.rest && strings.Trim(piece, cSpace) != "" {
			f.note(pieces.line, "the line is longer than %d bytes; OpenSM takes the rest for a line of its own", guidLine-1)
		}
		text := strings.TrimLeft(piece, cSpace)
		if text == "" || text[0] == '#' {
			continue
		}
		guid, rest, _ := cUnsigned(text)
		if rest == text || (rest != "" && !isCSpace(rest[0]) && rest[0] != '#') {
			f.Broken = true
			f.note(pieces.line, "%q does not begin with a GUID, expected 0x and up to 16 digits; OpenSM reads no further", shorten([]byte(text)))
			return f, nil
		}
		if !strings.HasPrefix(strings.ToLower(text), "0x") {
			f.note(pieces.line, "the GUID has no 0x; OpenSM reads it as 0x%x", guid)
		}
		rest, _, _ = strings.Cut(strings.TrimLeft(rest, cSpace), "\n")
		f.Lines = append(f.Lines, GUIDLine{GUID: guid, Rest: rest, Line: pieces.line})
	}
}

func (f *GUIDFile) note(line int, format string, args ...any) {
	f.Notes = append(f.Notes, FileNote{File: f.Name, Line: line, Text: fmt.Sprintf(format, args...)})
}

// Number reads a number at the beginning of the rest of a line as C's strtoull does with base 0, and what follows it.
func (l *GUIDLine) Number() (n uint64, rest string, ok bool) { return leadingNumber(l.Rest) }

// leadingNumber reads a number and reports whether there is one.
func leadingNumber(s string) (n uint64, rest string, ok bool) {
	n, rest, _ = cUnsigned(s)
	return n, rest, rest != s
}
