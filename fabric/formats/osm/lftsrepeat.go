// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"

	"example.org/ibconsole/fabric"
)

// repeat is what followed the port in the last entry for a LID, up to the end of its line. In the next table it is
// mostly the same, so that there is nothing to parse but the port.
type repeat struct {
	text []byte
	guid int32
}

// portEnds is where the port ends in an entry as OpenSM writes it: "0x001f 003 ".
const portEnds = len("0x001f 003")

// remember takes the text of an entry that was parsed.
func (p *routeParser) remember(line []byte, e routeEntry) {
	if lid, port, ok := fixedEntry(line); !ok || lid != e.lid || port != uint16(e.port) {
		return
	}
	r := &p.repeats[e.lid]
	r.text = append(append(r.text[:0], line[portEnds:]...), '\n')
	r.guid = e.guid
}

// repeated takes the entries that are at hand and are what they were in the table before, but for their ports.
func (p *routeParser) repeated(l *lineReader) error {
	if p.now == nil || p.mcast || p.private {
		return nil
	}
	text, _ := l.r.Peek(l.r.Buffered())
	taken := 0
	for {
		lid, port, ok := fixedEntry(text[taken:])
		if !ok || lid > fabric.MaxUnicastLID || port > 255 {
			break
		}
		r := &p.repeats[lid]
		if r.text == nil || !bytes.HasPrefix(text[taken+portEnds:], r.text) {
			break
		}
		l.line++
		taken += portEnds + len(r.text)
		if err := p.add(routeEntry{target{guid: r.guid, lid: lid}, uint8(port)}, l.line); err != nil {
			return err
		}
	}
	_, err := l.r.Discard(taken)
	return err
}

// fixedEntry reads the LID and the port of an entry as OpenSM writes it.
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
	for _, c := range b[7:portEnds] {
		if c -= '0'; c > 9 {
			return 0, 0, false
		}
		port = 10*port + uint16(c)
	}
	return lid, port, true
}
