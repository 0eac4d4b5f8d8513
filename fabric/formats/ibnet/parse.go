// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/mad"
)

const (
	maxPorts    = 2 << 20
	maxIncludes = 1000
	maxDepth    = 9 // ibsim's

	firstCA     = 0x100000
	firstSwitch = 0x200000

	generated = "# Topology file: generated on"
)

// parser collects the records of a file and of its included files.
type parser struct {
	options Options
	records []*record
	aliases map[string]aliasTarget
	names   map[string]*nodeName
	rates   map[string]string
	ports   int

	files []string
	open  []string
	// end is the position of the last line of the main file. cuts has the positions of last lines without a newline,
	// also those of included files.
	end      place
	cuts     []place
	includes int
	at       place

	// current is the index of the record to which port lines belong, or outside or skipped. remaining is the number of
	// port lines that this record may still have. cable is the current port line.
	current, remaining int
	cable              cable

	// The following properties come from lines before a record and apply to the next record. base and next count GUIDs
	// by node type.
	base, next [4]uint64
	guided     bool // a line sets the GUID of the next node
	bracketed  uint64
	system     uint64
	vendor     uint32
	device     uint16
	rate       enabled
	module     string

	lost         []place // lines that ibsim ignores
	unknownRates tally
	warnings     []string
	unread       unread.List
}

const (
	outside = -1
	skipped = -2
)

type aliasTarget struct {
	record *record
	port   int
}

func newParser(o Options) *parser {
	guids := [4]uint64{mad.NodeCA: firstCA, mad.NodeSwitch: firstSwitch}
	return &parser{
		options:      o,
		aliases:      map[string]aliasTarget{},
		names:        map[string]*nodeName{},
		rates:        map[string]string{},
		unknownRates: tally{},
		current:      outside,
		base:         guids,
		next:         guids,
		rate:         ibsimDefault,
	}
}

func (p *parser) asIbsim() bool { return p.options.Reading == AsIbsim }

// file parses one file to its end.
func (p *parser) file(ctx context.Context, r io.Reader, name string) error {
	p.files = append(p.files, name)
	p.open = append(p.open, name)
	p.at = place{file: int32(len(p.files) - 1)}
	cut, err := unread.EachLine(ctx, r, name, func(line int, text []byte) error {
		p.at.line = int32(line)
		return p.refuse(p.text(ctx, text))
	})
	if err != nil {
		return err
	}
	if cut && len(p.records) > 0 {
		p.cuts = append(p.cuts, p.at)
	}
	p.end = p.at
	p.current = outside
	p.open = p.open[:len(p.open)-1]
	return nil
}

// text parses a line of the file.
func (p *parser) text(ctx context.Context, b []byte) error {
	if b == nil {
		return p.errorf("line longer than %d bytes, expected text as ibnetdiscover prints it", unread.MaxLine)
	}
	if p.at.line == 1 {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return p.errorf("binary data, expected text as ibnetdiscover prints it")
	}
	return p.line(ctx, string(bytes.TrimRight(b, "\r")))
}

// line parses a line. The text of a manual page is indented; ibsim does not accept such text.
func (p *parser) line(ctx context.Context, l string) error {
	if !p.asIbsim() {
		l = strings.TrimLeft(l, " \t")
	}
	if strings.HasPrefix(l, "#") {
		return nil
	}
	if p.current == outside {
		return p.between(ctx, l)
	}
	switch trimmed := strings.TrimLeft(l, " \t"); {
	case startsPort(trimmed):
		return p.portOf(trimmed)
	case p.asIbsim() && p.current >= 0 && isAttribute(l):
		// Ibsim ends the record at this line and ignores the line itself.
		p.current = outside
		p.lost = append(p.lost, p.at)
		return nil
	case p.asIbsim() || trimmed == "" || isStatement(l):
		p.current = outside
		return p.between(ctx, l)
	case trimmed[0] == '#' || p.current == skipped:
		return nil
	case strings.Contains(l, `"`) && !strings.Contains(l, "["):
		p.current = skipped // the port lines after a header do not belong to the record before it
	}
	return p.errorf("%s in a record, expected [PORT] \"ID\"[PORT]; a blank line ends a record", quote(l))
}

// portOf parses a port line of the current record. The record ends when it has as many valid port lines as the node has
// ports.
func (p *parser) portOf(l string) error {
	if p.current == skipped {
		return nil
	}
	if err := p.portLine(l); err != nil {
		return err
	}
	if p.remaining--; p.remaining == 0 {
		p.current = outside
	}
	return nil
}

// between parses a line that is not part of a record. It ignores unknown lines, but with Options.Strict only
// those before the first record.
func (p *parser) between(ctx context.Context, l string) error {
	word, rest := firstWord(l)
	if t, ok := headers[word]; ok {
		return p.header(rest, t)
	}
	switch word {
	case "include":
		return p.include(ctx, rest)
	case "do":
		p.warn(p.at, "the ibsim command %s is ignored", quote(strings.TrimSpace(rest)))
		return nil
	}
	if parse, ok := attributes[word]; ok {
		return parse(p, word, rest)
	}
	if startsPort(l) && strings.Contains(l, `"`) {
		return p.errorf("port line outside a record, expected a Switch, Ca or Rt line before the port line; a " +
			"record ends at a blank line or after its last port")
	}
	if l = strings.TrimSpace(l); p.options.Strict && len(p.records) > 0 && l != "" && !isSection(l) {
		return p.errorf("unknown line %s, expected text as ibnetdiscover prints it", quote(l))
	}
	return nil
}

// isSection reports whether a line is a heading of ibnetdiscover for the nodes of a chassis or for other nodes.
func isSection(l string) bool {
	return strings.HasPrefix(l, "Chassis ") || strings.HasPrefix(l, "Non-Chassis Nodes")
}

// headers maps the first word of a record's first line to the node type.
var headers = map[string]mad.NodeType{
	"Switch": mad.NodeSwitch, "Hca": mad.NodeCA, "Ca": mad.NodeCA, "Rt": mad.NodeRouter,
}

// isStatement reports whether a line is one of the lines that can occur outside records.
func isStatement(l string) bool {
	word, _ := firstWord(l)
	_, isHeader := headers[word]
	return isHeader || word == "include" || word == "do" || isAttribute(l)
}

// firstWord splits a line after its leading letters. These letters are a word only if a space, a quote, a digit, = or +
// follows them. Otherwise the result word is "".
func firstWord(l string) (word, rest string) {
	i := 0
	for i < len(l) && (l[i]|0x20 >= 'a' && l[i]|0x20 <= 'z') {
		i++
	}
	if i < len(l) && !strings.ContainsRune(" \t\"0123456789=+", rune(l[i])) {
		return "", l
	}
	return l[:i], l[i:]
}

// startsPort reports whether a line begins like a port line. A shell prompt that begins with a bracket does not.
func startsPort(l string) bool {
	l = strings.TrimPrefix(l, "@")
	return len(l) > 1 && l[0] == '[' && l[1] >= '0' && l[1] <= '9'
}

func (p *parser) include(ctx context.Context, rest string) error {
	name, _, ok := quoted(rest)
	switch {
	case !ok:
		return p.errorf("include without a name, expected include \"FILE\"")
	case p.options.Open == nil:
		return p.errorf("include %s: only a file can include another", quote(name))
	case len(p.open) >= maxDepth:
		return p.errorf("include %s: includes are nested more than %d levels deep", quote(name), maxDepth)
	case p.includes >= maxIncludes:
		return p.errorf("include %s: more than %d included files", quote(name), maxIncludes)
	}
	p.includes++
	r, path, err := p.options.Open(name, p.files[p.at.file])
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err // the name is in the message already
	}
	if err != nil {
		return p.errorf("include %s: %w", quote(name), err)
	}
	defer func() { _ = r.Close() }()
	if slices.Contains(p.open, path) {
		return p.errorf("include %s: the file includes itself", quote(name))
	}
	back := p.at
	if err := p.file(ctx, r, path); err != nil {
		return err
	}
	p.at = back
	return nil
}

func (p *parser) errorf(format string, args ...any) error { return p.errorAt(p.at, format, args...) }

func (p *parser) errorAt(at place, format string, args ...any) error {
	return unread.At(p.files[at.file], int(at.line), format, args...)
}

// fatal returns an error that ends the reading even without Options.Strict.
func (p *parser) fatal(format string, args ...any) error {
	return fmt.Errorf("%s: %w", p.position(p.at), fmt.Errorf(format, args...))
}

// refuse records an error as an unreadable part. It returns the error instead if the error must end the reading.
func (p *parser) refuse(err error) error {
	if err == nil || p.options.Strict {
		return err
	}
	return p.unread.Take(err)
}

func (p *parser) warn(at place, format string, args ...any) {
	const most = 20
	if len(p.warnings) < most {
		p.warnings = append(p.warnings, p.position(at)+": "+fmt.Sprintf(format, args...))
	}
}

// position returns a place as FILE:LINE.
func (p *parser) position(at place) string {
	return fmt.Sprintf("%s:%d", fabric.Escape(p.files[at.file]), at.line)
}
