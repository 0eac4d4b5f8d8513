// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"bytes"
	"slices"

	"example.org/ibconsole/fabric"
)

// memo records the switches below which all switches are already routed to the target. Switches with the same lower
// neighbours form a class: what is below one of them is below all, and need not be walked again from as far or farther.
type memo struct {
	// least holds by class the fewest hops from which it was walked. lower holds by places.lower the fewest hops from
	// which all classes of some lower neighbours were walked.
	least, lower, blank []uint8
	// hasSides reports links between switches of one rank. The hop count of an absent target can then rise again.
	hasSides bool
	// off disables the memo for the current target.
	off bool
}

// newMemo sets the classes of all places. Switches without lower ones or with neighbours of their rank have none.
func newMemo(t *tree, places []place) memo {
	var m memo
	for s, class := range classes(t.down) {
		places[s].class = class
		if len(t.side[s]) > 0 {
			m.hasSides, places[s].class = true, none
		}
	}
	sets := map[string]int32{}
	for s := range places {
		var below []int32
		for i := range t.down[s] {
			if r := t.down[s][i].remote; r != fabric.None && places[r].class != none {
				below = append(below, places[r].class)
			}
		}
		places[s].lower = number(sets, below)
	}
	m.blank = bytes.Repeat([]byte{fabric.NoPath}, len(places)) // there are not more classes than switches
	m.least, m.lower = slices.Clone(m.blank), slices.Clone(m.blank)
	return m
}

// forget starts a new target, which may be absent.
func (m *memo) forget(present bool) {
	copy(m.least, m.blank)
	copy(m.lower, m.blank)
	m.off = m.hasSides && !present
}

// covered reports whether going down from a switch with this many hops to the target changes nothing.
func (m *memo) covered(at *place, hops uint8) bool {
	return at.class != none && m.least[at.class] <= hops
}

// lowerCovered reports the same of all lower neighbours of a switch without links to others of its rank.
func (m *memo) lowerCovered(at *place, hops uint8) bool {
	return at.lower == none || m.lower[at.lower] <= hops
}

// cover records that all switches below a switch were walked.
func (m *memo) cover(at *place, hops uint8) {
	if m.off {
		return
	}
	if at.class != none {
		m.least[at.class] = min(m.least[at.class], hops)
	}
	if at.lower != none {
		m.lower[at.lower] = min(m.lower[at.lower], hops)
	}
}
