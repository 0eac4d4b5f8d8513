// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
)

// RouteFile is the content of a file of unicast forwarding tables. It does not refer to a subnet.
type RouteFile struct {
	// Name is the file's name, for messages.
	Name string

	sections []routeSection
	// guids holds the port GUIDs in the file. Entries refer to a GUID by its index.
	guids []uint64
	runs  []lineRun
	// entries is the number of entries in all sections.
	entries int
	// memory is the approximate size of all sections in bytes.
	memory    int
	multicast Finding
	lost      Finding
	ignored   Finding
	early     Finding
	private   Finding
}

// lineRun gives the line number of an entry. Entries up to the next run are on consecutive lines.
type lineRun struct{ entry, line int }

// Switches returns the number of tables in the file.
func (r *RouteFile) Switches() int { return len(r.sections) }

// Entries returns the number of entries in all tables.
func (r *RouteFile) Entries() int { return r.entries }

// lineOf returns the line number of an entry in the file.
func (r *RouteFile) lineOf(entry int) int {
	i, found := slices.BinarySearchFunc(r.runs, entry, func(run lineRun, e int) int { return run.entry - e })
	if !found {
		i--
	}
	return r.runs[i].line + entry - r.runs[i].entry
}

// ReadLFTs reads opensm-lfts.dump and the output of ibroute and dump_fts like OpenSM's file engine (osm_ucast_file.c).
// It skips lines that OpenSM ignores. ReadLFTs refuses everything that OpenSM refuses, and also multicast LIDs, ports
// above 255, a file without a table, and a truncated file. Errors begin with "name:line:". O(bytes); uses 8 bytes per
// entry.
func ReadLFTs(r io.Reader, name string) (*RouteFile, error) {
	p := routeParser{file: &RouteFile{Name: name}, guidIndex: map[uint64]int32{}}
	lines := newLineReader(r, name)
	err := lines.each(func(text []byte) error {
		if err := p.parse(text, lines.line, lines.ended); err != nil {
			return err
		}
		return p.repeated(lines)
	})
	if err != nil {
		return nil, err
	}
	if err := p.finish(lines.line); err != nil {
		return nil, err
	}
	return p.file, nil
}

// The limits of the memory for a file. 3,000 tables of 48 K entries take 1,296 MB if no two tables have the same LIDs.
// Tables take more memory while they grow.
const (
	maxMemory  = 1536 << 20
	maxEntries = 1 << 17 // limit for the entries of a single table

	targetMemory  = 8 // of an entry with another LID than in the previous table; the port takes another byte
	sectionMemory = 300
	runMemory     = 40
	guidMemory    = 80
)

// checkMemory returns an error if the file takes too much memory.
func (p *routeParser) checkMemory() error {
	f := p.file
	memory := f.memory + len(f.runs)*runMemory + len(f.guids)*guidMemory
	if p.now != nil {
		memory += p.now.memory()
		if len(p.now.ports) >= maxEntries {
			return fmt.Errorf("more than %d entries in one table", maxEntries)
		}
	}
	if memory > maxMemory {
		return fmt.Errorf("too large: %d tables with %d entries take more than %d MB", len(f.sections), f.entries,
			maxMemory>>20)
	}
	return nil
}

// add adds an entry to the current table.
func (p *routeParser) add(e routeEntry, line int) error {
	p.now.add(e)
	return p.added(1, line)
}

// added records that n entries on consecutive lines were added to the current table. The last entry is on the line with
// the number line.
func (p *routeParser) added(n, line int) error {
	to := p.file.entries + len(p.now.ports)
	from := to - n
	if first := line - n + 1; from == 0 || first != p.lastLine+1 {
		p.file.runs = append(p.file.runs, lineRun{from, first})
	}
	p.lastLine = line
	const checkEvery = 1 << 12
	if from/checkEvery == to/checkEvery {
		return nil
	}
	return p.checkMemory()
}

type routeParser struct {
	file *RouteFile
	// now is the current section. It is nil before the first section and in multicast tables.
	now       *routeSection
	mcast     bool
	private   bool // the current table is a private table, not table 0
	lastLine  int
	guidIndex map[uint64]int32
	// known caches, by LID, the latest port GUID and its index. Most sections have the same port GUIDs.
	known [1 << 16]struct {
		guid  uint64
		index int32
	}
	repeats repeats
	arena   portArena
}

var (
	unicastHeader   = []byte("Unicast lids")
	multicastHeader = []byte("Multicast mlids")
	switchGUIDMark  = []byte(" guid 0x")
	portGUIDMark    = []byte(" portguid 0x")
	hexMark         = []byte("0x")
)

func (p *routeParser) parse(line []byte, number int, ended bool) error {
	text := skipSpace(line)
	switch {
	case len(text) == 0 || text[0] == '#':
		return nil
	case bytes.HasPrefix(text, multicastHeader):
		p.closeSection()
		p.mcast = true
		p.file.multicast.add(func() string { return fmt.Sprintf("line %d: %s", number, shorten(text)) })
		return nil
	case bytes.HasPrefix(text, unicastHeader):
		return p.header(text, number, ended)
	case p.mcast:
		return nil
	case bytes.HasPrefix(text, hexMark) && p.now == nil:
		p.file.early.add(func() string { return fmt.Sprintf("line %d: %s", number, shorten(text)) })
		return nil
	case bytes.HasPrefix(text, hexMark):
		return p.entry(text, number, ended)
	case isTrailer(text):
		if p.now != nil {
			p.now.ended = true
		}
		return nil
	case !isHeading(text):
		p.file.ignored.add(func() string { return fmt.Sprintf("line %d: %s", number, shorten(text)) })
	}
	return nil
}

func (p *routeParser) closeSection() {
	if p.now == nil {
		return
	}
	p.now.close()
	p.file.sections = append(p.file.sections, *p.now)
	p.file.memory += sectionMemory + p.now.memory()
	p.file.entries += len(p.now.ports)
	p.now = nil
}

// begin begins the table of a switch. The table is expected to have the same LIDs as the table before it.
func (p *routeParser) begin(guid uint64, name string, line int) {
	s := &routeSection{guid: guid, name: name, line: line, first: p.file.entries, shared: true}
	if n := len(p.file.sections); n > 0 {
		before := &p.file.sections[n-1]
		s.targets, s.ports = before.targets, p.arena.alloc(len(before.ports))
	}
	p.now = s
}

func (p *routeParser) header(text []byte, number int, ended bool) error {
	p.closeSection()
	p.mcast = false
	before, rest, ok := bytes.Cut(text, switchGUIDMark)
	if !ok {
		return fmt.Errorf("cannot parse switch definition %q, expected \"Unicast lids ... guid 0x...\"", shorten(text))
	}
	guid, rest, ok := parseHex(rest, 64)
	if !ok || (len(rest) > 0 && !isCSpace(rest[0])) || (len(rest) == 0 && !ended) {
		return fmt.Errorf("cannot parse switch GUID in %q, expected up to 16 hexadecimal digits and a space",
			shorten(text))
	}
	if end, ok := lostLID(before); ok {
		p.file.lost.add(func() string { return fmt.Sprintf("LID %d of %s", end, guidAndName(guid, sectionName(rest))) })
	}
	p.begin(guid, sectionName(rest), number)
	return p.checkMemory()
}

func (p *routeParser) entry(text []byte, number int, ended bool) error {
	lid, rest, ok := parseHex(text[len(hexMark):], 64)
	if !ok || len(rest) == 0 || !isCSpace(rest[0]) {
		return fmt.Errorf("cannot parse LID in \"%s\", expected text like 0x001f", shorten(text))
	}
	if lid > fabric.MaxUnicastLID {
		return fmt.Errorf("LID %d (0x%x) is not a unicast LID, expected at most 0x%x", lid, lid, fabric.MaxUnicastLID)
	}
	rest = skipSpace(rest)
	port, rest, ok := parseDecimal(rest)
	if !ok || (len(rest) > 0 && !isCSpace(rest[0])) {
		return fmt.Errorf("cannot parse port in \"%s\", expected a decimal number after the LID", shorten(text))
	}
	if !ended {
		return errors.New("the file is truncated: no newline after an entry")
	}
	if port > 255 {
		return fmt.Errorf("port %d is out of range, expected 0 to 254", port)
	}
	e := routeEntry{target{guid: p.portGUID(uint16(lid), rest), lid: uint16(lid)}, uint8(port)}
	p.repeats.remember(text, e)
	return p.add(e, number)
}

// portGUID returns the index of the port GUID in the text after an entry's port. It returns -1 if the text has no port
// GUID. As in OpenSM, the GUID must end with a space or colon. So ibroute's text "path #2 out of 4" is not a GUID.
func (p *routeParser) portGUID(lid uint16, text []byte) int32 {
	_, rest, ok := bytes.Cut(text, portGUIDMark)
	if !ok {
		return -1
	}
	guid, rest, ok := parseHex(rest, 64)
	if !ok || guid == 0 || (len(rest) > 0 && !isCSpace(rest[0]) && rest[0] != ':') {
		return -1
	}
	known := &p.known[lid]
	if known.guid == guid {
		return known.index
	}
	i, ok := p.guidIndex[guid]
	if !ok {
		i = int32(len(p.file.guids))
		p.guidIndex[guid] = i
		p.file.guids = append(p.file.guids, guid)
	}
	known.guid, known.index = guid, i
	return i
}

// finish checks the whole file. The tools end every table with "N lids dumped". If some table has this line and the
// last table does not, the file is truncated.
func (p *routeParser) finish(lines int) error {
	p.closeSection()
	f := p.file
	switch {
	case lines == 0:
		return fmt.Errorf("%s:1: the file is empty, expected forwarding tables", f.Name)
	case len(f.sections) == 0 && f.multicast.Count > 0:
		return fmt.Errorf("%s:%d: only multicast tables (%s), expected unicast ones", f.Name, lines,
			f.multicast.Examples[0])
	case len(f.sections) == 0:
		return fmt.Errorf("%s:%d: no forwarding table found, expected \"Unicast lids ... guid 0x...\"",
			f.Name, lines)
	}
	last := &f.sections[len(f.sections)-1]
	if !last.ended && slices.ContainsFunc(f.sections, func(s routeSection) bool { return s.ended }) {
		return fmt.Errorf("%s:%d: the file is truncated: the table of switch 0x%016x, which begins on line %d, does "+
			"not "+
			"end with \"lids dumped\"", f.Name, lines, last.guid, last.line)
	}
	return nil
}

// isTrailer reports whether a line is the end of a table, such as "5 lids dumped" or "5 valid lids dumped".
func isTrailer(text []byte) bool {
	_, rest, ok := parseDecimal(text)
	if !ok {
		return false
	}
	rest = bytes.TrimPrefix(skipSpace(rest), []byte("valid "))
	return bytes.HasPrefix(rest, []byte("lids dumped"))
}

// cSpace holds the space characters of C's function isspace.
const cSpace = " \t\n\v\f\r"

func isCSpace(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

// parseHex parses the hexadecimal digits at the beginning of b. The number must fit in the given number of bits.
func parseHex(b []byte, bits int) (v uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b); i++ {
		d := hexDigit(b[i])
		if d > 15 {
			break
		}
		if v>>(bits-4) != 0 {
			return 0, b, false
		}
		v = v<<4 | uint64(d)
	}
	return v, b[i:], i > 0
}

func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xff
}

// parseDecimal parses up to nine decimal digits at the beginning of b.
func parseDecimal(b []byte) (v int, rest []byte, ok bool) {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		if i == 9 {
			return 0, b, false
		}
		v = 10*v + int(b[i]-'0')
		i++
	}
	return v, b[i:], i > 0
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && isCSpace(b[0]) {
		b = b[1:]
	}
	return b
}

// shorten returns a part of a line for use in a message: escaped and at most 60 bytes long.
func shorten(text []byte) string {
	text = bytes.TrimSpace(text)
	if len(text) > 60 {
		return fabric.Escape(string(text[:57])) + "..."
	}
	return fabric.Escape(string(text))
}

// routeSection is the table of one switch. Packets to targets[i] leave through ports[i].
type routeSection struct {
	guid    uint64
	name    string
	line    int
	targets []target
	ports   []uint8
	first   int  // the number of the first entry in the file
	ended   bool // with "N lids dumped"
	// shared is set while the targets are the same as in the previous table. The slice targets is then that of the
	// previous table, so it may be longer than ports while the table is being read.
	shared bool
}

// target is the destination of an entry.
type target struct {
	guid int32 // index into guids, -1 without a GUID
	lid  uint16
}

type routeEntry struct {
	target
	port uint8
}

// add adds an entry. Most tables have the same targets in the same order as the table before, so the targets are shared
// if possible.
func (s *routeSection) add(e routeEntry) {
	n := len(s.ports)
	s.ports = append(s.ports, e.port)
	switch {
	case s.shared && n < len(s.targets) && s.targets[n] == e.target:
		return
	case s.shared:
		s.targets, s.shared = slices.Clone(s.targets[:n]), false
	}
	s.targets = append(s.targets, e.target)
}

// close ends the table.
func (s *routeSection) close() { s.targets = s.targets[:len(s.ports):len(s.ports)] }

// memory returns the size of the entries in bytes.
func (s *routeSection) memory() int {
	if s.shared {
		return cap(s.ports)
	}
	return cap(s.ports) + cap(s.targets)*targetMemory
}

// portArena is the unused part of a large block of memory. The ports of many tables are allocated from it.
type portArena []uint8

// alloc returns an empty slice with capacity n.
func (r *portArena) alloc(n int) []uint8 {
	if n > len(*r) {
		*r = hugepages.Make[uint8](max(n, 4<<20))
	}
	ports := (*r)[:0:n]
	*r = (*r)[n:]
	return ports
}
