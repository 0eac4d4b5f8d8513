// SPDX-License-Identifier: Apache-2.0

// Package linkinfo reads lists of ports: what ibnetdiscover -p and iblinkinfo print,
// the latter plain and with -l.
//
// They say of each port its LID, its rate and what it is linked to, and have no words
// for LMCs, vendors, device and system GUIDs. Of adapters they have port GUIDs alone:
// the node's is taken to be that of its port less the port's number, as ibsim counts
// them, and ports of one name and one such GUID are of one node.
package linkinfo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/mad"
)

const (
	maxPorts = 254
	// maxSlots bounds the memory that a file can ask for by high port numbers.
	maxSlots = 2 << 20
)

// Read reads such a list; name stands for the file. The nodes keep the order of the
// file. What cannot be read is left out and added to found; where that is nil the
// first such thing is the error. A cable that one end names is taken, as is a node that
// only cables name. The warnings are whole sentences. O(file size).
func Read(ctx context.Context, r io.Reader, name string, found *unread.List) (f *fabric.Fabric, warnings []string,
	err error) {
	p := parser{name: name, found: found}
	p.cut, err = unread.EachLine(ctx, r, name, func(line int, text []byte) error {
		p.line = line
		return p.text(text)
	})
	if err != nil {
		return nil, nil, err
	}
	if len(p.rows) == 0 {
		if found != nil && len(found.Findings) > 0 {
			return nil, nil, found.Findings[0]
		}
		return nil, nil, fmt.Errorf("%s: no port, %w", fabric.Escape(name), errRow)
	}
	b := builder{p: &p}
	if f, err = b.build(); err != nil {
		return nil, nil, err
	}
	return f, p.warnings(), nil
}

type parser struct {
	name  string
	found *unread.List
	line  int
	cut   bool
	rows  []row
	// in is the node whose ports follow, and sections counts those.
	in       side
	sections int
	// typeless says that rows do not say what their node is.
	typeless bool
}

// refuse lists what is wrong with a line, or gives it back where that ends the reading.
func (p *parser) refuse(line int, format string, args ...any) error {
	f := unread.At(p.name, line, format, args...)
	if p.found == nil {
		return f
	}
	p.found.Add(f)
	return nil
}

// text takes a line. What programs say between, and comments, mean nothing.
func (p *parser) text(b []byte) error {
	switch {
	case b == nil:
		return p.refuse(p.line, "the line is longer than %d bytes, %w", unread.MaxLine, errRow)
	case bytes.IndexByte(b, 0) >= 0:
		return p.refuse(p.line, "a NUL byte, %w", errRow)
	}
	text := strings.TrimPrefix(strings.TrimRight(string(b), "\r"), "\ufeff")
	if strings.TrimSpace(text) == "" || text[0] == '#' || strings.HasPrefix(text, "ibwarn:") {
		return nil
	}
	r, ok, err := p.row(text)
	if !ok && err == nil {
		return nil
	}
	if !ok {
		return p.refuse(p.line, "%w", err)
	}
	if err != nil {
		if err = p.refuse(p.line, "%w", err); err != nil {
			return err
		}
	}
	if r.near.port == 0 {
		return nil
	}
	r.line, r.linked = p.line, r.linked && r.far.port > 0
	p.rows = append(p.rows, r)
	return nil
}

// row reads a line in any of the forms; ok is false for one that is no port.
func (p *parser) row(text string) (r row, ok bool, err error) {
	if m := ports.FindStringSubmatch(text); m != nil {
		r, err = portsRow(m)
		return r, true, err
	}
	if m := line.FindStringSubmatch(text); m != nil {
		p.typeless = true
		r.near, err = sideOf(unknown, m[1], m[3], m[4], strings.TrimLeft(m[2], " "))
		if wrong := r.link(m[5], m[6]); err == nil {
			err = wrong
		}
		return r, true, err
	}
	if m := section.FindStringSubmatch(text); m != nil {
		p.sections++
		p.in = side{typ: mad.NodeSwitch, name: m[2] + m[4], section: p.sections}
		if m[3] != "" {
			p.in.typ = types[m[3]]
			return r, false, nil
		}
		n, err := sideOf(mad.NodeSwitch, m[1], "0", "1", "")
		p.in.guid = n.guid
		return r, false, err
	}
	m := port.FindStringSubmatch(text)
	if m == nil || p.in.section == 0 {
		return r, false, fmt.Errorf("%s, %w", fabric.Escape(fmt.Sprintf("%.60q", text)), errRow)
	}
	r.near, err = sideOf(p.in.typ, m[1], m[2], m[3], p.in.name)
	r.near.section = p.in.section
	if p.in.typ == mad.NodeSwitch {
		r.near.guid = p.in.guid
	}
	if wrong := r.link(m[4], m[5]); err == nil {
		err = wrong
	}
	return r, true, err
}

func (p *parser) warnings() []string {
	const about = "node GUIDs of adapters, LMCs, devices and system GUIDs are not in a list of ports; where that " +
		"matters, take what ibnetdiscover prints"
	w := []string{fmt.Sprintf("%s: %s", fabric.Escape(p.name), about)}
	if p.typeless {
		w = append(w, fmt.Sprintf("%s: it does not say which nodes are routers; they are taken as adapters",
			fabric.Escape(p.name)))
	}
	return w
}
