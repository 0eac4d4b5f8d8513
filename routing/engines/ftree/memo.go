// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"bytes"
	"encoding/binary"
	"slices"

	"example.org/ibconsole/fabric"
)

// memo says from which switches all below is led to the target already. Switches
// with the same lower neighbours are of one class: what is below one of them is
// below all, and need not be looked at again from as far or farther.
type memo struct {
	// least is the fewest hops from which a class was walked, by class.
	least, blank []uint8
	// level says that there are links between switches of one rank. The hop count
	// of a target that is not there can then rise again.
	level bool
	// off says that nothing is noted.
	off bool
}

// newMemo sets the classes of all places: none for switches without lower ones or with neighbours of their rank.
func newMemo(t *tree, places []place) memo {
	var m memo
	classes := map[string]int32{}
	for s := range places {
		places[s].class = none
		if len(t.side[s]) > 0 {
			m.level = true
			continue
		}
		if key := below(t.down[s]); key != "" {
			if _, ok := classes[key]; !ok {
				classes[key] = int32(len(classes))
			}
			places[s].class = classes[key]
		}
	}
	m.blank = bytes.Repeat([]byte{fabric.NoPath}, len(classes))
	m.least = slices.Clone(m.blank)
	return m
}

// below is the set of switches that groups lead to.
func below(list []group) string {
	var all []fabric.SwitchIndex
	for i := range list {
		if r := list[i].remote; r != fabric.None {
			all = append(all, r)
		}
	}
	slices.Sort(all)
	var key []byte
	for _, s := range all {
		key = binary.LittleEndian.AppendUint32(key, uint32(s))
	}
	return string(key)
}

// forget turns to another target, which is there or not.
func (m *memo) forget(there bool) {
	copy(m.least, m.blank)
	m.off = m.level && !there
}

// covered says that going down from a switch, so many hops from the target, changes nothing.
func (m *memo) covered(at *place, hops uint8) bool {
	return at.class != none && m.least[at.class] <= hops
}

// cover notes that all below a switch was walked.
func (m *memo) cover(at *place, hops uint8) {
	if at.class != none && !m.off {
		m.least[at.class] = min(m.least[at.class], hops)
	}
}
