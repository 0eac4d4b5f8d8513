// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"encoding/binary"

	"example.org/ibconsole/fabric"
)

// repeats holds lines of entries as OpenSM writes them, in the order of their first occurrence. Most lines of the next
// table differ only in the port and are in the same order. For such a line only the port must be parsed.
type repeats struct {
	lines []repeat
	text  []byte
	next  int                             // the line that is expected next
	byLID [fabric.MaxUnicastLID + 1]int32 // the number of the latest line of the LID plus 1, 0 for none
}

// repeat is a remembered line with its newline: text[start:end].
type repeat struct {
	target
	start, end int32
}

// The position of the port in an entry as OpenSM writes it, for example "0x001f 003 ".
const (
	portBegins = len("0x001f ")
	portEnds   = len("0x001f 003")
)

// maxRepeats is the maximum number of bytes of remembered lines. It is enough for all LIDs.
const maxRepeats = 16 << 20

// remember records the line of a parsed entry.
func (r *repeats) remember(line []byte, e routeEntry) {
	if lid, port, ok := fixedEntry(line); !ok || lid != e.lid || port != uint16(e.port) {
		return
	}
	if len(r.text) > maxRepeats {
		r.lines, r.text = r.lines[:0], r.text[:0]
		clear(r.byLID[:])
	}
	start := len(r.text)
	r.text = append(append(r.text, line...), '\n')
	r.lines = append(r.lines, repeat{e.target, int32(start), int32(len(r.text))})
	r.next = len(r.lines)
	r.byLID[e.lid] = int32(r.next)
}

// line finds the remembered line that equals the beginning of text except for the port. It returns the number of the
// line and the port in text, or -1 if no remembered line matches.
func (r *repeats) line(text []byte) (line int, port uint8) {
	if port, ok := r.match(text, r.next); ok {
		return r.next, port
	}
	if lid, _, ok := fixedEntry(text); ok && lid <= fabric.MaxUnicastLID {
		line := int(r.byLID[lid]) - 1
		if port, ok := r.match(text, line); ok {
			return line, port
		}
	}
	return -1, 0
}

// match reports whether text begins with the remembered line of this number, except for the port. It also returns the
// port in text.
func (r *repeats) match(text []byte, line int) (port uint8, ok bool) {
	if uint(line) >= uint(len(r.lines)) {
		return 0, false
	}
	known := &r.lines[line]
	was := r.text[known.start:known.end]
	if len(was) > len(text) || len(was) < portEnds ||
		(binary.LittleEndian.Uint64(text)^binary.LittleEndian.Uint64(was))<<8 != 0 ||
		!bytes.Equal(text[portEnds:len(was)], was[portEnds:]) {
		return 0, false
	}
	number, ok := fixedPort(text)
	return uint8(number), ok && number <= 255
}

// repeated adds entries from the reader's buffer as long as they differ from remembered lines only in their ports.
func (p *routeParser) repeated(l *lineReader) error {
	if p.now == nil || p.mcast || p.private {
		return nil
	}
	text, _ := l.r.Peek(l.r.Buffered())
	r, taken, first := &p.repeats, 0, len(p.now.ports)
	for {
		line, port := r.line(text[taken:])
		if line < 0 {
			break
		}
		known := &r.lines[line]
		p.now.add(routeEntry{known.target, port})
		taken += int(known.end - known.start)
		r.next = line + 1
	}
	if _, err := l.r.Discard(taken); err != nil {
		return err
	}
	added := len(p.now.ports) - first
	if added == 0 {
		return nil
	}
	l.line += added
	return p.added(added, l.line)
}

// fixedEntry parses the LID and the port of an entry in the fixed form that OpenSM writes.
func fixedEntry(b []byte) (lid, port uint16, ok bool) {
	if len(b) < portEnds || b[0] != '0' || b[1] != 'x' || b[6] != ' ' {
		return 0, 0, false
	}
	for _, c := range b[2:6] {
		d := hexDigit(c)
		if d > 15 {
			return 0, 0, false
		}
		lid = lid<<4 | uint16(d)
	}
	port, ok = fixedPort(b)
	return lid, port, ok
}

// fixedPort parses the port, which has three decimal digits.
func fixedPort(b []byte) (port uint16, ok bool) {
	b = b[portBegins:portEnds]
	hundreds, tens, ones := b[0]-'0', b[1]-'0', b[2]-'0'
	return 100*uint16(hundreds) + 10*uint16(tens) + uint16(ones), hundreds <= 9 && tens <= 9 && ones <= 9
}
