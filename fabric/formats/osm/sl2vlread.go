// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// maxSL2VLs is the maximum number of different tables in a file. [fabric.SL2VL] can hold a few more.
const maxSL2VLs = 1 << 15

// SL2VLReport describes how a file of SL2VL tables was read.
type SL2VLReport struct {
	Tables          int     // the number of tables that were read
	UnknownPorts    Finding // ports that are not in the subnet; their tables were skipped
	MissingSwitches Finding // switches of the subnet that are not in the file; they map every SL to VL 0
}

// Lines returns one sentence for each finding whose count is not 0.
func (r *SL2VLReport) Lines() []string {
	return findingLines([]findingText{
		{&r.UnknownPorts, "port{|s} of the file {is|are} not in the subnet, skipped"},
		{&r.MissingSwitches, "switch{|es} of the subnet {is|are} not in the file"},
	})
}

// ReadSL2VL reads opensm-sl2vl.dump for a subnet. In a table that the file lacks, all SLs map to VL 0. Errors begin
// with "name:line:". O(bytes + switches x ports^2).
func ReadSL2VL(r io.Reader, name string, f *fabric.Fabric) (*fabric.SL2VL, SL2VLReport, error) {
	p := sl2vlParser{f: f, t: fabric.NewSL2VL(f), seen: make([]bool, len(f.Switches)), different: map[fabric.VLs]bool{},
		port: fabric.None}
	lines := newLineReader(r, name)
	err := lines.each(func(text []byte) error { return p.parse(bytes.TrimSpace(text)) })
	if err != nil {
		return nil, p.report, err
	}
	switch {
	case lines.line == 0:
		return nil, p.report, fmt.Errorf("%s:1: the file is empty, expected SL2VL tables", name)
	case !p.any:
		return nil, p.report,
			lines.fail(errors.New("no SL2VL table found, expected \"Switch 0x..., base LID N, ...\""))
	case p.open || !lines.ended:
		return nil, p.report, lines.fail(errors.New("the file is truncated: no line of dashes after the last table"))
	}
	for s, n := range f.Switches {
		if f.Nodes[n].InSubnet && !p.seen[s] {
			p.report.MissingSwitches.add(func() string { return guidAndName(f.Nodes[n].GUID, f.Nodes[n].Desc) })
		}
	}
	return p.t, p.report, nil
}

type sl2vlParser struct {
	f      *fabric.Fabric
	t      *fabric.SL2VL
	report SL2VLReport
	seen   []bool
	// different holds the tables so far.
	different map[fabric.VLs]bool
	// any is set once a section has begun. open is set until the current section ends. port is the end port of the
	// current section, None if the subnet does not have it.
	any, open bool
	rules     int
	port      fabric.PortIndex
}

var sl2vlDashes = []byte("#---")

func (p *sl2vlParser) parse(text []byte) error {
	switch {
	case bytes.HasPrefix(text, sl2vlDashes):
		if p.rules++; p.open && p.rules == 2 {
			p.open = false
		}
		return nil
	case len(text) == 0 || text[0] == '#':
		return nil
	case text[0] >= '0' && text[0] <= '9':
		return p.row(text)
	}
	return p.header(text)
}

func (p *sl2vlParser) header(text []byte) error {
	if p.open {
		return fmt.Errorf("unexpected %q, expected a line of dashes that ends the section before", shorten(text))
	}
	kind, rest, ok := bytes.Cut(text, hexMark)
	if !ok {
		return fmt.Errorf("cannot parse %q, expected \"Switch 0x..., base LID N, ...\"", shorten(text))
	}
	guid, rest, ok := parseHex(rest, 64)
	if !ok || !bytes.HasPrefix(rest, []byte(", base LID ")) {
		return fmt.Errorf("cannot parse port GUID in %q, expected \"%s0x..., base LID N, ...\"", shorten(text),
			shorten(kind))
	}
	p.any, p.open, p.rules = true, true, 0
	if p.port = p.f.PortByGUID(guid); p.port == fabric.None {
		p.report.UnknownPorts.add(func() string { return guidAndName(guid, "") })
		return nil
	}
	if sw := p.f.Nodes[p.f.Ports[p.port].Node].Switch; sw != fabric.None {
		p.seen[sw] = true
	}
	return nil
}

func (p *sl2vlParser) row(text []byte) error {
	if !p.open {
		return fmt.Errorf("a table %q before any port, expected \"Switch 0x..., base LID N, ...\"", shorten(text))
	}
	in, rest, ok := parseDecimal(text)
	out, rest, ok2 := parseDecimal(skipSpace(rest))
	rest = skipSpace(rest)
	if !ok || !ok2 || in > 254 || out > 254 || len(rest) == 0 || rest[0] != ':' {
		return fmt.Errorf("cannot parse ports in %q, expected text like \"1   2   : 0  1 ...\"", shorten(text))
	}
	var vls fabric.VLs
	rest = rest[1:]
	for sl := range vls {
		vl, after, ok := parseDecimal(skipSpace(rest))
		if !ok || vl > 15 {
			return fmt.Errorf("cannot parse the VL of SL %d in %q, expected 0 to 15", sl, shorten(text))
		}
		vls[sl], rest = uint8(vl), after
	}
	if rest = skipSpace(rest); len(rest) > 0 {
		return fmt.Errorf("unexpected %q after 16 VLs", shorten(rest))
	}
	return p.set(in, out, vls)
}

func (p *sl2vlParser) set(in, out int, vls fabric.VLs) error {
	if p.port == fabric.None {
		return nil
	}
	port := &p.f.Ports[p.port]
	n := &p.f.Nodes[port.Node]
	switch {
	case !n.IsSwitch() && (in != 0 || out != 0):
		return fmt.Errorf("the table of a CA or router has ports %d and %d, expected 0 and 0", in, out)
	case !n.IsSwitch():
		out = int(port.Num)
	case in > int(n.NumPorts) || out > int(n.NumPorts):
		return fmt.Errorf("the table has ports %d and %d, but its switch has %d ports", in, out, n.NumPorts)
	}
	if p.different[vls] = true; len(p.different) > maxSL2VLs {
		return fmt.Errorf("more than %d different tables", maxSL2VLs)
	}
	p.report.Tables++
	p.t.Set(port.Node, uint8(in), uint8(out), vls)
	return nil
}
