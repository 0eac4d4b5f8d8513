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
	fdbPrivate     = []byte("PLFT_NUM:")
	fdbUnreachable = []byte("UNREACHABLE")
)

// wordBytes holds the bytes that can occur in the name of a C function.
const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// ReadFDBs reads opensm.fdbs, ibdiagnet.fdbs or ibdiagnet2.fdbs. The files of ibdiagnet have no hop counts. In files of
// older OpenSM versions the heading contains another function name. None of these files contains port GUIDs, so the
// entries apply to the LIDs in the file. If a switch has private tables, ReadFDBs reads table 0 and skips the others.
// Errors begin with "name:line:". O(bytes).
func ReadFDBs(r io.Reader, name string) (*RouteFile, error) {
	p := routeParser{file: &RouteFile{Name: name}}
	lines := newLineReader(r, name)
	err := lines.each(func(text []byte) error {
		return p.parseFDB(bytes.TrimRight(text, cSpace), lines.line, lines.ended)
	})
	if err != nil {
		return nil, err
	}
	p.closeSection()
	switch {
	case lines.line == 0:
		return nil, fmt.Errorf("%s:1: the file is empty, expected forwarding tables", name)
	case len(p.file.sections) == 0:
		return nil, fmt.Errorf("%s:%d: no forwarding table found, expected %q", name, lines.line, fdbHeader)
	}
	return p.file, nil
}

func (p *routeParser) parseFDB(text []byte, number int, ended bool) error {
	switch {
	case len(text) == 0, text[0] == '#', bytes.HasPrefix(text, fdbColumns):
		return nil
	case bytes.HasPrefix(text, hexMark) && p.private:
		return nil
	case bytes.HasPrefix(text, hexMark) && p.now != nil:
		return p.fdbEntry(text, number, ended)
	case bytes.HasPrefix(text, fdbPrivate) && p.now != nil:
		return p.privateTable(text, number)
	}
	if guid, ok := fdbHeading(text); ok {
		return p.fdbSwitch(text, guid, number)
	}
	p.file.ignored.add(func() string { return fmt.Sprintf("line %d: %s", number, shorten(text)) })
	return nil
}

// fdbHeading returns the text that follows the words of a switch heading. The last of these words is the current
// function name of OpenSM.
func fdbHeading(text []byte) (guid []byte, ok bool) {
	name, guid, ok := bytes.Cut(text, fdbHeader)
	return guid, ok && len(bytes.Trim(name, wordBytes)) == 0
}

// privateTable parses the line "PLFT_NUM: 1", which precedes the entries of a private table.
func (p *routeParser) privateTable(text []byte, number int) error {
	table, rest, ok := parseDecimal(bytes.TrimLeft(text[len(fdbPrivate):], cSpace))
	if !ok || len(rest) > 0 && !strings.ContainsRune(cSpace+",", rune(rest[0])) {
		return fmt.Errorf("cannot parse table number in %q, expected text like \"PLFT_NUM: 0\"", shorten(text))
	}
	if p.private = table > 0; p.private {
		p.file.private.add(func() string {
			return fmt.Sprintf("line %d: table %d of switch 0x%016x", number, table, p.now.guid)
		})
	}
	return nil
}

func (p *routeParser) fdbSwitch(text, digits []byte, number int) error {
	p.closeSection()
	p.private = false
	guid, rest, ok := parseHex(digits, 64)
	if !ok || len(rest) > 0 {
		return fmt.Errorf("cannot parse switch GUID in %q, expected up to 16 hexadecimal digits", shorten(text))
	}
	p.begin(guid, "", number)
	p.now.ended = true
	return p.checkMemory()
}

func (p *routeParser) fdbEntry(text []byte, number int, ended bool) error {
	if !ended {
		return errors.New("the file is truncated: no newline after an entry")
	}
	lid, rest, ok := parseHex(text[len(hexMark):], 64)
	if !ok {
		return fmt.Errorf("cannot parse LID in %q, expected text like 0x001F", shorten(text))
	}
	if lid > fabric.MaxUnicastLID {
		return fmt.Errorf("LID %d (0x%x) is not a unicast LID, expected at most 0x%x", lid, lid, fabric.MaxUnicastLID)
	}
	rest = bytes.TrimLeft(rest, cSpace+":")
	if bytes.HasPrefix(rest, fdbUnreachable) {
		return nil
	}
	port, rest, ok := parseDecimal(rest)
	if !ok || len(rest) == 0 || !strings.ContainsRune(cSpace+":", rune(rest[0])) {
		return fmt.Errorf("cannot parse port in %q, expected text like \"0x0001 : 003  : 01   : yes\"", shorten(text))
	}
	if port > 255 {
		return fmt.Errorf("port %d is out of range, expected 0 to 254", port)
	}
	return p.add(routeEntry{target{guid: -1, lid: uint16(lid)}, uint8(port)}, number)
}
