// SPDX-License-Identifier: Apache-2.0

package routing

import "example.org/ibconsole/fabric"

// UnionFind holds, by switch, the next one towards that which stands for all joined to it; a switch of its own has
// itself.
type UnionFind []fabric.SwitchIndex

// Root is the switch that stands for those that are joined to a switch.
func (j UnionFind) Root(sw fabric.SwitchIndex) fabric.SwitchIndex {
	for j[sw] != sw {
		j[sw] = j[j[sw]]
		sw = j[sw]
	}
	return sw
}

// Join joins two switches, and reports whether they were apart.
func (j UnionFind) Join(a, b fabric.SwitchIndex) bool {
	a, b = j.Root(a), j.Root(b)
	j[a] = b
	return a != b
}
