// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"math/bits"
	"strings"
)

// LinkSpeed is the signalling rate of one lane, or a set of such bits. PortInfo spreads it over three
// generations of fields and a vendor's attribute; [PortInfo.SpeedActive] and its like put them together.
type LinkSpeed uint16

// Link speeds, one bit each, ascending.
const (
	SpeedSDR   LinkSpeed = 1 << iota // 2.5 Gb/s
	SpeedDDR                         // 5 Gb/s
	SpeedQDR                         // 10 Gb/s
	SpeedFDR10                       // 10.3125 Gb/s, Mellanox's
	SpeedFDR                         // 14.0625 Gb/s
	SpeedEDR                         // 25.78125 Gb/s
	SpeedHDR                         // 53.125 Gb/s
	SpeedNDR                         // 106.25 Gb/s
	SpeedXDR                         // 212.5 Gb/s
)

var speeds = [...]struct {
	name string
	gbps float64
}{
	{"SDR", 2.5}, {"DDR", 5}, {"QDR", 10}, {"FDR10", 10.3125}, {"FDR", 14.0625},
	{"EDR", 25.78125}, {"HDR", 53.125}, {"NDR", 106.25}, {"XDR", 212.5},
}

// Max is the fastest speed of the set.
func (s LinkSpeed) Max() LinkSpeed {
	if s == 0 {
		return 0
	}
	return 1 << (bits.Len16(uint16(s)) - 1)
}

// Gbps is the signalling rate of a lane in 10^9 bits a second at the fastest speed of the set, 0 for none.
func (s LinkSpeed) Gbps() float64 {
	if i := bits.Len16(uint16(s)) - 1; i >= 0 && i < len(speeds) {
		return speeds[i].gbps
	}
	return 0
}

// String returns the diagnostic tools' words: "HDR" for one speed, "EDR or HDR"
// for a set, "???" for none and for bits without a meaning.
func (s LinkSpeed) String() string {
	var words []string
	for i, x := range speeds {
		if s>>i&1 != 0 {
			words = append(words, x.name)
		}
	}
	if len(words) == 0 || int(s)>>len(speeds) != 0 {
		words = append(words, "???")
	}
	return strings.Join(words, " or ")
}
