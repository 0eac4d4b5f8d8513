// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"bytes"
	"slices"

	"example.org/ibconsole/fabric"
)

// memo records the switches below which all switches already have a path to the target. Switches with the same lower
// neighbours form a class. They have the same switches below them, so these need not be walked again unless the new
// walk begins with fewer hops.
type memo struct {
	// least holds, for each class, the fewest hops from which the switches below it were walked. leastLower holds, for
	// each set of lower neighbours, the fewest hops from which the switches below all of them were walked.
	least, leastLower, blank []uint8
	// hasSides is set if links connect switches of the same rank. The hop count of an absent target can then rise
	// again.
	hasSides bool
	// off is set if the memo cannot be used for the current target.
	off bool
}

// newMemo sets the fields class and lowerSet of all places. A switch without lower switches, or with neighbours of its
// rank, has no class.
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
		places[s].lowerSet = number(sets, below)
	}
	m.blank = bytes.Repeat([]byte{fabric.NoPath}, len(places)) // there are not more classes than switches
	m.least, m.leastLower = slices.Clone(m.blank), slices.Clone(m.blank)
	return m
}

// forget prepares the memo for a new target. The argument present is false for an absent target.
func (m *memo) forget(present bool) {
	copy(m.least, m.blank)
	copy(m.leastLower, m.blank)
	m.off = m.hasSides && !present
}

// covered reports whether a walk down from a switch changes nothing. The argument hops is the number of hops from the
// switch to the target.
func (m *memo) covered(at *place, hops uint8) bool {
	return at.class != none && m.least[at.class] <= hops
}

// lowerCovered reports whether walks down from all lower neighbours of a switch change nothing. Neighbours without a
// class are not considered.
func (m *memo) lowerCovered(at *place, hops uint8) bool {
	return at.lowerSet == none || m.leastLower[at.lowerSet] <= hops
}

// cover records that all switches below a switch were walked. The argument hops is the number of hops from the switch
// to the target.
func (m *memo) cover(at *place, hops uint8) {
	if m.off {
		return
	}
	if at.class != none {
		m.least[at.class] = min(m.least[at.class], hops)
	}
	if at.lowerSet != none {
		m.leastLower[at.lowerSet] = min(m.leastLower[at.lowerSet], hops)
	}
}
