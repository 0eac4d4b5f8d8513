// SPDX-License-Identifier: Apache-2.0

package lash

import "example.org/ibconsole/fabric"

// nearer reports whether coordinate a is nearer to 0 than coordinate b. If both have the same distance from 0, the
// positive coordinate is nearer.
func nearer(a, b int32) bool { return max(a, -a) < max(b, -b) || max(a, -a) == max(b, -b) && a > b }

// findCoordinates gives each switch coordinates. They count from the seed along the axes, on the shortest path.
func (m *mesh) findCoordinates(seed int32) {
	for s := range m.nodes {
		m.nodes[s].at = make([]int32, m.dimensions)
		for d := range m.nodes[s].at {
			if m.nodes[s].at[d] = far; int32(s) == seed {
				m.nodes[s].at[d] = 0
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for s := range m.nodes {
			if n := &m.nodes[s]; n.at[0] != far {
				for i, axis := range n.axes {
					if axis != 0 {
						changed = n.place(axis, m.nodes[m.links[s][i].peer].at) || changed
					}
				}
			}
		}
	}
}

// place improves the coordinates of the neighbour along an axis, if the coordinates of this switch lead to a nearer
// place. It reports whether they changed.
func (n *meshNode) place(axis int, at []int32) (changed bool) {
	for d, c := range n.at {
		if d == (axis-1)/2 {
			if axis%2 == 1 {
				c++
			} else {
				c--
			}
		}
		if nearer(c, at[d]) {
			at[d] = c
			changed = true
		}
	}
	return changed
}

// findExtents sorts the dimensions by their number of coordinates.
func (m *mesh) findExtents() {
	extent := make([]int32, m.dimensions)
	for d := range extent {
		low, high := int32(far), int32(-far)
		for s := range m.nodes {
			if c := m.nodes[s].at[d]; c != far {
				low, high = min(low, c), max(high, c)
			}
		}
		extent[d] = high - low + 1
	}
	for range extent {
		widest := 0
		for d, e := range extent {
			if e > extent[widest] {
				widest = d
			}
		}
		m.byExtent = append(m.byExtent, widest)
		extent[widest] = -1
	}
}

// orderLinks sorts the links of a switch by dimension. In each dimension, links towards the seed come first. Links
// without an axis come last.
func (m *mesh) orderLinks(s int32) {
	n, links := &m.nodes[s], m.links[s]
	taken := make([]bool, len(links))
	var ordered []link
	take := func(axis int) {
		for i, a := range n.axes {
			if a == axis && !taken[i] {
				taken[i] = true
				ordered = append(ordered, links[i])
			}
		}
	}
	for _, d := range m.byExtent {
		for _, axis := range [...]int{2*d + 1, 2*d + 2} {
			if n.at[d] > 0 {
				axis = n.opposite(axis)
			}
			take(axis)
		}
	}
	for i := range links {
		if !taken[i] {
			ordered = append(ordered, links[i])
		}
	}
	m.links[s] = ordered
}

// orderSwitches numbers the switches by their coordinates. The largest dimension counts most.
func (m *mesh) orderSwitches() {
	order := make([]int32, len(m.nodes))
	for s := range order {
		order[s] = int32(s)
	}
	mergeSort(order, make([]int32, len(order)), func(a, b int32) bool {
		for _, d := range m.byExtent {
			// OpenSM compares coordinates by their difference, which overflows if a place is unknown.
			if diff := m.nodes[a].at[d] - m.nodes[b].at[d]; diff != 0 {
				return diff < 0
			}
		}
		return true
	})
	number := make([]int32, len(order))
	switches, links := make([]fabric.SwitchIndex, len(order)), make([][]link, len(order))
	for i, s := range order {
		number[s] = int32(i)
		switches[i], links[i] = m.switches[s], m.links[s]
		m.numbers[m.switches[s]] = int32(i)
	}
	for _, list := range links {
		for i := range list {
			list[i].peer = number[list[i].peer]
		}
	}
	m.switches, m.links = switches, links
}

// mergeSort sorts like qsort of the GNU C library, because another sort gives a different result if the order is
// inconsistent. The function keep reports whether a may come before b.
func mergeSort(list, scratch []int32, keep func(a, b int32) bool) {
	if len(list) < 2 {
		return
	}
	left, right := list[:len(list)/2], list[len(list)/2:]
	mergeSort(left, scratch, keep)
	mergeSort(right, scratch, keep)
	merged := scratch[:0]
	for len(left) > 0 && len(right) > 0 {
		if keep(left[0], right[0]) {
			merged, left = append(merged, left[0]), left[1:]
		} else {
			merged, right = append(merged, right[0]), right[1:]
		}
	}
	merged = append(merged, left...)
	merged = append(merged, right...)
	copy(list, merged)
}
