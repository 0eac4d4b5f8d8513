// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Conf is an opensm.conf.
type Conf struct {
	Name string
	// Options holds the options that the file sets, in the order of their first lines. The values are those that OpenSM
	// uses. Strings that are empty or (null) are omitted.
	Options []ConfOption
	// Unknown holds the lines that OpenSM 3.3.23 skips because it does not know the option. The name is the first word
	// of the line, escaped. The value is the rest of the line.
	Unknown []ConfOption
	// Notes lists lines of the file that OpenSM interprets in an unexpected way.
	Notes []FileNote

	// values holds the value of each option in the file by name, including the strings that Options omits.
	values map[string]string
}

// ConfOption is an option of opensm.conf with the value that OpenSM uses. The value is a string without quotes, TRUE or
// FALSE, a decimal number, or a key or GUID of the form 0x000000000000002a.
type ConfOption struct {
	Name, Value string
	// Line is the line number of the value, 0 if the value follows from other options.
	Line int
}

// confLine is the size of the buffer into which OpenSM reads a line of opensm.conf (osm_subnet.c).
const confLine = 1023

// ReadConf reads an opensm.conf as OpenSM does (osm_subnet.c, osm_subn_parse_conf_file and osm_subn_verify_config). If
// an option occurs twice, the last value counts. A value that does not fit the type of the option is skipped. A value
// that is out of range is replaced. Both are listed in Notes. ReadConf returns an error only if reading fails.
// O(bytes).
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
			p.note("the line is longer than %d bytes; OpenSM reads the rest as a separate line", confLine-1)
		}
		p.parse(piece)
	}
	p.verify()
	p.c.Options = slices.DeleteFunc(p.c.Options, func(o ConfOption) bool { return o.Value == "" })
	return p.c, nil
}

type confParser struct {
	c *Conf
	// given maps the name of an option to its index in c.Options.
	given map[string]int
	line  int
}

func (p *confParser) note(format string, args ...any) {
	p.c.Notes = append(p.c.Notes, FileNote{File: p.c.Name, Line: p.line, Text: fmt.Sprintf(format, args...)})
}

// parse parses a line, which has a word, space and a value. A # begins a comment, even in quotes.
func (p *confParser) parse(line string) {
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
		p.note("%s: %q is not a %s; OpenSM skips the line", name, shorten([]byte(line[end:])), d.Type)
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

// cleanConfValue removes surrounding space and one pair of quotes, like OpenSM's clean_val.
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

// Get returns the value of an option in the file, "" if the file does not set the option.
func (c *Conf) Get(name string) string { return c.values[name] }

// Value returns the value that OpenSM uses for an option: the value in the file, otherwise the default, or "" if there
// is neither.
func (c *Conf) Value(name string) string {
	if v, ok := c.values[name]; ok {
		return v
	}
	d, _ := FindConfDef(name)
	return d.Default
}

// Bool reports whether an option is TRUE.
func (c *Conf) Bool(name string) bool { return c.Value(name) == "TRUE" }

// Uint returns the value of a numeric option, 0 for any other option.
func (c *Conf) Uint(name string) uint64 {
	v, err := strconv.ParseUint(c.Value(name), 0, 64)
	if err != nil {
		return 0
	}
	return v
}
