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

// WriteLIDMatrix writes hop counts as OpenSM does in opensm-lid-matrix.dump (osm_dump.c, dump_lid_matrix). Each switch
// of the subnet has a row for each switch LID that it reaches. A row has a column for each port. The first column is
// the smallest hop count of the row. O(switches^2 x ports).
func WriteLIDMatrix(w io.Writer, f *fabric.Fabric, hops Hops) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for s := range f.NumSwitches() {
		if !f.SwitchNode(s).InSubnet {
			continue
		}
		if err := writeMatrix(b, f, s, hops); err != nil {
			return fmt.Errorf("write lid matrix: %w", err)
		}
	}
	return flush(b, "lid matrix")
}

func writeMatrix(b *bufio.Writer, f *fabric.Fabric, sw fabric.SwitchIndex, hops Hops) error {
	node := f.SwitchNode(sw)
	if _, err := fmt.Fprintf(b, "Switch: guid 0x%016x\n", node.GUID); err != nil {
		return err
	}
	for lid := 1; lid <= int(f.MaxLID); lid++ {
		e := f.PortByLID(uint16(lid))
		if e == fabric.None {
			continue
		}
		through := hopsTo(f, hops, sw, uint16(lid), e)
		if through == nil || through(0) == NoHops {
			continue
		}
		line := append(b.AvailableBuffer(), "0x"...)
		line = appendHex16(line, uint16(lid), lowerHex)
		line = append(line, ':')
		for p := range int(node.NumPorts) + 1 {
			h := through(uint8(p))
			line = append(line, ' ', lowerHex[h>>4], lowerHex[h&15])
		}
		line = append(line, " # portguid 0x"...)
		line = fmt.Appendf(line, "%016x\n", f.Ports[e].GUID)
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// hopsTo returns a function that returns the hop count from a switch to a LID through a port. For port 0 it returns the
// smallest hop count. hopsTo returns nil if there are no hop counts for the LID.
func hopsTo(f *fabric.Fabric, hops Hops, sw fabric.SwitchIndex, lid uint16,
	endPort fabric.PortIndex) func(port uint8) uint8 {
	if h, ok := hops.(LIDHops); ok {
		return func(port uint8) uint8 {
			if port == 0 {
				return h.LeastTo(sw, lid)
			}
			return h.ThroughTo(sw, port, lid)
		}
	}
	dst := f.Nodes[f.Ports[endPort].Node].Switch
	if dst == fabric.None || f.Ports[endPort].LID != lid {
		return nil
	}
	return func(port uint8) uint8 {
		if port == 0 {
			return hops.Least(sw, dst)
		}
		return hops.Through(sw, port, dst)
	}
}

// LIDMatrix holds hop counts loaded from a file.
type LIDMatrix struct {
	f *fabric.Fabric
	// rows[sw] holds one byte for each pair of destination switch and port of sw. It is nil for a switch that is not in
	// the file.
	rows [][]uint8
	// others holds the rows for LIDs that are not the base LID of a switch, with one byte for each port. OpenSM keeps
	// these rows and shows them in its dumps, but they do not affect routing.
	others map[fabric.SwitchIndex]map[uint16][]uint8
}

// Least implements [Hops].
func (m *LIDMatrix) Least(sw, dst fabric.SwitchIndex) uint8 { return m.Through(sw, 0, dst) }

// Through implements [Hops].
func (m *LIDMatrix) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	n := int(m.f.SwitchNode(sw).NumPorts) + 1
	if m.rows[sw] == nil || int(port) >= n {
		return NoHops
	}
	return m.rows[sw][int(dst)*n+int(port)]
}

// LeastTo implements [LIDHops].
func (m *LIDMatrix) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 { return m.ThroughTo(sw, 0, lid) }

// ThroughTo implements [LIDHops].
func (m *LIDMatrix) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	if dst := m.switchOf(lid); dst != fabric.None {
		return m.Through(sw, port, dst)
	}
	row := m.others[sw][lid]
	if int(port) >= len(row) {
		return NoHops
	}
	return row[port]
}

// switchOf returns the switch whose base LID is lid, None if there is no such switch.
func (m *LIDMatrix) switchOf(lid uint16) fabric.SwitchIndex {
	e := m.f.PortByLID(lid)
	if e == fabric.None || m.f.Ports[e].LID != lid {
		return fabric.None
	}
	return m.f.Nodes[m.f.Ports[e].Node].Switch
}

// row returns the slice of hop counts from a switch to a LID, one for each port. The first one is the smallest hop
// count.
func (m *LIDMatrix) row(sw fabric.SwitchIndex, lid uint16) []uint8 {
	n := int(m.f.SwitchNode(sw).NumPorts) + 1
	if dst := m.switchOf(lid); dst != fabric.None {
		return m.rows[sw][int(dst)*n : (int(dst)+1)*n]
	}
	if m.others == nil {
		m.others = map[fabric.SwitchIndex]map[uint16][]uint8{}
	}
	if m.others[sw] == nil {
		m.others[sw] = map[uint16][]uint8{}
	}
	if m.others[sw][lid] == nil {
		m.others[sw][lid] = bytes.Repeat([]byte{NoHops}, n)
	}
	return m.others[sw][lid]
}

// MatrixReport describes how a lid matrix was loaded.
type MatrixReport struct {
	Rows            int     // the number of rows that were loaded
	UnknownSwitches Finding // switches that are not in the subnet; their rows were skipped
	MissingSwitches Finding // switches of the subnet that are not in the file
	NoSwitchLID     Finding // rows for LIDs that are not the base LID of a switch; they affect dumps only
	// Moved counts rows whose port GUID now has another LID. As in OpenSM, the rows apply to the LID in the file, so
	// they are wrong.
	Moved   Finding
	TooLong Finding // rows with more columns than the switch has ports; the others were skipped
	Ignored Finding // lines that were not recognized
}

// Lines returns one sentence for each finding whose count is not 0.
func (r *MatrixReport) Lines() []string {
	return findingLines([]findingText{
		{&r.UnknownSwitches, "switch{|es} of the file {is|are} not in the subnet, skipped"},
		{&r.MissingSwitches, "switch{|es} of the subnet {is|are} not in the file"},
		{
			&r.NoSwitchLID, "row{|s} {is|are} for {a LID|LIDs} that no switch has; as in OpenSM {it affects|they " +
				"affect} dumps only",
		},
		{&r.Moved, "row{|s} {is for a switch that has another LID|are for switches that have other LIDs} now; " +
			"a lid matrix is not remapped"},
		{&r.TooLong, "row{|s} {has|have} more columns than {its|their} switch has ports"},
		{&r.Ignored, "line{|s} {was|were} not recognized"},
	})
}

// ReadLIDMatrix loads opensm-lid-matrix.dump for a subnet as OpenSM does with option -M (osm_ucast_file.c,
// do_lid_matrix_file_load). The rows apply to the LIDs in the file, even if ports have other LIDs now. ReadLIDMatrix
// refuses everything that OpenSM refuses, and a file without a switch. Errors begin with "name:line:". O(bytes +
// switches^2 x ports).
func ReadLIDMatrix(r io.Reader, name string, f *fabric.Fabric) (*LIDMatrix, MatrixReport, error) {
	p := matrixParser{m: &LIDMatrix{f: f, rows: make([][]uint8, len(f.Switches))}, sw: fabric.None}
	lines := newLineReader(r, name)
	err := lines.each(func(text []byte) error { return p.parse(text, lines.line) })
	if err != nil {
		return nil, p.report, err
	}
	switch {
	case lines.line == 0:
		return nil, p.report, fmt.Errorf("%s:1: the file is empty, expected a lid matrix", name)
	case !p.headers:
		return nil, p.report, lines.fail(errors.New("no lid matrix found, expected \"Switch: guid 0x...\""))
	case !lines.ended:
		return nil, p.report, lines.fail(errors.New("the file is truncated: the last line does not end"))
	}
	for s, n := range f.Switches {
		if f.Nodes[n].InSubnet && p.m.rows[s] == nil {
			p.report.MissingSwitches.add(func() string { return guidAndName(f.Nodes[n].GUID, f.Nodes[n].Desc) })
		}
	}
	return p.m, p.report, nil
}

type matrixParser struct {
	m       *LIDMatrix
	report  MatrixReport
	headers bool
	sw      fabric.SwitchIndex // the switch of the following rows, None if they are skipped
}

func (p *matrixParser) parse(line []byte, number int) error {
	text := skipSpace(line)
	switch {
	case len(text) == 0 || text[0] == '#':
		return nil
	case bytes.HasPrefix(text, []byte("Switch")):
		return p.header(text)
	case bytes.HasPrefix(text, hexMark) && p.sw == fabric.None:
		return nil
	case bytes.HasPrefix(text, hexMark):
		return p.row(text[len(hexMark):], number)
	}
	p.report.Ignored.add(func() string { return fmt.Sprintf("line %d: %s", number, shorten(text)) })
	return nil
}

func (p *matrixParser) header(text []byte) error {
	_, rest, ok := bytes.Cut(text, switchGUIDMark)
	if !ok {
		return fmt.Errorf("cannot parse switch definition %q, expected \"Switch: guid 0x...\"", shorten(text))
	}
	guid, rest, ok := parseHex(rest, 64)
	if !ok || (len(rest) > 0 && !isCSpace(rest[0])) {
		return fmt.Errorf("cannot parse switch GUID in %q, expected up to 16 hexadecimal digits", shorten(text))
	}
	f := p.m.f
	p.headers = true
	p.sw = f.SwitchByGUID(guid)
	if p.sw != fabric.None && !f.SwitchNode(p.sw).InSubnet {
		p.sw = fabric.None
	}
	if p.sw == fabric.None {
		p.report.UnknownSwitches.add(func() string { return guidAndName(guid, "") })
		return nil
	}
	if p.m.rows[p.sw] == nil {
		p.m.rows[p.sw] = bytes.Repeat([]byte{NoHops}, len(f.Switches)*(int(f.SwitchNode(p.sw).NumPorts)+1))
	}
	return nil
}

func (p *matrixParser) row(text []byte, number int) error {
	lid, rest, ok := parseHex(text, 16)
	if !ok || (len(rest) > 0 && rest[0] != ':' && !isCSpace(rest[0])) {
		return fmt.Errorf("cannot parse LID in \"0x%s\", expected text like 0x001f", shorten(text))
	}
	var hops [256]uint8
	columns, rest, err := parseHops(&hops, rest)
	if err != nil {
		return err
	}
	f := p.m.f
	e := f.PortByLID(uint16(lid))
	isSwitch := p.m.switchOf(uint16(lid)) != fabric.None
	if !isSwitch {
		p.report.NoSwitchLID.add(func() string { return fmt.Sprintf("LID %d on line %d", lid, number) })
		if e == fabric.None {
			return nil
		}
	} else {
		p.checkGUID(rest, e, number)
	}
	n := int(f.SwitchNode(p.sw).NumPorts) + 1
	if columns > n {
		p.report.TooLong.add(func() string {
			return fmt.Sprintf("%d columns for %d ports on line %d", columns, n, number)
		})
		columns = n
	}
	into := p.m.row(p.sw, uint16(lid))
	copy(into, hops[:columns])
	for _, h := range hops[:columns] {
		into[0] = min(into[0], h)
	}
	if isSwitch {
		p.report.Rows++
	}
	return nil
}

// parseHops parses the columns of a row up to a comment. It returns the number of columns.
func parseHops(hops *[256]uint8, text []byte) (columns int, rest []byte, err error) {
	text = bytes.TrimLeft(text, cSpace+":")
	for columns < len(hops) && len(text) > 0 && text[0] != '#' {
		v, after, ok := parseHex(text, 64)
		if !ok || v > 0xff {
			return 0, nil, fmt.Errorf("cannot parse hop count in %q, expected 00 to ff", shorten(text))
		}
		hops[columns] = uint8(v)
		columns++
		text = skipSpace(after)
	}
	return columns, text, nil
}

func (p *matrixParser) checkGUID(comment []byte, endPort fabric.PortIndex, number int) {
	_, rest, ok := bytes.Cut(comment, portGUIDMark)
	if !ok {
		return
	}
	if guid, _, ok := parseHex(rest, 64); ok && guid != p.m.f.Ports[endPort].GUID {
		p.report.Moved.add(func() string {
			return fmt.Sprintf("LID %d on line %d was that of port GUID 0x%016x, is that of %s",
				p.m.f.Ports[endPort].LID, number, guid, p.m.f.PortName(endPort))
		})
	}
}
