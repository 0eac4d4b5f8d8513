// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"context"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
)

// ReadFar reads ibdiagnet2.far. It skips unreadable parts and adds them to the argument found. If this argument is nil,
// ReadFar returns the first unreadable part as an error. O(bytes).
func ReadFar(ctx context.Context, r io.Reader, name string, found *unread.List) (*Far, error) {
	p := &routes{findings: findings{name: name, found: found}, far: true}
	return p.read(ctx, r, p.farLine)
}

// The parts of a section of far.
const (
	inHeading = iota
	inGroups
	inTable
)

var (
	groupsMark  = []byte("Groups Definition")
	tableMark   = []byte("LFT Definition")
	versionMark = []byte("File version:")
	groupColumn = []byte("Group")
)

func (p *routes) farLine(text []byte) error {
	if p.at == inTable && bytes.HasPrefix(text, hexMark) && p.sw != nil {
		return p.farEntry(text)
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0, text[0] == '#', text[0] == '-':
		return nil
	case bytes.HasPrefix(text, farHeading):
		p.at = inHeading
		return p.heading(text[len(farHeading):])
	case bytes.HasPrefix(text, versionMark) && p.sw == nil:
		v, _, ok := decimal(bytes.TrimSpace(text[len(versionMark):]), 1<<15)
		if !ok {
			return p.refuse("cannot parse the version in %s", quote(text))
		}
		p.out.Version = int(v)
		return nil
	case p.sw == nil:
		p.other++
		return nil
	}
	return p.farOf(text)
}

// farOf parses a line of a switch.
func (p *routes) farOf(text []byte) error {
	switch {
	case bytes.HasPrefix(text, groupsMark):
		p.at = inGroups
		return nil
	case bytes.HasPrefix(text, tableMark):
		p.at = inTable
		return nil
	case p.at == inHeading:
		p.words(text)
		return p.checkMemory(0)
	case bytes.HasPrefix(text, privateOne):
		p.at = inTable
		return p.private(text[len(privateOne):])
	case bytes.HasPrefix(text, groupColumn), bytes.HasPrefix(text, lidColumn):
		return nil
	case p.at == inGroups:
		return p.group(text)
	case bytes.HasPrefix(text, hexMark):
		return p.farEntry(text)
	}
	p.other++
	return nil
}

// group parses the line of a sub-group, such as "1 0 0 1,2,3,". Blanks after commas are ignored.
func (p *routes) group(text []byte) error {
	number, rest, ok1 := word(text, MaxGroup)
	sub, rest, ok2 := word(rest, 255)
	weight, rest, ok3 := word(rest, 255)
	if !ok1 || !ok2 || !ok3 {
		return p.refuse("cannot parse the group in %s, expected text like \"1 0 0 1,2,3,\"", quote(text))
	}
	g := Group{Number: uint16(number), Sub: uint8(sub), Weight: uint8(weight)}
	for {
		if rest = bytes.TrimLeft(rest, " \t,"); len(rest) == 0 {
			break
		}
		port, n, ok := decimal(rest, 254)
		if !ok || n < len(rest) && bytes.IndexByte([]byte(" \t,"), rest[n]) < 0 {
			return p.refuse("cannot parse the ports in %s, expected text like \"1 0 0 1,2,3,\"", quote(text))
		}
		g.Ports.Add(uint8(port))
		rest = rest[n:]
	}
	p.sw.Groups = append(p.sw.Groups, g)
	return p.checkMemory(groupMemory)
}

const groupMemory = 48

// farEntry parses the line of a LID, such as "0x0001 18           Free       12".
func (p *routes) farEntry(text []byte) error {
	lid, n, ok := hex(text[len(hexMark):], fabric.MaxUnicastLID)
	if !ok || lid == 0 {
		return p.refuse("cannot parse the LID in %s, expected 0x0001 to 0xbfff", quote(text))
	}
	port, rest, ok := word(text[len(hexMark)+n:], 255)
	if !ok {
		return p.refuse("cannot parse the static port in %s, expected text like \"0x0001 18 Free 12\"", quote(text))
	}
	rest = skip(rest)
	n = 0
	for n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
		n++
	}
	state, ok := stateOf(rest[:n])
	if !ok {
		return p.refuse("cannot parse the state in %s, expected Free, Bounded, Static or HBF", quote(text))
	}
	group, _, ok := word(rest[n:], MaxGroup)
	if !ok && state != Static {
		return p.refuse("cannot parse the group in %s, expected 0 to %d", quote(text), MaxGroup)
	}
	return p.set(uint16(lid), uint8(port), choice(state, uint16(group)))
}

// stateOf returns the state with this name. It ignores case.
func stateOf(name []byte) (State, bool) {
	switch string(name) {
	case "Free":
		return Free, true
	case "Static":
		return Static, true
	}
	for s, n := range stateNames {
		if strings.EqualFold(string(name), n) {
			return State(s), true
		}
	}
	return 0, false
}

// word parses a decimal number that ends at a blank or at the end of the line.
func word(b []byte, most uint64) (v uint64, rest []byte, ok bool) {
	b = skip(b)
	v, n, ok := decimal(b, most)
	if !ok || n < len(b) && b[n] != ' ' && b[n] != '\t' && b[n] != '\r' {
		return 0, b, false
	}
	return v, b[n:], true
}
