// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"fmt"
	"math/bits"
	"strings"
)

// LinkWidth is the number of lanes of a link; where PortInfo says which widths
// are supported or enabled, a set of such bits (IBA 14.2.5.6).
type LinkWidth uint8

// Link widths, one bit each.
const (
	Width1x  LinkWidth = 1
	Width4x  LinkWidth = 2
	Width8x  LinkWidth = 4
	Width12x LinkWidth = 8
	Width2x  LinkWidth = 16
)

// widths in the order of their lanes.
var widths = [...]struct {
	width LinkWidth
	lanes int
}{{Width1x, 1}, {Width2x, 2}, {Width4x, 4}, {Width8x, 8}, {Width12x, 12}}

// Lanes is the number of lanes of the widest width of the set, 0 for none.
func (w LinkWidth) Lanes() int {
	lanes := 0
	for _, x := range widths {
		if w&x.width != 0 {
			lanes = x.lanes
		}
	}
	return lanes
}

// String returns the tools' words: "4x" for one, "1x or 4x" for a set, "???" for none and unknown bits.
func (w LinkWidth) String() string {
	if bits.OnesCount8(uint8(w)) == 1 && w <= Width2x {
		return fmt.Sprintf("%dx", w.Lanes())
	}
	var words []string
	for _, x := range widths {
		if w&x.width != 0 {
			words = append(words, x.width.String())
		}
	}
	if len(words) == 0 || w > 31 {
		words = append(words, "???")
	}
	return strings.Join(words, " or ")
}
