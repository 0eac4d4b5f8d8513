// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The defaults of OpenSM for a torus-2QoS.conf (osm_torus.c).
const (
	DefaultGroupPorts = 16
	DefaultMaxChanges = 32
)

// maxOrderedPorts is the size of OpenSM's table for the port order.
const maxOrderedPorts = 255

// maxTorusPlaces is the maximum number of switch positions of a torus. A subnet has at most 49,151 LIDs.
const maxTorusPlaces = 1 << 20

// TorusConf is the content of a torus-2QoS.conf (torus-2QoS.conf(5)). It states the shape of a torus or mesh. It also
// names the seed switches from which OpenSM finds the torus in a fabric. The dimensions are x, y, z.
type TorusConf struct {
	Name string
	// Radix is the number of switches along each dimension, 1 for a dimension that is not used.
	Radix [3]uint32
	// Mesh is set for each dimension that does not wrap around. A dimension of radix 2 never wraps around.
	Mesh [3]bool
	// Seeds lists the seeds in the order in which OpenSM tries them. OpenSM uses the first seed whose switches are all
	// present.
	Seeds []TorusSeed
	// GroupPorts is the maximum number of parallel links. It also is the maximum number of hosts of a switch plus 1.
	GroupPorts uint32
	// PortOrder lists the switch ports whose hosts are routed first, without duplicates. The other ports follow in
	// ascending order.
	PortOrder []uint8
	// MaxChanges is the maximum number of changes of the torus that OpenSM reports.
	MaxChanges uint32
	// Bad lists the lines for which OpenSM's engine refuses to route. Notes lists the lines that OpenSM interprets in
	// an unexpected way.
	Bad, Notes []FileNote
}

// TorusSeed is a switch with its neighbors. One of the two links along a dimension suffices, unless four switches form
// a ring in the dimension.
type TorusSeed struct {
	// Plus and Minus are the links of the seed switch in the positive and the negative direction, by dimension.
	Plus, Minus [3]TorusLink
	// Dateline is the coordinate at which each dimension wraps around, relative to the seed switch.
	Dateline [3]int32
}

// TorusLink is a link from one switch to another. It contains their node GUIDs.
type TorusLink struct {
	From, To uint64
	Given    bool
}

// Err returns an error about the lines that OpenSM's engine refuses, nil if there are none.
func (c *TorusConf) Err() error {
	var all []error
	for _, n := range c.Bad {
		all = append(all, errors.New(n.String()))
	}
	return errors.Join(all...)
}

// ReadTorusConf reads a torus-2QoS.conf as OpenSM does (osm_torus.c, parse_config). Each line has a keyword and its
// words. Further words are ignored. Invalid lines are collected in Bad. ReadTorusConf returns an error only if reading
// fails. O(bytes).
func ReadTorusConf(r io.Reader, name string) (*TorusConf, error) {
	p := torusParser{c: &TorusConf{Name: name, GroupPorts: DefaultGroupPorts, MaxChanges: DefaultMaxChanges}}
	lines := bufio.NewReader(r)
	for {
		text, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return p.c, fmt.Errorf("read %s: %w", name, err)
		}
		p.line++
		text, _, _ = strings.Cut(text, "\x00")
		p.words = strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\t\r", r) })
		if len(p.words) > 0 {
			p.parse()
		}
		if err == io.EOF {
			return p.c, nil
		}
	}
}

type torusParser struct {
	c     *TorusConf
	line  int
	words []string
	// sized is set once the size has been read. A second size is an error.
	sized bool
}

func (p *torusParser) bad(format string, args ...any) {
	p.c.Bad = append(p.c.Bad, FileNote{File: p.c.Name, Line: p.line, Text: fmt.Sprintf(format, args...)})
}

func (p *torusParser) note(format string, args ...any) {
	p.c.Notes = append(p.c.Notes, FileNote{File: p.c.Name, Line: p.line, Text: fmt.Sprintf(format, args...)})
}

func (p *torusParser) parse() {
	keyword := p.words[0]
	p.words = p.words[1:]
	switch keyword {
	case "torus":
		p.size()
	case "mesh":
		p.c.Mesh = [3]bool{true, true, true}
		p.size()
	case "port_order":
		p.portOrder()
	case "next_seed":
		p.c.Seeds = append(p.c.Seeds, TorusSeed{})
	case "portgroup_max_ports":
		p.number(keyword, &p.c.GroupPorts)
	case "max_changes":
		p.number(keyword, &p.c.MaxChanges)
	default:
		p.direction(keyword)
	}
}

// direction parses a line of a seed: xp_link, zm_link, y_dateline and so on.
func (p *torusParser) direction(keyword string) {
	for d, axis := range "xyz" {
		switch keyword {
		case string(axis) + "p_link":
			p.link(keyword, &p.seed().Plus[d])
			return
		case string(axis) + "m_link":
			p.link(keyword, &p.seed().Minus[d])
			return
		case string(axis) + "_dateline":
			p.dateline(keyword, d)
			return
		}
	}
	if keyword[0] != '#' {
		p.bad("%q is not a keyword of torus-2QoS.conf (ERR 4E12)", shorten([]byte(keyword)))
	}
}

// seed returns the current seed.
func (p *torusParser) seed() *TorusSeed {
	if len(p.c.Seeds) == 0 {
		p.c.Seeds = append(p.c.Seeds, TorusSeed{})
	}
	return &p.c.Seeds[len(p.c.Seeds)-1]
}

func (p *torusParser) size() {
	if p.sized {
		p.bad("the size is set twice (ERR 4E13)")
		return
	}
	places := uint64(1)
	for d := range p.c.Radix {
		if d == len(p.words) {
			p.bad("expected the number of switches along x, y and z, 1 for an unused dimension (ERR 4E13)")
			return
		}
		v, rest, _ := cUnsigned(p.words[d])
		p.c.Radix[d] = uint32(v)
		switch {
		case rest == p.words[d]:
			p.note("%q is not a size; OpenSM reads 0", shorten([]byte(rest)))
		case rest == "":
		case rest[0]|0x20 == 't':
			p.c.Mesh[d] = false
		case rest[0]|0x20 == 'm':
			p.c.Mesh[d] = true
		default:
			p.note("%q after the size is ignored, expected t or m", shorten([]byte(rest)))
		}
		if p.c.Radix[d] == 2 {
			p.c.Mesh[d] = true
		}
		if places *= uint64(p.c.Radix[d]); places > maxTorusPlaces {
			p.bad("more than %d switches, for which OpenSM may lack memory and crash", maxTorusPlaces)
			return
		}
	}
	p.sized = true
}

func (p *torusParser) number(keyword string, to *uint32) {
	if len(p.words) == 0 {
		p.bad("%s: expected a number (ERR 4E13)", keyword)
		return
	}
	v, rest, _ := cUnsigned(p.words[0])
	*to = uint32(v)
	if rest != "" {
		p.note("%s: OpenSM reads %q as %d", keyword, shorten([]byte(p.words[0])), *to)
	}
}

func (p *torusParser) link(keyword string, to *TorusLink) {
	if len(p.words) < 2 {
		p.bad("%s: expected the node GUIDs of two switches (ERR 4E13)", keyword)
		return
	}
	*to = TorusLink{From: p.guid(keyword, p.words[0]), To: p.guid(keyword, p.words[1]), Given: true}
}

func (p *torusParser) guid(keyword, word string) uint64 {
	guid, rest, _ := cUnsigned(word)
	if rest != "" || !strings.HasPrefix(strings.ToLower(word), "0x") {
		p.note("%s: OpenSM reads %q as the GUID 0x%x, expected 0x and up to 16 digits", keyword,
			shorten([]byte(word)), guid)
	}
	return guid
}

func (p *torusParser) dateline(keyword string, d int) {
	if len(p.words) == 0 {
		p.bad("%s: expected a position (ERR 4E13)", keyword)
		return
	}
	v, rest := cSigned(p.words[0])
	at, radix := int32(v), int32(p.c.Radix[d])
	p.seed().Dateline[d] = at
	if rest != "" {
		p.note("%s: OpenSM reads %q as %d", keyword, shorten([]byte(p.words[0])), at)
	}
	switch {
	case radix == 0:
		p.bad("%s: the size must be set first (ERR 4E10)", keyword)
	case at >= radix || (at < 0 && at <= -radix):
		p.bad("%s: %d is out of range, expected %d to %d (ERR 4E10)", keyword, at, 1-radix, radix-1)
	}
}

// portOrder parses an order of ports. If the file has two orders, the last one counts.
func (p *torusParser) portOrder() {
	p.c.PortOrder = nil
	var listed [maxOrderedPorts]bool
	for _, w := range p.words {
		if len(p.c.PortOrder) == maxOrderedPorts {
			return
		}
		v, rest, _ := cUnsigned(w)
		if rest != "" {
			p.note("port_order: OpenSM reads %q as port %d", shorten([]byte(w)), uint32(v))
		}
		switch port := uint32(v); {
		case port >= maxOrderedPorts:
			p.bad("port_order: %d is not a port number, expected 0 to %d; OpenSM would write past its table", port,
				maxOrderedPorts-1)
			return
		case !listed[port]:
			listed[port] = true
			p.c.PortOrder = append(p.c.PortOrder, uint8(port))
		}
	}
}

// WriteTorusConf writes a torus-2QoS.conf. [ReadTorusConf] and OpenSM read the values of c from it.
func WriteTorusConf(w io.Writer, c *TorusConf) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "torus")
	for d, n := range c.Radix {
		fmt.Fprintf(b, " %d%s", n, map[bool]string{false: "t", true: "m"}[c.Mesh[d]])
	}
	fmt.Fprintln(b)
	if c.GroupPorts != DefaultGroupPorts {
		fmt.Fprintf(b, "portgroup_max_ports %d\n", c.GroupPorts)
	}
	if c.MaxChanges != DefaultMaxChanges {
		fmt.Fprintf(b, "max_changes %d\n", c.MaxChanges)
	}
	if len(c.PortOrder) > 0 {
		fmt.Fprintln(b, "port_order", strings.Trim(fmt.Sprint(c.PortOrder), "[]"))
	}
	for i, s := range c.Seeds {
		if i > 0 || s == (TorusSeed{}) {
			fmt.Fprint(b, "\nnext_seed\n")
		}
		for d, axis := range "xyz" {
			writeTorusLink(b, axis, 'p', s.Plus[d])
			writeTorusLink(b, axis, 'm', s.Minus[d])
			if s.Dateline[d] != 0 {
				fmt.Fprintf(b, "%c_dateline %d\n", axis, s.Dateline[d])
			}
		}
	}
	return flush(b, "torus-2QoS.conf")
}

func writeTorusLink(w io.Writer, axis, sign rune, l TorusLink) {
	if l.Given {
		fmt.Fprintf(w, "%c%c_link 0x%x 0x%x\n", axis, sign, l.From, l.To)
	}
}
