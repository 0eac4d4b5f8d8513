// SPDX-License-Identifier: Apache-2.0

// Package ibdiagnet reads what ibdiagnet 2 leaves: its data base, ibdiagnet2.db_csv.
//
// Columns are known by their names, whatever their case and order. M_Keys are never kept.
package ibdiagnet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
)

// maxFields is how many columns of a section are told apart; those behind it are passed over.
const maxFields = 512

// section is a part of the data base of which something is taken.
type section struct {
	name    string
	columns []string // in lower case
	must    int      // so many of them have to be there
	row     func(p *parser, v *values) error
}

var sections = []*section{
	{"NODES", []string{"nodeguid", "nodetype", "numports", "nodedesc", "systemimageguid", "vendorid", "deviceid", "revision"}, 3, (*parser).node},
	{"PORTS", []string{"nodeguid", "portnum", "portguid", "lid", "lmc", "msmlid", "capmsk", "portstate", "linkwidthactv", "linkspeedactv", "nmtu", "vlcap", "opvls"}, 2, (*parser).port},
	{"LINKS", []string{"nodeguid1", "portnum1", "nodeguid2", "portnum2"}, 4, (*parser).link},
	{"SWITCHES", []string{"nodeguid", "enp0"}, 1, (*parser).enhanced},
}

func sectionOf(name string) *section {
	for _, s := range sections {
		if s.name == name {
			return s
		}
	}
	return nil
}

// values are the fields of a row in the order of the section's columns, nil where there is none.
type values struct {
	of   *section
	text [16][]byte
}

// parser takes the lines of a data base.
type parser struct {
	name  string
	found *unread.List
	line  int

	in     string // the section that is open, "" between them
	of     *section
	headed bool
	place  [maxFields]int8 // of each field the column that it is, -1 for none
	fields int
	// lost are the lines before the first section whose beginning is there, from line 1.
	lost     []string
	begun    bool
	lostSize int

	nodes  []node
	ports  []port
	links  []link
	enp0   map[uint64]bool
	passed []string // sections of which nothing is taken
	absent map[string][]string
}

// maxLost bounds what is kept of a section whose beginning is lost.
const maxLost = 64 << 20

// ReadDB reads ibdiagnet2.db_csv; name stands for the file. What cannot be read is left out and added to found;
// where that is nil the first such thing is the error. The warnings are whole sentences. O(bytes).
func ReadDB(ctx context.Context, r io.Reader, name string, found *unread.List) (f *fabric.Fabric, warnings []string, err error) {
	p := &parser{name: name, found: found, enp0: map[uint64]bool{}, absent: map[string][]string{}}
	_, err = unread.EachLine(ctx, r, name, func(line int, text []byte) error {
		p.line = line
		return p.text(text)
	})
	if err != nil {
		return nil, nil, err
	}
	if p.in != "" {
		if err := p.cut(); err != nil {
			return nil, nil, err
		}
	}
	if len(p.nodes) == 0 {
		return nil, nil, fmt.Errorf("%s: no node, expected a section START_NODES", fabric.Escape(name))
	}
	if f, err = p.build(); err != nil {
		return nil, nil, err
	}
	return f, p.warnings(), nil
}

// refuse lists what is wrong with the line, or gives it back where that ends the reading.
func (p *parser) refuse(format string, args ...any) error {
	return p.refuseAt(p.line, format, args...)
}

func (p *parser) refuseAt(line int, format string, args ...any) error {
	f := unread.At(p.name, line, format, args...)
	if p.found == nil {
		return f
	}
	p.found.Add(f)
	return nil
}

func (p *parser) cut() error {
	f := unread.At(p.name, p.line, "truncated: section %s has no end", fabric.Escape(p.in))
	f.Kind = unread.Truncated
	if p.found == nil {
		return f
	}
	p.found.Add(f)
	return nil
}

var startMark, endMark = []byte("START_"), []byte("END_")

// text takes a line, nil for one that is too long.
func (p *parser) text(b []byte) error {
	if b == nil {
		return p.refuse("the line is longer than %d bytes", unread.MaxLine)
	}
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	if name, ok := bytes.CutPrefix(b, startMark); ok {
		return p.start(string(name))
	}
	if name, ok := bytes.CutPrefix(b, endMark); ok {
		return p.end(string(name))
	}
	switch {
	case len(b) == 0 || b[0] == '#':
		return nil
	case !p.begun:
		if p.lostSize += len(b); p.lostSize <= maxLost {
			p.lost = append(p.lost, string(b))
		}
		return nil
	case p.of == nil:
		return nil
	case !p.headed:
		return p.header(b)
	}
	return p.row(b)
}

func (p *parser) start(name string) error {
	p.begun = true
	var err error
	if p.in != "" {
		err = p.cut()
	}
	p.open(name)
	return err
}

func (p *parser) open(name string) {
	p.in, p.of, p.headed = name, sectionOf(name), false
	if p.of == nil {
		p.passed = append(p.passed, name)
	}
}

// end closes a section. The name of one whose beginning is lost stands here alone.
func (p *parser) end(name string) error {
	if p.begun {
		p.in, p.of = "", nil
		return nil
	}
	p.begun = true
	lost, at := p.lost, p.line
	p.lost = nil
	p.open(name)
	defer func() { p.in, p.of, p.line = "", nil, at }()
	if err := p.refuse("the beginning of the file is lost; what is left of section %s is taken", fabric.Escape(name)); err != nil || p.of == nil {
		return err
	}
	for i, text := range lost {
		p.line = at - len(lost) + i
		var err error
		if p.of == nil {
			return nil // told
		}
		if p.headed {
			err = p.row([]byte(text))
		} else if strings.Contains(strings.ToLower(text), p.of.columns[0]) {
			err = p.header([]byte(text))
		}
		if err != nil {
			return err
		}
	}
	if !p.headed {
		return p.refuse("the columns of section %s are lost with its beginning, so its rows are left out", name)
	}
	return nil
}

// header finds the columns of a section.
func (p *parser) header(b []byte) error {
	p.headed, p.fields = true, 0
	var have [16]bool
	for rest, more := b, true; more && p.fields < maxFields; p.fields++ {
		var field []byte
		field, rest, more = cutField(rest)
		p.place[p.fields] = -1
		for c, name := range p.of.columns {
			if strings.EqualFold(name, string(field)) && !have[c] {
				p.place[p.fields], have[c] = int8(c), true
			}
		}
	}
	for c, name := range p.of.columns {
		if have[c] {
			continue
		}
		if c < p.of.must {
			of := p.of
			p.of = nil
			return p.refuse("section %s has no column %s", of.name, name)
		}
		p.absent[p.of.name] = append(p.absent[p.of.name], name)
	}
	return nil
}

// row takes a row of the section that is open.
func (p *parser) row(b []byte) error {
	v := values{of: p.of}
	n := 0
	for rest, more := b, true; more; n++ {
		var field []byte
		field, rest, more = cutField(rest)
		if n < p.fields && p.place[n] >= 0 {
			v.text[p.place[n]] = field
		}
	}
	if n < p.fields {
		return p.refuse("%d fields, expected %d of section %s", n, p.fields, p.of.name)
	}
	return p.of.row(p, &v)
}

func (p *parser) warnings() []string {
	var w []string
	for _, s := range sections {
		if names := p.absent[s.name]; len(names) > 0 {
			w = append(w, fmt.Sprintf("%s: section %s has no %s", fabric.Escape(p.name), s.name, strings.Join(names, ", ")))
		}
	}
	if len(p.passed) > 0 {
		shown := p.passed[:min(len(p.passed), 8)]
		w = append(w, fmt.Sprintf("%s: passed over %d sections: %s", fabric.Escape(p.name), len(p.passed), fabric.Escape(strings.Join(shown, ", "))))
	}
	return w
}
