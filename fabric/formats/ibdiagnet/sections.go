// SPDX-License-Identifier: Apache-2.0

// Package ibdiagnet reads and writes what ibdiagnet 2 leaves: its data base (db_csv), forwarding tables with groups of
// adaptive routing (fdbs, far), SL2VL tables (slvl) and bit error rates (net_dump_ext). NVIDIA's opensm-smdb.dump,
// which has the form of the data base, is read as one.
//
// Columns are known by their names, whatever their case and order. M_Keys are never kept, and never written.
package ibdiagnet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
)

// maxFields is how many columns of a section are told apart; those behind it are passed over.
const maxFields = 512

// section is a part of the data base of which something is taken.
type section struct {
	name    string
	columns []string // in lower case, with | between the names that one may have
	must    int      // so many of them have to be there
	more    int      // those from here on need not be, and are not missed
	secret  bool     // says that values of other columns must not come into a message
	row     func(p *parser, v *values) error
}

// sections are those of ibdiagnet and of opensm-smdb.dump.
var sections = []*section{
	{name: "NODES", must: 2, more: 3, row: (*parser).node,
		columns: []string{"nodeguid", "nodetype", "nodedesc", "numports", "systemimageguid", "vendorid", "deviceid",
			"revision"}},
	{name: "PORTS", must: 2, more: 4, row: (*parser).port, secret: true,
		columns: []string{"nodeguid", "portnum", "portguid", "lid", "lmc", "msmlid", "capmsk", "portstate",
			"linkwidthactv|linkwidth", "linkspeedactv|linkspeed",
			"nmtu", "vlcap", "opvls", "linkwidthen", "linkwidthsup", "linkspeeden", "linkspeedsup", "fecactv",
			"retransactv", "capmsk2"}},
	{
		name: "LINKS", must: 4, more: 4, row: (*parser).link, columns: []string{"nodeguid1", "portnum1", "nodeguid2",
			"portnum2"},
	},
	{name: "SWITCHES", must: 1, more: 1, row: (*parser).enhanced, columns: []string{"nodeguid", "enp0"}},
	{
		name: "PKEY", must: 3, more: 3, row: (*parser).pkey,
		columns: []string{"nodeguid", "localportnum|portnum|portnumber", "pkey", "membership"},
	},
	{
		name: "SM_INFO", must: 1, more: 3, row: (*parser).manager,
		columns: []string{"portguid", "priority", "smstate|state"},
	},
	{name: "SMS", must: 1, more: 3, row: (*parser).manager, columns: []string{"portguid", "priority", "smstate|state"}},
	{name: "PM_INFO", must: 2, more: 2, row: (*parser).counted, columns: counterColumns()},
	{name: "PM_DELTA", must: 2, more: 2, row: (*parser).grown, columns: counterColumns()},
	{name: "CABLE_INFO", must: 2, more: 2, row: (*parser).cable,
		columns: []string{
			"nodeguid", "portnum", "vendor", "pn", "sn", "rev", "temperature", "lengthsmfiber|length|lengthcopper",
			"type|cabletype", "fwversion",
		}},
}

func sectionOf(name string) *section {
	for _, s := range sections {
		if s.name == name {
			return s
		}
	}
	return nil
}

const maxColumns = 64

// values are the fields of a row in the order of the section's columns, nil where there is none.
type values struct {
	of   *section
	text [maxColumns][]byte
}

// parser takes the lines of a data base.
type parser struct {
	findings
	rows

	in     string // the section that is open, "" between them
	of     *section
	headed bool
	place  [maxFields]int8 // of each field the column that it is, -1 for none
	fields int
	now    values // the row that is taken
	// lost are the lines before the first section whose beginning is there, from line 1.
	lost     []string
	begun    bool
	headLost bool
	lostSize int

	when     time.Time
	passed   []string // sections of which nothing is taken
	nPassed  int
	absent   map[string][]string
	sections map[string]bool // those that were there
}

// maxLost bounds what is kept of a section whose beginning is lost, in bytes, and a line's own memory with it.
const (
	maxLost    = 64 << 20
	lostMemory = 16
)

// ReadDB reads ibdiagnet2.db_csv; name stands for the file. What cannot be read is left out and added to found;
// where that is nil the first such thing is the error. O(bytes).
func ReadDB(ctx context.Context, r io.Reader, name string, found *unread.List) (*DB, error) {
	p := &parser{
		findings: findings{name: name, found: found}, absent: map[string][]string{}, sections: map[string]bool{},
	}
	p.enp0, p.greatest = map[uint64]bool{}, counters.Greatest()
	_, err := unread.EachLine(ctx, r, name, func(line int, text []byte) error {
		p.line = line
		return p.text(text)
	})
	if err != nil {
		return nil, err
	}
	if p.in != "" {
		if err := p.cut(); err != nil {
			return nil, err
		}
	}
	if p.headLost {
		if err := p.unnamed(); err != nil {
			return nil, err
		}
	}
	if len(p.nodes) == 0 {
		return nil, fmt.Errorf("%s: no node, expected a section START_NODES", fabric.Escape(name))
	}
	return p.build()
}

func (p *parser) cut() error {
	return p.truncated("truncated: section %s has no end", fabric.Escape(p.in))
}

var startMark, endMark = []byte("START_"), []byte("END_")

// text takes a line, nil for one that is too long.
func (p *parser) text(b []byte) error {
	if b == nil {
		return p.refuse("the line is longer than %d bytes", unread.MaxLine)
	}
	b = bytes.TrimSpace(b)
	if p.line == 1 {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
	}
	if name, ok := bytes.CutPrefix(b, startMark); ok {
		return p.start(string(name))
	}
	if name, ok := bytes.CutPrefix(b, endMark); ok {
		return p.end(string(name))
	}
	switch {
	case len(b) == 0:
		return nil
	case b[0] == '#':
		p.remark(b)
		return nil
	case !p.begun:
		if p.lostSize += len(b) + lostMemory; p.lostSize <= maxLost {
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

// remark takes the date from "# Running timestamp : 2022-08-25 17:45:38 UTC +0000".
func (p *parser) remark(b []byte) {
	if when, ok := Timestamp(b); ok && p.when.IsZero() {
		p.when = when
	}
}

// Timestamp returns the date that a remark at the top of a file of ibdiagnet states.
func Timestamp(remark []byte) (time.Time, bool) {
	_, text, ok := bytes.Cut(remark, []byte("Running timestamp"))
	if !ok {
		return time.Time{}, false
	}
	words := strings.Fields(strings.TrimLeft(string(text), " :"))
	if len(words) < 2 {
		return time.Time{}, false
	}
	zone := words[len(words)-1]
	if when, err := time.Parse("2006-01-02 15:04:05 -0700", words[0]+" "+words[1]+" "+zone); err == nil {
		return when, true
	}
	when, err := time.Parse(time.DateTime, words[0]+" "+words[1])
	return when, err == nil
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
	switch {
	case p.of != nil:
		p.sections[name] = true
	case !strings.Contains(name, "INDEX"): // of the sections and their lines
		if p.nPassed++; len(p.passed) < mostNamed {
			p.passed = append(p.passed, name)
		}
	}
}

// mostNamed is how many of the sections that are passed over are named.
const mostNamed = 8

// end closes a section. The name of one whose beginning is lost stands here alone.
func (p *parser) end(name string) error {
	if p.begun {
		p.in, p.of = "", nil
		return nil
	}
	p.begun, p.headLost = true, true
	lost, at := p.lost, p.line
	p.lost = nil
	p.open(name)
	defer func() { p.in, p.of, p.line = "", nil, at }()
	if err := p.refuse("the beginning of the file is lost; what is left of section %s is taken",
		fabric.Escape(name)); err != nil || p.of == nil {
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
		} else if p.isHeader(text) {
			err = p.header([]byte(text))
		}
		if err != nil {
			return err
		}
	}
	if !p.headed {
		return p.refuse("the columns of section %s are lost with its beginning, so its rows are left out",
			fabric.Escape(name))
	}
	return nil
}

// isHeader reports whether a line names the first column of the section.
func (p *parser) isHeader(text string) bool {
	for rest, more := []byte(text), true; more; {
		var field []byte
		if field, rest, more = cutField(rest); named(p.of.columns[0], field) {
			return true
		}
	}
	return false
}

// named reports whether a column has a name.
func named(column string, name []byte) bool {
	for one := range strings.SplitSeq(column, "|") {
		if strings.EqualFold(one, string(name)) {
			return true
		}
	}
	return false
}

// header finds the columns of a section.
func (p *parser) header(b []byte) error {
	p.headed, p.fields = true, 0
	var have [maxColumns]bool
	for rest, more := b, true; more && p.fields < maxFields; p.fields++ {
		var field []byte
		field, rest, more = cutField(rest)
		p.place[p.fields] = -1
		for c, column := range p.of.columns {
			if !have[c] && named(column, field) {
				p.place[p.fields], have[c] = int8(c), true
			}
		}
	}
	p.now = values{of: p.of}
	for c, column := range p.of.columns {
		name, _, _ := strings.Cut(column, "|")
		switch {
		case have[c]:
		case c < p.of.must:
			of := p.of
			p.of = nil
			return p.refuse("section %s has no column %s, so its rows are left out", of.name, name)
		case c < p.of.more:
			p.absent[p.of.name] = append(p.absent[p.of.name], name)
		}
	}
	return nil
}

// row takes a row of the section that is open.
func (p *parser) row(b []byte) error {
	n := 0
	for rest, more := b, true; more; n++ {
		var field []byte
		field, rest, more = cutField(rest)
		if n < p.fields && p.place[n] >= 0 {
			p.now.text[p.place[n]] = field
		}
	}
	if n < p.fields {
		return p.refuse("%d fields, expected %d of section %s", n, p.fields, p.of.name)
	}
	return p.of.row(p, &p.now)
}

// needed are the sections without which something cannot be answered, with what that is.
var needed = []struct{ section, what string }{
	{"PORTS", "nothing is known of LIDs, speeds and states"},
	{"LINKS", "nothing is cabled"},
}

func (p *parser) warnings() []string {
	var w []string
	name := fabric.Escape(p.name)
	for _, n := range needed {
		if !p.sections[n.section] {
			w = append(w, fmt.Sprintf("%s: no section %s: %s", name, n.section, n.what))
		}
	}
	for _, s := range sections {
		if names := p.absent[s.name]; len(names) > 0 {
			w = append(w, fmt.Sprintf("%s: section %s has no %s", name, s.name, strings.Join(names, ", ")))
		}
	}
	if p.nPassed > 0 {
		said := strings.Join(p.passed, ", ")
		if p.nPassed > len(p.passed) {
			said += ", ..."
		}
		w = append(w, fmt.Sprintf("%s: %s passed over: %s", name, prose.Count(p.nPassed, "section"),
			fabric.Escape(said)))
	}
	return w
}
