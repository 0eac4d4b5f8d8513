// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"bytes"
	"slices"

	"example.org/ibconsole/fabric"
)

// memo says from which switches all below is led to the target already. Switches
// with the same lower neighbours are of one class: what is below one of them is
// below all, and need not be looked at again from as far or farther.
type memo struct {
	// least is the fewest hops from which a class was walked, by class, and lower by places.lower the
	// fewest from which all classes of some lower neighbours were.
	least, lower, blank []uint8
	// level says that there are links between switches of one rank. The hop count
	// of a target that is not there can then rise again.
	level bool
	// off says that nothing is noted.
	off bool
}

// newMemo sets the classes of all places: none for switches without lower ones or with neighbours of their rank.
func newMemo(t *tree, places []place) memo {
	var m memo
	for s, class := range classes(t.down) {
		places[s].class = class
		if len(t.side[s]) > 0 {
			m.level, places[s].class = true, none
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

// forget turns to another target, which is there or not.
func (m *memo) forget(there bool) {
	copy(m.least, m.blank)
	copy(m.lower, m.blank)
	m.off = m.level && !there
}

// covered says that going down from a switch, so many hops from the target, changes nothing.
func (m *memo) covered(at *place, hops uint8) bool {
	return at.class != none && m.least[at.class] <= hops
}

// lowerCovered says the same of all lower neighbours of a switch without links to others of its rank.
func (m *memo) lowerCovered(at *place, hops uint8) bool {
	return at.lower == none || m.lower[at.lower] <= hops
}

// cover notes that all below a switch was walked.
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
