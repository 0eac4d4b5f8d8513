// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// mcfdbsColumns is the line that follows the heading of a switch.
const mcfdbsColumns = "LID    : Out Port(s)"

// WriteMCFDBs writes multicast tables with the same bytes as OpenSM in opensm.mcfdbs (osm_dump.c, dump_mcast_routes).
// Each switch with entries has a section, with a line for each multicast LID. O(switches x multicast LIDs).
func WriteMCFDBs(w io.Writer, f *fabric.Fabric, t *fabric.MFT) error {
	return writeMCFDBs(w, f, t, func(fabric.SwitchIndex) bool { return false })
}

// WriteAllMCFDBs is like [WriteMCFDBs], but writes a section for each switch of the subnet whose table was read.
// ibdiagnet does the same.
func WriteAllMCFDBs(w io.Writer, f *fabric.Fabric, t *fabric.MFT) error {
	return writeMCFDBs(w, f, t, func(sw fabric.SwitchIndex) bool { return f.SwitchNode(sw).InSubnet && t.WasRead(sw) })
}

// writeMCFDBs writes a section for each switch that has entries or for which always returns true.
func writeMCFDBs(w io.Writer, f *fabric.Fabric, t *fabric.MFT, always func(fabric.SwitchIndex) bool) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for s := range fabric.SwitchIndex(len(f.Switches)) {
		if err := writeMCFDB(b, f, t, s, always(s)); err != nil {
			return fmt.Errorf("write multicast tables: %w", err)
		}
	}
	return flush(b, "multicast tables")
}

func writeMCFDB(b *bufio.Writer, f *fabric.Fabric, t *fabric.MFT, sw fabric.SwitchIndex, always bool) error {
	section := func(line []byte) []byte {
		return fmt.Appendf(line, "\nSwitch 0x%016x\n%s\n", f.SwitchNode(sw).GUID, mcfdbsColumns)
	}
	head := always
	if head {
		if _, err := b.Write(section(b.AvailableBuffer())); err != nil {
			return err
		}
	}
	for i := range t.LIDs() {
		mlid := uint16(fabric.FirstMLID + i)
		if !t.Any(sw, mlid) {
			continue
		}
		line := b.AvailableBuffer()
		if !head {
			head = true
			line = section(line)
		}
		line = fmt.Appendf(line, "0x%04X :", mlid)
		for port := range t.Each(sw, mlid) {
			line = fmt.Appendf(line, " 0x%03X ", port)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// MCFDBsReport describes how a file of multicast tables was read.
type MCFDBsReport struct {
	Switches, Entries int     // the number of tables and of entries, an entry for each port
	Missing           []bool  // by switch: it is in the subnet and not in the file
	UnknownSwitches   Finding // switches that are not in the subnet; they were skipped
	Repeated          Finding // lines that add to an earlier one for the same switch and LID
}

// Lines returns one sentence for each finding whose count is not 0.
func (r *MCFDBsReport) Lines() []string {
	return findingLines([]findingText{
		{&r.UnknownSwitches, "switch{|es} of the file {is|are} not in the subnet, skipped"},
		{&r.Repeated, "line{|s} add{s|} to {an earlier one|earlier ones} of the same switch and LID"},
	})
}

var mcfdbsSwitch = []byte("Switch 0x")

// ReadMCFDBs reads opensm.mcfdbs, or the file of ibdiagnet in the same format, for a subnet. OpenSM lists only switches
// with entries, so a switch that is not in its file has no entries. ibdiagnet lists all switches that it read, see
// [MCFDBsReport.Missing]. A file without a switch is an error. Errors begin with "name:line:". O(bytes + switches x
// multicast LIDs).
func ReadMCFDBs(r io.Reader, name string, f *fabric.Fabric) (*fabric.MFT, MCFDBsReport, error) {
	p := mcfdbsParser{f: f, sw: fabric.None, seen: make([]bool, len(f.Switches)), lids: map[mcEntry]bool{}}
	lines := newLineReader(r, name)
	err := lines.each(func(text []byte) error { return p.parse(bytes.TrimSpace(text), lines.ended) })
	switch {
	case err != nil:
		return nil, p.report, err
	case lines.line == 0:
		return nil, p.report, fmt.Errorf("%s:1: the file is empty, expected multicast tables", name)
	case !p.any:
		return nil, p.report, lines.fail(errors.New("no multicast table found, expected \"Switch 0x...\""))
	}
	t := fabric.NewMFT(f, p.top)
	for _, e := range p.entries {
		t.Add(e.sw, e.mlid, e.port)
	}
	p.report.Entries, p.report.Missing = len(p.entries), make([]bool, len(f.Switches))
	for sw, seen := range p.seen {
		p.report.Missing[sw] = !seen && f.SwitchNode(fabric.SwitchIndex(sw)).InSubnet
	}
	return t, p.report, nil
}

type mcEntry struct {
	sw   fabric.SwitchIndex
	mlid uint16
	port uint8
}

type mcfdbsParser struct {
	f       *fabric.Fabric
	report  MCFDBsReport
	entries []mcEntry
	lids    map[mcEntry]bool
	seen    []bool
	top     uint16
	// any is set once a section has begun. sw is the switch of the current section, None if the switch is not in the
	// subnet.
	any bool
	sw  fabric.SwitchIndex
}

func (p *mcfdbsParser) parse(text []byte, ended bool) error {
	switch {
	case len(text) == 0, text[0] == '#', bytes.HasPrefix(text, []byte("LID ")):
		return nil
	case bytes.HasPrefix(text, mcfdbsSwitch):
		return p.header(text)
	case !bytes.HasPrefix(text, hexMark):
		return fmt.Errorf("cannot parse %q, expected \"Switch 0x...\" or \"0xC000 : 0x001\"", shorten(text))
	case !p.any:
		return fmt.Errorf("an entry %q before any switch, expected \"Switch 0x...\"", shorten(text))
	case !ended:
		return errors.New("the file is truncated: no newline after an entry")
	}
	return p.line(text)
}

func (p *mcfdbsParser) header(text []byte) error {
	guid, rest, ok := parseHex(text[len(mcfdbsSwitch):], 64)
	if !ok || len(rest) > 0 {
		return fmt.Errorf("cannot parse switch GUID in %q, expected up to 16 hexadecimal digits", shorten(text))
	}
	p.any = true
	p.sw = p.f.SwitchByGUID(guid)
	switch {
	case p.sw == fabric.None:
		p.report.UnknownSwitches.add(func() string { return guidAndName(guid, "") })
	case !p.seen[p.sw]:
		p.seen[p.sw] = true
		p.report.Switches++
	}
	return nil
}

func (p *mcfdbsParser) line(text []byte) error {
	mlid, rest, ok := parseHex(text[len(hexMark):], 64)
	if !ok || mlid < fabric.FirstMLID || mlid > fabric.LastMLID {
		return fmt.Errorf("cannot parse multicast LID in %q, expected 0x%X to 0x%X", shorten(text), fabric.FirstMLID,
			fabric.LastMLID)
	}
	rest = skipSpace(rest)
	if len(rest) == 0 || rest[0] != ':' {
		return fmt.Errorf("no colon after the LID in %q, expected text like \"0xC000 : 0x001  0x00D\"", shorten(text))
	}
	ports := bytes.Fields(rest[1:])
	if len(ports) == 0 {
		return fmt.Errorf("no ports in %q, expected text like \"0xC000 : 0x001  0x00D\"", shorten(text))
	}
	for _, word := range ports {
		if err := p.port(uint16(mlid), word); err != nil {
			return err
		}
	}
	if p.sw == fabric.None {
		return nil
	}
	p.top = max(p.top, uint16(mlid))
	key := mcEntry{sw: p.sw, mlid: uint16(mlid)}
	if p.lids[key] {
		p.report.Repeated.add(func() string {
			return fmt.Sprintf("0x%04X of %s", mlid, guidAndName(p.f.SwitchNode(p.sw).GUID, p.f.SwitchNode(p.sw).Desc))
		})
	}
	p.lids[key] = true
	return nil
}

func (p *mcfdbsParser) port(mlid uint16, word []byte) error {
	digits, ok := bytes.CutPrefix(word, hexMark)
	port, rest, fits := parseHex(digits, 64)
	switch {
	case !ok || !fits || len(rest) > 0 || port > 254:
		return fmt.Errorf("cannot parse port %q, expected 0x000 to 0x0FE", shorten(word))
	case p.sw == fabric.None:
		return nil
	case port > uint64(p.f.SwitchNode(p.sw).NumPorts):
		return fmt.Errorf("the table has port %d, but its switch has %d ports", port, p.f.SwitchNode(p.sw).NumPorts)
	}
	p.entries = append(p.entries, mcEntry{p.sw, mlid, uint8(port)})
	return nil
}
