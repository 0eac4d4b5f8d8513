// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
)

// maxRoutes is the maximum memory for the tables of a file, in bytes. The tables of 3,000 switches with 48 K LIDs take
// 432 MB.
const maxRoutes = 1536 << 20

// routes holds the state that the parsers of ibdiagnet2.fdbs and ibdiagnet2.far have in common: the switches and their
// tables.
type routes struct {
	findings
	out   Far
	sw    *Switch // the current switch, nil before the first one
	table *Table  // the current table of the switch, nil before its first entry
	far   bool
	// most is the length of the longest table so far. memory is the size of all tables in bytes. limit is the maximum
	// of memory, 0 for maxRoutes.
	most, memory, limit int
	at                  int // the part of a section of far
	// other counts lines that were not recognized.
	other int
}

// ReadFDBs reads ibdiagnet2.fdbs or opensm.fdbs. Unlike package osm, it also reads private tables. O(bytes).
func ReadFDBs(ctx context.Context, r io.Reader, name string, found *unread.List) (*Far, error) {
	p := &routes{findings: findings{name: name, found: found}}
	return p.read(ctx, r, p.fdbLine)
}

func (p *routes) read(ctx context.Context, r io.Reader, parse func([]byte) error) (*Far, error) {
	cut, err := unread.EachLine(ctx, r, p.name, func(line int, text []byte) error {
		p.line = line
		if text == nil {
			return p.refuse("the line is longer than %d bytes", unread.MaxLine)
		}
		return parse(text)
	})
	if err == nil && cut && p.sw != nil {
		err = p.truncated("truncated: the last line has no newline")
	}
	switch {
	case err != nil:
		return nil, err
	case len(p.out.Switches) == 0:
		return nil, fmt.Errorf("%s: no switch found, expected \"Switch 0x...\"", fabric.Escape(p.name))
	}
	if p.other > 0 {
		if err := p.refuse("%d lines were not recognized", p.other); err != nil {
			return nil, err
		}
	}
	return &p.out, nil
}

var (
	fdbHeading = []byte("dump_ucast_routes: Switch 0x")
	farHeading = []byte("Switch 0x")
	privateOne = []byte("PLFT_NUM:")
	hexMark    = []byte("0x")
	lidColumn  = []byte("LID")
)

func (p *routes) fdbLine(text []byte) error {
	if bytes.HasPrefix(text, hexMark) && p.sw != nil {
		return p.fdb(text)
	}
	text = bytes.TrimSpace(text)
	switch _, guid, heading := bytes.Cut(text, fdbHeading); {
	case len(text) == 0, text[0] == '#', bytes.HasPrefix(text, lidColumn):
		return nil
	case heading:
		return p.heading(guid)
	case bytes.HasPrefix(text, privateOne) && p.sw != nil:
		return p.private(text[len(privateOne):])
	}
	p.other++
	return nil
}

// heading begins a switch. It keeps the words after the GUID of the switch.
func (p *routes) heading(text []byte) error {
	guid, n, ok := hex(text, 1<<64-1)
	if !ok || n < len(text) && text[n] != ' ' && text[n] != '\t' && text[n] != ',' {
		p.sw, p.table = nil, nil
		return p.refuse("cannot parse the GUID of a switch in %s, expected up to 16 hexadecimal digits", quote(text))
	}
	p.out.Switches = append(p.out.Switches, Switch{GUID: guid, Line: p.line})
	p.sw, p.table = &p.out.Switches[len(p.out.Switches)-1], nil
	p.words(text[n:])
	return p.checkMemory(switchMemory)
}

const (
	switchMemory = 128
	wordMemory   = 32
	maxWords     = 256
)

// words adds words of a heading to the current switch.
func (p *routes) words(text []byte) {
	for _, w := range bytes.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' || c == ',' }) {
		if len(p.sw.Words) < maxWords {
			p.sw.Words = append(p.sw.Words, string(w))
			p.memory += wordMemory + len(w)
		}
	}
}

// private begins the table whose number the line states, as in "0" or "0, top: 0x2ebd".
func (p *routes) private(text []byte) error {
	text = bytes.TrimLeft(text, " \t")
	number, n, ok := decimal(text, 255)
	rest := bytes.TrimLeft(text[n:], " \t,")
	p.table = nil
	if !ok || n < len(text) && bytes.IndexByte([]byte(" \t,"), text[n]) < 0 {
		return p.refuse("cannot parse the number of a table in %s, expected text like \"PLFT_NUM: 0\"", quote(text))
	}
	top := uint64(0)
	if stated, found := bytes.CutPrefix(rest, []byte("top:")); found {
		stated = bytes.TrimLeft(stated, " \t")
		if top, ok = parse(stated); !ok || top > fabric.MaxUnicastLID {
			top = 0
			if err := p.refuse("cannot parse the top of table %d in %s, expected text like 0x2ebd", number,
				quote(text)); err != nil {
				return err
			}
		}
	}
	return p.begin(int(number), uint16(top))
}

// begin begins a table of the current switch. The table replaces an earlier table with the same number.
func (p *routes) begin(number int, top uint16) error {
	if old := p.sw.Table(number); old != nil {
		*old = Table{Number: number, Top: top}
		p.table = old
		return p.refuse("table %d of switch 0x%016x is repeated and replaces the earlier one", number, p.sw.GUID)
	}
	p.sw.Tables = append(p.sw.Tables, Table{Number: number, Top: top})
	p.table = &p.sw.Tables[len(p.sw.Tables)-1]
	return p.checkMemory(switchMemory)
}

// checkMemory returns a fatal error if the tables would take too much memory after growing by a number of bytes.
func (p *routes) checkMemory(more int) error {
	limit := cmp.Or(p.limit, maxRoutes)
	if p.memory += more; p.memory > limit {
		return fmt.Errorf("%s:%d: too large: the tables so far take more than %d MB", fabric.Escape(p.name),
			p.line, limit>>20)
	}
	return nil
}

// set sets an entry of the current table.
func (p *routes) set(lid uint16, port uint8, c Choice) error {
	if p.table == nil {
		if err := p.begin(0, 0); err != nil {
			return err
		}
	}
	if int(lid) >= len(p.table.Ports) {
		if err := p.grow(int(lid) + 1); err != nil {
			return err
		}
	}
	p.table.Ports[lid] = port
	if p.far {
		p.table.Choices[lid] = c
	}
	return nil
}

// grow extends the current table to a number of LIDs. It reserves as much memory as the longest other table has.
func (p *routes) grow(size int) error {
	t, was := p.table, len(p.table.Ports)
	if size > cap(t.Ports) {
		capacity, bytes := max(p.most, size, min(2*was, fabric.MaxUnicastLID+1)), 1
		if p.far {
			bytes = 3
		}
		if err := p.checkMemory(bytes * (capacity - cap(t.Ports))); err != nil {
			return err
		}
		if p.far {
			t.Choices = append(make([]Choice, 0, capacity), t.Choices...)
			for rest := t.Choices[was:capacity]; len(rest) > 0; rest = rest[1:] {
				rest[0] = static
			}
		}
		t.Ports = append(make([]uint8, 0, capacity), t.Ports...)
		fabric.FillNoPath(t.Ports[was:capacity])
	}
	p.most = max(p.most, size)
	t.Ports = t.Ports[:size]
	if p.far {
		t.Choices = t.Choices[:size]
	}
	return nil
}

// fdb parses the line of a LID, such as "0x0001 : 003  : 00   : yes" or "0x0001 : UNREACHABLE".
func (p *routes) fdb(text []byte) error {
	lid, n, ok := hex(text[len(hexMark):], fabric.MaxUnicastLID)
	if !ok || lid == 0 {
		return p.refuse("cannot parse the LID in %s, expected 0x0001 to 0xbfff", quote(text))
	}
	rest := skip(text[len(hexMark)+n:])
	if len(rest) > 0 && rest[0] == 'U' && bytes.HasPrefix(rest, []byte("UNREACHABLE")) {
		return p.set(uint16(lid), fabric.NoPath, static)
	}
	port, n, ok := decimal(rest, 255)
	if !ok || n < len(rest) && rest[n] != ' ' && rest[n] != ':' && rest[n] != '\t' && rest[n] != '\r' {
		return p.refuse("cannot parse the port in %s, expected text like \"0x0001 : 003  : 00   : yes\"", quote(text))
	}
	return p.set(uint16(lid), uint8(port), static)
}

// skip skips blanks and colons.
func skip(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == ':' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

// hex parses the hexadecimal digits at the beginning of b. It returns the value and the number of digits. The value
// must not exceed most.
func hex(b []byte, most uint64) (v uint64, n int, ok bool) {
	for ; n < len(b); n++ {
		d := uint64(b[n] - '0')
		if d > 9 {
			if d = uint64(b[n]|0x20) - 'a' + 10; d < 10 || d > 15 {
				break
			}
		}
		if v > most>>4 || v<<4|d > most {
			return 0, n, false
		}
		v = v<<4 | d
	}
	return v, n, n > 0
}

// decimal parses the decimal digits at the beginning of b. It returns the value and the number of digits. The value
// must not exceed most.
func decimal(b []byte, most uint64) (v uint64, n int, ok bool) {
	for ; n < len(b); n++ {
		d := uint64(b[n] - '0')
		if d > 9 {
			break
		}
		if v = 10*v + d; v > most {
			return 0, n, false
		}
	}
	return v, n, n > 0
}
