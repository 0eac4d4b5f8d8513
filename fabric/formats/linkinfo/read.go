// SPDX-License-Identifier: Apache-2.0

// Package linkinfo reads lists of ports: the output of ibnetdiscover -p, iblinkinfo and iblinkinfo -l.
//
// These lists contain the LID, the rate and the peer of each port. They do not contain LMCs, vendor IDs, device IDs and
// system GUIDs. For adapters they contain port GUIDs, but no node GUIDs. The node GUID is assumed to be the port GUID
// minus the port number, as in ibsim. Ports with the same name and the same node GUID belong to one node.
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
	// maxSlots is the maximum number of port slots. It limits the memory that a file can request by high port numbers.
	maxSlots = 2 << 20
)

// Read reads a list of ports. The argument name identifies the file in errors. The nodes keep the order of the file.
//
// Read skips unreadable parts and adds them to the argument found. If this argument is nil, Read returns the first
// unreadable part as an error. A cable that only one end lists is accepted, and so is a node that occurs only as the
// far end of cables. Such nodes are expected in a list of switches only or of adapters only. The warnings are
// sentences. O(file size).
func Read(ctx context.Context, r io.Reader, name string, found *unread.List) (f *fabric.Fabric, warnings []string,
	err error) {
	p := parser{name: name, found: found}
	p.cut, err = unread.EachLine(ctx, r, name, func(line int, text []byte) error {
		p.line = line
		return p.parse(text)
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
	return f, append(p.warnings(), b.warnings()...), nil
}

type parser struct {
	name  string
	found *unread.List
	line  int
	cut   bool
	rows  []row
	// in is the node to which the following port lines belong. sections is the number of such nodes so far.
	in       side
	sections int
	// typeless is set if the rows do not state the types of nodes.
	typeless bool
}

// refuse records a fault of a line. If found is nil, it returns the fault as an error instead.
func (p *parser) refuse(line int, format string, args ...any) error {
	f := unread.At(p.name, line, format, args...)
	if p.found == nil {
		return f
	}
	p.found.Add(f)
	return nil
}

// parse parses a line. It ignores comments and messages of the programs.
func (p *parser) parse(b []byte) error {
	switch {
	case b == nil:
		return p.refuse(p.line, "the line is longer than %d bytes, %w", unread.MaxLine, errRow)
	case bytes.IndexByte(b, 0) >= 0:
		return p.refuse(p.line, "a NUL byte, %w", errRow)
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(b), "\ufeff"))
	if text == "" || text[0] == '#' || strings.HasPrefix(text, "ibwarn:") {
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

// row parses a line in any of the formats. ok is false if the line does not describe a port.
func (p *parser) row(text string) (r row, ok bool, err error) {
	if m := ports.FindStringSubmatch(text); m != nil {
		r, err = portsRow(m)
		return r, true, err
	}
	if m := line.FindStringSubmatch(text); m != nil {
		p.typeless = true
		r.near, err = sideOf(unknown, m[1], m[3], m[4], strings.TrimLeft(m[2], " "))
		if linkErr := r.link(m[5], m[6]); err == nil {
			err = linkErr
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
	if linkErr := r.link(m[4], m[5]); err == nil {
		err = linkErr
	}
	return r, true, err
}

func (p *parser) warnings() []string {
	w := []string{fmt.Sprintf("%s: a list of ports does not contain node GUIDs of adapters, LMCs, devices and system "+
		"GUIDs; if they matter, use the output of ibnetdiscover", fabric.Escape(p.name))}
	if p.typeless {
		w = append(w, fmt.Sprintf("%s: the list does not show which nodes are routers; they are read as adapters",
			fabric.Escape(p.name)))
	}
	return w
}
