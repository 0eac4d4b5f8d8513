// SPDX-License-Identifier: Apache-2.0

// Package ibdiagnet reads and writes the files of ibdiagnet 2: the database (db_csv), forwarding tables with groups for
// adaptive routing (fdbs, far), SL2VL tables (slvl) and bit error rates (net_dump_ext). It also reads NVIDIA's
// opensm-smdb.dump, which has the form of the database.
//
// Columns are identified by their names, in any case and order. M_Keys are never kept and never written.
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

// maxFields is the maximum number of columns of a section that are read.
const maxFields = 512

// section describes a section of the database that is read.
type section struct {
	name    string
	columns []string // in lower case, with | between alternative names
	must    int      // the number of required columns
	more    int      // the columns from here on are optional and not reported as missing
	secret  bool     // values of other columns must not occur in messages
	row     func(p *parser, v *values) error
}

// sections lists the sections of ibdiagnet's database and of opensm-smdb.dump.
var sections = []*section{
	{name: "NODES", must: 2, more: 3, row: (*parser).node,
		columns: []string{"nodeguid", "nodetype", "nodedesc", "numports", "systemimageguid", "vendorid", "deviceid",
			"revision"}},
	{name: "PORTS", must: 2, more: 4, row: (*parser).port, secret: true,
		columns: []string{"nodeguid", "portnum", "portguid", "lid", "lmc", "msmlid", "capmsk", "portstate",
			"linkwidthactv|linkwidth", "linkspeedactv|linkspeed",
			"nmtu", "vlcap", "opvls", "linkwidthen", "linkwidthsup", "linkspeeden", "linkspeedsup", "fecactv",
			"retransactv", "capmsk2", "gidprfx"}},
	{name: "LINKS", must: 4, more: 4, row: (*parser).link,
		columns: []string{"nodeguid1", "portnum1", "nodeguid2", "portnum2"}},
	{name: "SWITCHES", must: 1, more: 1, row: (*parser).enhanced, columns: []string{"nodeguid", "enp0"}},
	{name: "PKEY", must: 3, more: 3, row: (*parser).pkey,
		columns: []string{"nodeguid", "localportnum|portnum|portnumber", "pkey", "membership"}},
	{name: "SM_INFO", must: 1, more: 3, row: (*parser).manager,
		columns: []string{"portguid", "priority", "smstate|state"}},
	{name: "SMS", must: 1, more: 3, row: (*parser).manager, columns: []string{"portguid", "priority", "smstate|state"}},
	{name: "PM_INFO", must: 2, more: 2, row: (*parser).counted, columns: counterColumns()},
	{name: "PM_DELTA", must: 2, more: 2, row: (*parser).delta, columns: counterColumns()},
	{name: "CABLE_INFO", must: 2, more: 2, row: (*parser).cable,
		columns: cableColumns()},
	{name: "NODES_INFO", must: 1, more: 1, row: (*parser).firmware,
		columns: []string{"nodeguid", "fwinfo_psid", "fwinfo_extended_major", "fwinfo_extended_minor",
			"fwinfo_extended_subminor", "fwinfo_major", "fwinfo_minor", "fwinfo_subminor", "hwinfo_uptime"}},
	{name: "SYSTEM_GENERAL_INFORMATION", must: 1, more: 1, row: (*parser).system,
		columns: []string{"nodeguid", "serialnumber", "partnumber", "revision", "productname"}},
	{name: "TEMPERATURE_SENSORS", must: 1, more: 1, row: (*parser).sensor,
		columns: []string{"nodeguid", "sensorindex", "temperature", "maxtemperature"}},
	{name: "TEMP_SENSING", must: 1, more: 1, row: (*parser).onlySensor,
		columns: []string{"nodeguid", "currenttemperature"}},
	{name: "FANS_SPEED", must: 2, more: 2, row: (*parser).fan,
		columns: []string{"nodeguid", "sensorindex|fanindex", "fanspeed"}},
	{name: "FANS_THRESHOLDS", must: 2, more: 2, row: (*parser).fanLimits,
		columns: []string{"nodeguid", "sensorindex|fanindex", "minspeed", "maxspeed"}},
	{name: "POWER_SUPPLIES", must: 2, more: 2, row: (*parser).supply,
		columns: []string{"nodeguid", "psuindex", "ispresent", "dcstate", "alertstate", "fanstate", "serialnumber"}},
	{name: "PORT_HIERARCHY_INFO", must: 2, more: 2, row: (*parser).label,
		columns: []string{"nodeguid", "portnum", "extendedlabel", "label"}},
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

// values holds the fields of a row in the order of the section's columns. A field is nil if the file does not have the
// column.
type values struct {
	of   *section
	text [maxColumns][]byte
}

// parser parses the lines of a database.
type parser struct {
	findings
	rows

	in     string // the name of the current section, "" between sections
	of     *section
	headed bool
	place  [maxFields]int8 // by field: its column, -1 for none
	fields int
	now    values // the current row
	// lost holds the first lines of the file if they belong to a section whose beginning is missing.
	lost     []string
	begun    bool
	headLost bool
	lostSize int

	when     time.Time
	ignored  []string // names of sections that are not read
	nIgnored int
	absent   map[string][]string
	sections map[string]bool // the sections in the file
}

// maxLost is the maximum number of bytes that are kept of a section whose beginning is missing. lostMemory is the
// overhead of each line in bytes.
const (
	maxLost    = 64 << 20
	lostMemory = 16
)

// ReadDB reads ibdiagnet2.db_csv. The argument name identifies the file in errors. ReadDB skips unreadable parts and
// adds them to the argument found. If this argument is nil, ReadDB returns the first unreadable part as an error.
// O(bytes).
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
		if err := p.addUnlisted(); err != nil {
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

// text parses a line. The argument is nil for a line that is too long.
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

// remark reads the date from a comment such as "# Running timestamp : 2022-08-25 17:45:38 UTC +0000".
func (p *parser) remark(b []byte) {
	if when, ok := Timestamp(b); ok && p.when.IsZero() {
		p.when = when
	}
}

// Timestamp returns the date in a comment at the top of one of ibdiagnet's files.
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
	case !strings.Contains(name, "INDEX"): // an index lists the sections and their lines
		if p.nIgnored++; len(p.ignored) < maxNamed {
			p.ignored = append(p.ignored, name)
		}
	}
}

// maxNamed is the maximum number of ignored sections that are listed by name.
const maxNamed = 8

// end ends a section. If the beginning of the section is missing, only the line at its end contains the name.
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
	if err := p.refuse("the beginning of the file is missing, so the first rows of section %s are missing",
		fabric.Escape(name)); err != nil || p.of == nil {
		return err
	}
	for i, text := range lost {
		p.line = at - len(lost) + i
		var err error
		if p.of == nil {
			return nil // already reported
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
		return p.refuse("the columns of section %s are missing, so its rows are skipped",
			fabric.Escape(name))
	}
	return nil
}

// isHeader reports whether a line contains the name of the section's first column.
func (p *parser) isHeader(text string) bool {
	for rest, more := []byte(text), true; more; {
		var field []byte
		if field, rest, more = cutField(rest); named(p.of.columns[0], field) {
			return true
		}
	}
	return false
}

// named reports whether the column has this name.
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
			return p.refuse("section %s has no column %s, so its rows are skipped", of.name, name)
		case c < p.of.more:
			p.absent[p.of.name] = append(p.absent[p.of.name], name)
		}
	}
	return nil
}

// row parses a row of the current section.
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

// needed lists important sections, each with the consequence if the file does not have the section.
var needed = []struct{ section, consequence string }{
	{"PORTS", "LIDs, speeds and states are unknown"},
	{"LINKS", "links are unknown"},
}

func (p *parser) warnings() []string {
	var w []string
	name := fabric.Escape(p.name)
	for _, n := range needed {
		if !p.sections[n.section] {
			w = append(w, fmt.Sprintf("%s: no section %s: %s", name, n.section, n.consequence))
		}
	}
	for _, s := range sections {
		if names := p.absent[s.name]; len(names) > 0 {
			w = append(w, fmt.Sprintf("%s: section %s has no %s", name, s.name, strings.Join(names, ", ")))
		}
	}
	if p.nIgnored > 0 {
		names := strings.Join(p.ignored, ", ")
		if p.nIgnored > len(p.ignored) {
			names += ", ..."
		}
		w = append(w, fmt.Sprintf("%s: %s ignored: %s", name, prose.Verb(p.nIgnored, "section", "was", "were"),
			fabric.Escape(names)))
	}
	return w
}
