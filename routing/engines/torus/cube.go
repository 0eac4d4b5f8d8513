// SPDX-License-Identifier: Apache-2.0

package torus

import "example.org/ibconsole/fabric"

// A cube is a set of eight neighbouring places. Its corners are numbered from its lowest place, with x in bit 0, y in
// bit 1 and z in bit 2. Corners whose switches are known determine other corners. In a square with three known corners,
// the fourth corner is the other switch that is linked to two of them. A line leads at a right angle from a corner of a
// square or an edge. It leads to the switch that forms squares with its sides, which are the neighbours of the corner.
//
// Any order of these steps finds the same torus if the fabric fits its configuration. But hosts are routed in the order
// in which their switches were found, so the cases are in OpenSM's order.

// corners is indexed by the set of missing corners of a cube. It lists the corners that follow from a square, in
// OpenSM's order: the corner, then the three other corners of its square.
var corners = map[uint8]string{
	0x01: "0231",
	0x02: "1045",
	0x03: "0264 1375",
	0x04: "2046",
	0x05: "0154 2376",
	0x07: "1375 2376",
	0x08: "3201",
	0x0a: "1045 3267",
	0x0b: "0264 3267",
	0x0c: "2046 3157",
	0x0d: "0154 3157",
	0x0e: "1045 2046",
	0x10: "4015",
	0x11: "0132 4576",
	0x13: "1375 4576",
	0x15: "2376 4576",
	0x17: "4675 1375 2376",
	0x20: "5104",
	0x22: "1023 5467",
	0x23: "0264 5467",
	0x2a: "3267 5467",
	0x2b: "5467 0264 3267",
	0x30: "4026 5137",
	0x31: "0132 5137",
	0x32: "1023 4026",
	0x40: "6204",
	0x44: "2013 6457",
	0x45: "0154 6457",
	0x4c: "3157 6457",
	0x4d: "6457 0154 3157",
	0x50: "4015 6237",
	0x51: "0132 6237",
	0x54: "2013 4015",
	0x70: "5137 6237",
	0x71: "0231 5731 6732",
	0x80: "7645",
	0x88: "3102 7546",
	0x8a: "1045 7546",
	0x8c: "2046 7546",
	0x8e: "7546 1045 2046",
	0xa0: "5401 7623",
	0xa2: "1023 7623",
	0xa8: "3102 5401",
	0xb0: "4026 7623",
	0xb2: "1023 7623 4620",
	0xc0: "6402 7513",
	0xc4: "2013 7513",
	0xc8: "3102 6402",
	0xd0: "4015 7513",
	0xd4: "2013 4510 7513",
	0xe0: "5401 6402",
	0xe8: "3102 5104 6204",
}

// squareCorners has the same meaning for a torus of two dimensions, where a cube is one square.
var squareCorners = map[uint8]string{0x1: "0132", 0x2: "1023", 0x4: "2013", 0x8: "3102"}

// step finds one corner.
type step struct {
	corner uint8
	// around are the other corners of the square, with the opposite corner in the middle. For a line, the switch at its
	// start is in the middle, and the other two are its sides. A line at a single edge has one side.
	around [3]uint8
	line   bool
}

// noSide stands for the second side of a line that has only one side.
const noSide = 0xff

// steps holds the steps for each set of missing corners: solid for a cube, flat for a square.
type steps struct{ solid, flat [256][]step }

func newSteps() *steps {
	s := &steps{}
	for missing := range 256 {
		s.solid[missing] = append(squareSteps(corners[uint8(missing)]), lineSteps(uint8(missing))...)
	}
	for missing := range 16 {
		s.flat[missing] = append(squareSteps(squareCorners[uint8(missing)]), flatLineSteps(uint8(missing))...)
	}
	return s
}

func squareSteps(text string) (all []step) {
	for i := 0; i+4 <= len(text); i += 5 {
		all = append(all, step{
			corner: text[i] - '0', around: [3]uint8{text[i+1] - '0', text[i+2] - '0', text[i+3] - '0'},
		})
	}
	return all
}

// lineSteps returns the steps if three or four corners of one square are known and no other corners. A line leads from
// each corner that has both sides.
func lineSteps(missing uint8) (all []step) {
	known := ^missing
	for d := range dims {
		across := uint8(1) << d
		a, b := uint8(1)<<((d+1)%dims), uint8(1)<<((d+2)%dims)
		if !onSquare(known, across) {
			continue
		}
		for from := uint8(7); from < 8; from-- {
			if has(known, from) && has(known, from^a) && has(known, from^b) && count(known) >= 3 {
				all = append(all, step{corner: from ^ across, around: [3]uint8{from ^ a, from, from ^ b}, line: true})
			}
		}
	}
	return all
}

// flatLineSteps returns the steps if one edge of a square is known.
func flatLineSteps(missing uint8) (all []step) {
	known := ^missing & 0xf
	for d := range 2 {
		across, along := uint8(1)<<d, uint8(2)>>d
		for from := range uint8(4) {
			if known == 1<<from|1<<(from^along) {
				all = append(all, step{corner: from ^ across, around: [3]uint8{from ^ along, from, noSide}, line: true})
			}
		}
	}
	return all
}

func has(set, corner uint8) bool { return set>>corner&1 != 0 }

func count(set uint8) (n int) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}

// onSquare reports whether all corners of a set have the same coordinate in a dimension.
func onSquare(set, across uint8) bool {
	low, high := false, false
	for c := range uint8(8) {
		if has(set, c) {
			low, high = low || c&across == 0, high || c&across != 0
		}
	}
	return low != high
}

// finder searches the free links of a fabric: links that are not in the torus yet.
type finder struct {
	f    *fabric.Fabric
	free []bool // by port
}

// links calls the function visit with the switch at the other end of each free link of sw, in the order of ports, until
// the function visit returns true.
func (s *finder) links(sw fabric.SwitchIndex, visit func(peer fabric.SwitchIndex) bool) bool {
	n := s.f.SwitchNode(sw)
	for p := range n.Ports() {
		if !s.free[p] {
			continue
		}
		if peer := s.f.PeerSwitch(p); peer != fabric.None && visit(peer) {
			return true
		}
	}
	return false
}

// corner returns a switch with links to a and c, or None. It never returns the switch in the argument middle.
func (s *finder) corner(a, middle, c fabric.SwitchIndex) fabric.SwitchIndex {
	var found fabric.SwitchIndex = fabric.None
	s.links(a, func(x fabric.SwitchIndex) bool {
		if x == middle || !s.links(x, func(y fabric.SwitchIndex) bool { return y == c }) {
			return false
		}
		found = x
		return true
	})
	return found
}

// line returns a switch that is linked to another switch (argument from) and forms squares with the sides, or None. It
// never returns the switch in the argument behind.
func (s *finder) line(from fabric.SwitchIndex, sides []fabric.SwitchIndex,
	behind fabric.SwitchIndex) fabric.SwitchIndex {
	var found fabric.SwitchIndex = fabric.None
	s.links(from, func(x fabric.SwitchIndex) bool {
		if x == behind {
			return false
		}
		for _, side := range sides {
			if s.corner(side, from, x) == fabric.None {
				return false
			}
		}
		found = x
		return true
	})
	return found
}
