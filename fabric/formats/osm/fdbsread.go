// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
)

var (
	fdbHeader      = []byte("dump_ucast_routes: Switch 0x")
	fdbColumns     = []byte("LID ")
	fdbUnreachable = []byte("UNREACHABLE")
)

// ReadFDBs reads opensm.fdbs, which ibdmchk and ibdiagnet read too. It holds no
// port GUIDs, so entries are applied at their LID. It fails with "name:line:".
// O(bytes).
func ReadFDBs(r io.Reader, name string) (*RouteFile, error) {
	p := routeParser{file: &RouteFile{Name: name}}
	lines := newLineReader(r, name)
	for {
		text, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := p.parseFDB(bytes.TrimRight(text, cSpace), lines.line, lines.ended); err != nil {
			return nil, lines.fail(err)
		}
	}
	p.closeSection()
	switch {
	case lines.line == 0:
		return nil, fmt.Errorf("%s:1: the file is empty, expected forwarding tables", name)
	case len(p.file.sections) == 0:
		return nil, fmt.Errorf("%s:%d: no forwarding table up to the end, expected %q", name, lines.line, fdbHeader)
	}
	return p.file, nil
}

func (p *routeParser) parseFDB(text []byte, number int, ended bool) error {
	switch {
	case len(text) == 0, bytes.HasPrefix(text, fdbColumns):
		return nil
	case bytes.HasPrefix(text, fdbHeader):
		return p.fdbSwitch(text, number)
	case bytes.HasPrefix(text, hexMark) && p.now != nil:
		return p.fdbEntry(text, number, ended)
	}
	p.file.ignored.add(func() string { return fmt.Sprintf("line %d: %s", number, shorten(text)) })
	return nil
}

func (p *routeParser) fdbSwitch(text []byte, number int) error {
	p.closeSection()
	guid, rest, ok := parseHex(text[len(fdbHeader):], 64)
	if !ok || len(rest) > 0 {
		return fmt.Errorf("cannot parse switch GUID in %q, expected up to 16 hexadecimal digits", shorten(text))
	}
	p.now = &routeSection{guid: guid, line: number, first: p.file.entries, ended: true}
	return nil
}

func (p *routeParser) fdbEntry(text []byte, number int, ended bool) error {
	if !ended {
		return errors.New("the file is cut short: no newline after an entry")
	}
	lid, rest, ok := parseHex(text[len(hexMark):], 64)
	if !ok {
		return fmt.Errorf("cannot parse LID in %q, expected as in 0x001F", shorten(text))
	}
	if lid > fabric.MaxUnicastLID {
		return fmt.Errorf("LID %d (0x%x) is no unicast LID, expected at most 0x%x", lid, lid, fabric.MaxUnicastLID)
	}
	rest = bytes.TrimLeft(rest, cSpace+":")
	if bytes.HasPrefix(rest, fdbUnreachable) {
		return nil
	}
	port, rest, ok := parseDecimal(rest)
	if !ok || len(rest) == 0 || !strings.ContainsRune(cSpace+":", rune(rest[0])) {
		return fmt.Errorf("cannot parse port in %q, expected as in \"0x0001 : 003  : 01   : yes\"", shorten(text))
	}
	if port > 255 {
		return fmt.Errorf("port %d is out of range, expected 0 to 254", port)
	}
	at := p.file.entries + len(p.now.entries)
	if at == 0 || number != p.lastLine+1 {
		p.file.runs = append(p.file.runs, lineRun{at, number})
	}
	p.lastLine = number
	p.now.entries = append(p.now.entries, routeEntry{guid: -1, lid: uint16(lid), port: uint8(port)})
	return nil
}
