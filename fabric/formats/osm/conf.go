// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
)

// Conf is an opensm.conf.
type Conf struct {
	Name string
	// Options are those that the file gives, with the value that OpenSM takes, in
	// the order of their first line. Strings that are (null) or empty are left out.
	Options []ConfOption
	// Unknown are the lines whose words are no options of OpenSM 3.3.23, which passes over them: the word, fit to be
	// shown, and what follows it.
	Unknown []ConfOption
	// Notes are lines that OpenSM takes otherwise than they look.
	Notes []FileNote

	// values are those of Options and of what they leave out.
	values map[string]string
}

// ConfOption is an option of opensm.conf with the value that OpenSM takes: a string without quotes, TRUE or
// FALSE, a number in decimal, and keys and GUIDs as in 0x000000000000002a.
type ConfOption struct {
	Name, Value string
	// Line is where the value stands, 0 if it follows from other options.
	Line int
}

// confLine is the buffer that OpenSM reads lines of its configuration into (osm_subnet.c).
const confLine = 1023

// ReadConf reads an opensm.conf as OpenSM does (osm_subnet.c, osm_subn_parse_conf_file and
// osm_subn_verify_config): the last value of an option counts, one that does not fit its type is passed over,
// and one that is out of range becomes another, all of which is noted. An error is one of reading. O(bytes).
func ReadConf(r io.Reader, name string) (*Conf, error) {
	p := confParser{c: &Conf{Name: name, values: map[string]string{}}, given: map[string]int{}}
	pieces := newPieceReader(r, name, confLine)
	for {
		piece, err := pieces.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return p.c, err
		}
		p.line = pieces.line
		if pieces.rest {
			p.note("the line is longer than %d bytes; OpenSM takes the rest as a line of its own", confLine-1)
		}
		p.take(piece)
	}
	p.verify()
	p.c.Options = slices.DeleteFunc(p.c.Options, func(o ConfOption) bool { return o.Value == "" })
	return p.c, nil
}

type confParser struct {
	c *Conf
	// given is the index of an option in c.Options.
	given map[string]int
	line  int
}

func (p *confParser) note(format string, args ...any) {
	p.c.Notes = append(p.c.Notes, FileNote{File: p.c.Name, Line: p.line, Text: fmt.Sprintf(format, args...)})
}

// take takes a line: a word, space and a value. A # begins a comment, also in quotes.
func (p *confParser) take(line string) {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimLeft(line, " \t\n")
	end := strings.IndexAny(line, " \t\n")
	if line == "" {
		return
	}
	if end < 0 {
		end = len(line)
	}
	name := line[:end]
	d, ok := FindConfDef(name)
	if !ok {
		p.c.Unknown = append(p.c.Unknown, ConfOption{shorten([]byte(name)), cleanConfValue(line[end:]), p.line})
		return
	}
	value, why := d.Type.parse(cleanConfValue(line[end:]))
	switch {
	case why != "":
		p.note("%s: %s", name, why)
	case value == confKeep:
		p.note("%s: %q is no %s; OpenSM passes over the line", name, shorten([]byte(line[end:])), d.Type)
		return
	}
	p.set(ConfOption{cmp.Or(d.For, d.Name), value, p.line})
}

func (p *confParser) set(o ConfOption) {
	p.c.values[o.Name] = o.Value
	if i, ok := p.given[o.Name]; ok {
		p.c.Options[i] = o
		return
	}
	p.given[o.Name] = len(p.c.Options)
	p.c.Options = append(p.c.Options, o)
}

// cleanConfValue takes space and a pair of quotes off, as clean_val does.
func cleanConfValue(s string) string {
	s = strings.Trim(s, cSpace)
	if s == "" || (s[0] != '"' && s[0] != '\'') || s[len(s)-1] != s[0] {
		return s
	}
	if len(s) == 1 {
		return ""
	}
	return s[1 : len(s)-1]
}

// Get returns the value of an option that the file gives, "" where it does not.
func (c *Conf) Get(name string) string { return c.values[name] }

// Value returns the value of an option that OpenSM takes: that of the file, or the default; "" is none.
func (c *Conf) Value(name string) string {
	if v, ok := c.values[name]; ok {
		return v
	}
	d, _ := FindConfDef(name)
	return d.Default
}

// Bool is the value of an option that is TRUE or FALSE.
func (c *Conf) Bool(name string) bool { return c.Value(name) == "TRUE" }

// Uint returns the value of an option that is a number, 0 of any other.
func (c *Conf) Uint(name string) uint64 {
	v, err := strconv.ParseUint(c.Value(name), 0, 64)
	if err != nil {
		return 0
	}
	return v
}

// LIDOptions returns the options that decide which LIDs OpenSM gives.
func (c *Conf) LIDOptions() fabric.LIDOptions {
	return fabric.LIDOptions{
		LMC: uint8(c.Uint("lmc")), LMCESP0: c.Bool("lmc_esp0"),
		Reassign: c.Bool("reassign_lids"), Honor: c.Bool("honor_guid2lid_file"),
	}
}
