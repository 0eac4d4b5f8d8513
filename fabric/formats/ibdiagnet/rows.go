// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/mad"
)

// rows are those of a data base, as they were read.
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
	greatest counters.Values
}

// node, port and link are rows, with the line that they stand on.
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
	kind, ok := v.one(1, nodeTypes)
	if !ok {
		return p.refuse("%w", v.wrong(1, "1 to 3"))
	}
	p.nodes = append(p.nodes,
		node{fabric.Node{GUID: n[0], Type: mad.NodeType(kind), NumPorts: uint8(n[1]), SystemGUID: n[2],
			VendorID: uint32(n[3]), DeviceID: uint16(n[4]), Revision: uint32(n[5]), Desc: string(v.text[2])}, p.line})
	return nil
}

// Words that stand for numbers in opensm-smdb.dump.
var (
	nodeTypes = map[string]uint64{"CA": 1, "HCA": 1, "SW": 2, "SWITCH": 2, "RTR": 3, "ROUTER": 3, "RT": 3}
	states    = map[string]uint64{"DOWN": 1, "INIT": 2, "INITIALIZE": 2, "ARMED": 3, "ACTIVE": 4, "ACT": 4,
		"INI": 2, "ARM": 3}
	widths = map[string]uint64{"1X": 1, "2X": 16, "4X": 2, "8X": 4, "12X": 8}
)

// one returns a number that may stand there as a word; ok is false where it is neither, or 0 where there has to be one.
func (v *values) one(column int, words map[string]uint64) (n uint64, ok bool) {
	if !v.has(column) {
		return 0, false
	}
	if n, ok = parse(v.text[column]); !ok {
		n, ok = words[strings.ToUpper(string(v.text[column]))]
	}
	return n, ok && (n >= 1 && n <= 3)
}

func (p *parser) port(v *values) error {
	var n [12]uint64
	err := v.numbers(n[:], 0, 64, 1, 8, 2, 64, 3, 16, 4, 3, 5, 16, 6, 32, 10, 4, 11, 4, 12, 4, 17, 8, 18, 8)
	if err != nil {
		return p.refuse("%w", err)
	}
	r := port{node: n[0], line: p.line, fec: health.Unknown, retrans: health.Unknown, Port: fabric.Port{
		Num: uint8(n[1]), GUID: n[2], LID: uint16(n[3]), LMC: uint8(n[4]), SMLID: uint16(n[5]), CapMask: uint32(n[6]),
		MTU: uint8(n[7]), VLCap: uint8(n[8]), OperVLs: uint8(n[9])}}
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

// code returns the number of a state, a width or a speed; where a word stands for it, that.
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

// widthOf returns the widest of a set.
func widthOf(code uint64) fabric.Width { return fabric.Width(mad.LinkWidth(code & 31).Lanes()) }

const edr20 = 0x20000

// speeds are the bits of LinkSpeedActv, the fastest first: a byte for each family of speeds.
var speeds = []struct {
	bit   uint64
	speed fabric.Speed
}{
	{0x1000000, fabric.XDR},
	{0x800, fabric.NDR}, {0x400, fabric.HDR}, {0x200, fabric.EDR}, {0x100, fabric.FDR},
	{edr20, fabric.EDR}, // 20 Gb/s, for which there is no other name
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

// maskOf returns the widths up to one, as PortInfo says what is supported.
func maskOf(w fabric.Width) (code uint64) {
	for _, lanes := range []fabric.Width{1, 4, 8, 12, 2} {
		if lanes <= w {
			code |= codeOf(lanes)
		}
	}
	return code
}

// codeOf returns the inverse of [widthOf] for one width.
func codeOf(w fabric.Width) uint64 {
	for bit := range 5 {
		if fabric.Width(mad.LinkWidth(1<<bit).Lanes()) == w {
			return 1 << bit
		}
	}
	return 0
}

// bitsOf returns the speeds up to one; without below only itself and, from FDR on, the legacy QDR that ports state with
// it.
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
