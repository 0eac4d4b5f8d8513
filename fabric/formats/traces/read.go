// SPDX-License-Identifier: Apache-2.0

package traces

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/plain"
)

// File is a file of traces that was read. Names are the descriptions of nodes, as the nodes report them.
type File struct {
	Head
	*Set
	Names  map[uint64]string
	Digest string
}

// ReadFile reads traces from a file. See [Read].
func ReadFile(ctx context.Context, path string) (*File, error) {
	return files.Parse(ctx, path, files.Traces, Read)
}

// Read reads traces. The argument name identifies the file in errors, which name the line.
func Read(r io.Reader, name string) (*File, error) {
	p := &reader{f: &File{Set: &Set{}, Names: map[uint64]string{}}, digest: NewDigest()}
	s := bufio.NewScanner(r)
	n := 0
	for s.Scan() {
		n++
		if err := p.line(s.Bytes(), n); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	err := s.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("a line is longer than %d bytes", bufio.MaxScanTokenSize)
	case err == nil && !p.ended:
		err = errors.New("the file ends before its last line, 'end ROWS DIGEST'")
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return p.f, nil
}

type reader struct {
	f      *File
	digest *Digest
	hops   []Hop // of the last row
	ended  bool
}

func (p *reader) line(line []byte, n int) error {
	switch {
	case n == 1 && string(line) != magic:
		return fmt.Errorf("expected %q, found %q", magic, plain.Escape(string(line[:min(len(line), len(magic))])))
	case n == 1:
		return nil
	case p.ended:
		return errors.New("a line after the end")
	case bytes.HasPrefix(line, []byte("0x")):
		return p.row(line)
	}
	word, rest, _ := strings.Cut(string(line), " ")
	var err error
	h := &p.f.Head
	switch word {
	case subnetWord:
		h.Subnet, err = strconv.Unquote(rest)
	case stateWord:
		h.State, err = strconv.Unquote(rest)
	case selectionWord:
		h.Selection, err = strconv.Unquote(rest)
	case tablesWord:
		h.Tables, err = time.Parse(time.RFC3339Nano, rest)
	case sweepWord:
		h.Sweep, err = time.Parse(time.RFC3339Nano, rest)
	case nameWord:
		return p.name(rest)
	case endWord:
		return p.end(rest)
	default:
		return fmt.Errorf("unknown word %q", plain.Escape(word[:min(len(word), 40)]))
	}
	if err != nil {
		return fmt.Errorf("bad %s: %q", word, plain.Escape(rest[:min(len(rest), 40)]))
	}
	return nil
}

func (p *reader) name(rest string) error {
	text, quoted, _ := strings.Cut(rest, " ")
	guid, ok := parseGUID([]byte(text))
	name, err := strconv.Unquote(quoted)
	if !ok || err != nil {
		return errors.New("expected name 0xGUID \"NAME\"")
	}
	p.f.Names[guid] = name
	return nil
}

func (p *reader) end(rest string) error {
	rows, digest, _ := strings.Cut(rest, " ")
	p.ended, p.f.Digest = true, p.digest.String()
	switch {
	case rows != strconv.Itoa(p.digest.rows):
		return fmt.Errorf("the file has %d paths, its end states %q", p.digest.rows, plain.Escape(rows))
	case digest != p.f.Digest:
		return fmt.Errorf("the paths have the digest %s, the end states %q", p.f.Digest, plain.Escape(digest))
	}
	return nil
}

var errRow = errors.New("expected 0xSOURCE LID 0xDESTINATION ENDING and nodes as [IN:]0xNODE[:OUT]")

// row adds the path of a line. The line must be as [Row.Append] writes it.
func (p *reader) row(line []byte) error {
	words := bytes.Split(line, []byte(" "))
	if len(words) < 5 {
		return errRow
	}
	r := Row{Ending: Unknown + 1, Hops: p.hops[:0]}
	var ok, there bool
	r.Src, ok = parseGUID(words[0])
	r.Dst, there = parseGUID(words[2])
	lid, err := strconv.ParseUint(string(words[1]), 10, 16)
	for e, word := range endings {
		if string(words[3]) == word {
			r.Ending = Ending(e)
		}
	}
	if r.LID = uint16(lid); !ok || !there || err != nil || r.Ending > Unknown {
		return errRow
	}
	for i, word := range words[4:] {
		h, ok := parseHop(word)
		if !ok || (h.In == NoPort) != (i == 0) || h.Out == NoPort && i < len(words)-5 {
			return errRow
		}
		r.Hops = append(r.Hops, h)
	}
	p.hops = r.Hops
	if n := p.f.Len(); n > 0 && r.Key().Compare(p.f.Key(n-1)) < 0 {
		return errors.New("the paths are not in the order of source GUIDs and LIDs")
	}
	if own := p.digest.Add(&r); !bytes.Equal(own[:len(own)-1], line) {
		return errRow
	}
	p.f.Add(&r)
	return nil
}

// parseHop parses a hop as [Hop.String] returns it.
func parseHop(word []byte) (Hop, bool) {
	h := Hop{In: NoPort, Out: NoPort}
	var ok bool
	if !bytes.HasPrefix(word, []byte("0x")) {
		num, rest, _ := bytes.Cut(word, []byte(":"))
		if h.In, ok = parsePort(num); !ok {
			return h, false
		}
		word = rest
	}
	guid, num, leaves := bytes.Cut(word, []byte(":"))
	if leaves {
		if h.Out, ok = parsePort(num); !ok {
			return h, false
		}
	}
	h.GUID, ok = parseGUID(guid)
	return h, ok
}

func parsePort(b []byte) (int16, bool) {
	n, err := strconv.ParseUint(string(b), 10, 8)
	return int16(n), err == nil
}

// parseGUID parses 0x and 16 digits.
func parseGUID(b []byte) (guid uint64, ok bool) {
	if len(b) != 18 || b[0] != '0' || b[1] != 'x' {
		return 0, false
	}
	guid, err := strconv.ParseUint(string(b[2:]), 16, 64)
	return guid, err == nil
}

// Set holds paths in little memory: 4 bytes for each hop.
type Set struct {
	rows  []packed
	refs  []uint32 // of hops, row after row
	index map[Hop]uint32
	hops  []Hop
}

type packed struct {
	Key
	ending Ending
	first  int // index in refs
}

// Len returns the number of paths.
func (s *Set) Len() int { return len(s.rows) }

// Key returns the key of a path.
func (s *Set) Key(i int) Key { return s.rows[i].Key }

// Add adds a path.
func (s *Set) Add(r *Row) {
	if s.index == nil {
		s.index = map[Hop]uint32{}
	}
	s.rows = append(s.rows, packed{r.Key(), r.Ending, len(s.refs)})
	for _, h := range r.Hops {
		n, ok := s.index[h]
		if !ok {
			n = uint32(len(s.hops))
			s.index[h], s.hops = n, append(s.hops, h)
		}
		s.refs = append(s.refs, n)
	}
}

// Row returns a path. Its hops are appended to a part of the argument hops, which may be nil.
func (s *Set) Row(i int, hops []Hop) Row {
	p := &s.rows[i]
	end := len(s.refs)
	if i+1 < len(s.rows) {
		end = s.rows[i+1].first
	}
	r := Row{p.Src, p.Dst, p.LID, p.ending, hops[:0]}
	for _, n := range s.refs[p.first:end] {
		r.Hops = append(r.Hops, s.hops[n])
	}
	return r
}
