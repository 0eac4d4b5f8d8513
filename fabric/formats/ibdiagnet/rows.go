// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"cmp"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/mad"
)

// rows holds the rows of a database.
type rows struct {
	nodes    []node
	ports    []port
	links    []link
	enp0     map[uint64]bool
	keys     []key
	managers []Manager
	counts   []count
	deltas   []count
	cables   []cabled
	labels   []labelled
	// gidPrefix is the GID prefix of the first port with a LID, 0 if it is unknown.
	gidPrefix uint64
	hardware  []hardware
	greatest  counters.Values
}

// The types node, port and link hold one row each, with its line number.
type node struct {
	fabric.Node
	line int
}

type port struct {
	fabric.Port
	node    uint64
	limit   fabric.LinkLimit
	fec     health.FEC
	retrans health.Retrans
	line    int
}

// labelled is the label that is printed at a port.
type labelled struct {
	node  uint64
	num   int
	label string
	line  int
}

type link struct {
	guid [2]uint64
	port [2]int
	line int
}

func (p *parser) node(v *values) error {
	var n [6]uint64
	if err := v.numbers(n[:], 0, 64, 3, 8, 4, 64, 5, 32, 6, 16, 7, 32); err != nil {
		return p.refuse("%w", err)
	}
	kind, ok := v.nodeType()
	if !ok {
		return p.refuse("%w", v.wrong(1, "1 to 3"))
	}
	p.nodes = append(p.nodes,
		node{fabric.Node{GUID: n[0], Type: mad.NodeType(kind), NumPorts: uint8(n[1]), SystemGUID: n[2],
			VendorID: uint32(n[3]), DeviceID: uint16(n[4]), Revision: uint32(n[5]), Desc: string(v.text[2])}, p.line})
	return nil
}

// The words that opensm-smdb.dump uses instead of numbers.
var (
	nodeTypes = map[string]uint64{"CA": 1, "HCA": 1, "SW": 2, "SWITCH": 2, "RTR": 3, "ROUTER": 3, "RT": 3}
	states    = map[string]uint64{"DOWN": 1, "INIT": 2, "INITIALIZE": 2, "ARMED": 3, "ACTIVE": 4, "ACT": 4,
		"INI": 2, "ARM": 3}
	widths = map[string]uint64{"1X": 1, "2X": 16, "4X": 2, "8X": 4, "12X": 8}
)

// nodeType returns the number of a node type. The column may contain the number or a word; ok is false for anything
// else.
func (v *values) nodeType() (n uint64, ok bool) {
	const column = 1
	if !v.has(column) {
		return 0, false
	}
	if n, ok = parse(v.text[column]); !ok {
		n, ok = nodeTypes[strings.ToUpper(string(v.text[column]))]
	}
	return n, ok && (n >= 1 && n <= 3)
}

func (p *parser) port(v *values) error {
	var n [13]uint64
	err := v.numbers(n[:], 0, 64, 1, 8, 2, 64, 3, 16, 4, 3, 5, 16, 6, 32, 10, 4, 11, 4, 12, 4, 17, 8, 18, 8, 20, 64)
	if err != nil {
		return p.refuse("%w", err)
	}
	r := port{node: n[0], line: p.line, fec: health.Unknown, retrans: health.Unknown, Port: fabric.Port{
		Num: uint8(n[1]), GUID: n[2], LID: uint16(fabric.AssignedLID(n[3])), LMC: uint8(n[4]), SMLID: uint16(n[5]),
		CapMask: uint32(n[6]), MTU: uint8(n[7]), VLCap: uint8(n[8]), OperVLs: uint8(n[9])}}
	if r.LID != 0 {
		p.gidPrefix = cmp.Or(p.gidPrefix, n[12])
	}
	if v.has(17) {
		r.fec = health.FEC(n[10])
	}
	if v.has(18) {
		r.retrans = health.Retrans(n[11])
	}
	var c [7]uint64 // codes: state, width and speed, then what is enabled and supported
	for i, column := range [...]int{7, 8, 9, 13, 14, 15, 16} {
		if c[i], err = v.code(column); err != nil {
			return p.refuse("%w", err)
		}
	}
	if c[0] > uint64(mad.PortActive) {
		return p.refuse("%w", v.wrong(7, "1 to 4"))
	}
	r.State, r.Width, r.Speed = mad.PortState(c[0]), widthOf(c[1]), speedOf(c[2])
	r.limit = fabric.LinkLimit{WidthEnabled: widthOf(c[3]), WidthSupported: widthOf(c[4]), SpeedEnabled: speedOf(c[5]),
		SpeedSupported: speedOf(c[6])}
	p.ports = append(p.ports, r)
	return nil
}

// code returns the number of a state, a width or a speed. The column may contain the number or a word.
func (v *values) code(column int) (uint64, error) {
	if !v.has(column) {
		return 0, nil
	}
	if n, ok := parse(v.text[column]); ok && n < 1<<32 {
		return n, nil
	}
	word := strings.ToUpper(string(bytes.TrimSpace(v.text[column])))
	if n, ok := states[word]; ok {
		return n, nil
	}
	if n, ok := widths[word]; ok {
		return n, nil
	}
	if speed, ok := fabric.ParseSpeed(word); ok {
		for _, s := range speeds {
			if s.speed == speed {
				return s.bit, nil
			}
		}
	}
	return 0, v.wrong(column, "a number below 2^32")
}

func (p *parser) link(v *values) error {
	var n [4]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8, 2, 64, 3, 8); err != nil {
		return p.refuse("%w", err)
	}
	p.links = append(p.links, link{[2]uint64{n[0], n[2]}, [2]int{int(n[1]), int(n[3])}, p.line})
	return nil
}

func (p *parser) enhanced(v *values) error {
	var n [2]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8); err != nil {
		return p.refuse("%w", err)
	}
	p.enp0[n[0]] = n[1] != 0
	return nil
}

// widthOf returns the widest width of a set.
func widthOf(code uint64) fabric.Width { return fabric.Width(mad.LinkWidth(code & 31).Lanes()) }

const edr20 = 0x20000

// speeds lists the bits of column LinkSpeedActv, with the fastest speed first. Each family of speeds has one byte.
var speeds = []struct {
	bit   uint64
	speed fabric.Speed
}{
	{0x1000000, fabric.XDR},
	{0x800, fabric.NDR}, {0x400, fabric.HDR}, {0x200, fabric.EDR}, {0x100, fabric.FDR},
	{edr20, fabric.EDR}, // 20 Gb/s has no other name
	{0x10000, fabric.FDR10},
	{4, fabric.QDR}, {2, fabric.DDR}, {1, fabric.SDR},
}

func speedOf(code uint64) fabric.Speed {
	for _, s := range speeds {
		if code&s.bit != 0 {
			return s.speed
		}
	}
	return fabric.SpeedUnknown
}

// maskOf returns the set of widths up to w, encoded as in LinkWidthSupported of PortInfo.
func maskOf(w fabric.Width) (code uint64) {
	for _, lanes := range []fabric.Width{1, 4, 8, 12, 2} {
		if lanes <= w {
			code |= codeOf(lanes)
		}
	}
	return code
}

// codeOf returns the code of one width, as in LinkWidthSupported. It is the inverse of [widthOf].
func codeOf(w fabric.Width) uint64 {
	for bit := range 5 {
		if fabric.Width(mad.LinkWidth(1<<bit).Lanes()) == w {
			return 1 << bit
		}
	}
	return 0
}

// bitsOf returns the set of all speeds up to s if the argument below is set, otherwise the set with only s. From FDR on
// the set also contains QDR, as on real ports.
func bitsOf(s fabric.Speed, below bool) (code uint64) {
	for _, k := range speeds {
		if k.bit != edr20 && (k.speed == s || below && k.speed <= s && k.speed != fabric.FDR10) {
			code |= k.bit
		}
	}
	if s >= fabric.FDR {
		code |= 4
	}
	return code
}

// key is a P_Key of a port.
type key struct {
	node uint64
	port uint8
	key  mad.PKey
	line int
}

// pkey parses a row of section PKEY. A port is a full member if the highest bit of the P_Key is set or the membership
// column says so.
func (p *parser) pkey(v *values) error {
	var n [4]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8, 2, 16, 3, 8); err != nil {
		return p.refuse("%w", err)
	}
	k := mad.PKey(n[2])
	if n[3] != 0 || bytes.EqualFold(v.text[3], []byte("full")) {
		k |= mad.PKeyFull
	}
	if k.Partition() != 0 {
		p.keys = append(p.keys, key{n[0], uint8(n[1]), k, p.line})
	}
	return nil
}

// Manager is a subnet manager in the files of ibdiagnet or OpenSM.
type Manager struct {
	GUID     uint64 // of its port
	Priority uint8
	State    mad.SMState
}

// manager parses a row of section SM_INFO, or of section SMS in opensm-smdb.dump.
func (p *parser) manager(v *values) error {
	var n [3]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8, 2, 8); err != nil {
		return p.refuse("%w", err)
	}
	p.managers = append(p.managers, Manager{n[0], uint8(n[1]), mad.SMState(n[2])})
	return nil
}

// cabled is the cable of a port.
type cabled struct {
	node uint64
	port uint8
	health.Cable
	line int
}

func (p *parser) cable(v *values) error {
	var n [2]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8); err != nil {
		return p.refuse("%w", err)
	}
	c := cabled{node: n[0], port: uint8(n[1]), line: p.line}
	for i, to := range map[int]*string{2: &c.Vendor, 3: &c.Part, 4: &c.Serial, 5: &c.Revision, 7: &c.Length, 8: &c.Type,
		9: &c.Firmware} {
		if v.has(i) {
			*to = string(bytes.TrimSpace(v.text[i]))
		}
	}
	c.Celsius, c.Measured = celsius(v.text[6])
	c.Length, c.Type = cmp.Or(c.Length, v.word(lengthColumn)), cmp.Or(v.word(typeColumn), c.Type)
	c.Optics = v.optics()
	p.cables = append(p.cables, c)
	return nil
}

func (p *parser) label(v *values) error {
	var n [2]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8); err != nil {
		return p.refuse("%w", err)
	}
	for _, column := range []int{2, 3} {
		if label := string(bytes.TrimSpace(v.text[column])); v.has(column) && label != "" {
			p.labels = append(p.labels, labelled{n[0], int(n[1]), label, p.line})
			break
		}
	}
	return nil
}

// celsius parses a temperature such as "42C".
func celsius(b []byte) (int, bool) {
	sign := 1
	if rest, minus := bytes.CutPrefix(b, []byte("-")); minus {
		b, sign = rest, -1
	}
	n, digits, ok := decimal(b, 255)
	unit := bytes.TrimSpace(b[digits:])
	return sign * int(n), ok && (len(unit) == 0 || bytes.EqualFold(unit, []byte("C")))
}

// counterColumns returns the columns of section PM_INFO: node, port, and two columns for each counter. The second of
// the two is the 64-bit counter.
func counterColumns() []string {
	columns := []string{"nodeguid", "portnumber|portnum"}
	for c := range counters.NumCounters {
		name := strings.ToLower(c.String())
		columns = append(columns, name, name+"ext|"+name+"extended")
	}
	return columns
}

// count holds the counters of a port.
type count struct {
	node uint64
	port uint8
	counters.Port
	line int
}

func (p *parser) counted(v *values) error { return p.count(v, &p.counts) }

func (p *parser) delta(v *values) error { return p.count(v, &p.deltas) }

func (p *parser) count(v *values, to *[]count) error {
	var at [2]uint64
	if err := v.numbers(at[:], 0, 64, 1, 8); err != nil {
		return p.refuse("%w", err)
	}
	c := count{node: at[0], port: uint8(at[1]), line: p.line}
	for k := range counters.NumCounters {
		narrow, wide := 2+2*int(k), 3+2*int(k)
		for _, column := range [2]int{wide, narrow} {
			if !v.has(column) {
				continue
			}
			n, err := v.number(column, 64)
			if err != nil {
				return p.refuse("%w", err)
			}
			c.Values[k], c.Has = n, c.Has|counters.Of(k)
			if column == wide {
				c.Wide |= counters.Of(k)
			} else if n == p.greatest[k] && n != 0 {
				c.Stopped |= counters.Of(k)
			}
			break
		}
	}
	*to = append(*to, c)
	return nil
}
