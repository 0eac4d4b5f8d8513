// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
)

// sizes returns the number of switches of each tier.
func sizes(c *Classes) (n []int) {
	for _, t := range c.Tiers() {
		n = append(n, len(t))
	}
	return n
}

// TestTiers removes random links, one in ten of those between switches, and the hosts of a leaf: the tiers stay those
// of the shape (fattree:3,8 has 8 pods of 4 leaves and 4 middle switches below 16 spines; the bull has 3 sets of 4 L0
// and 2 L1, 2 L2 and 2 L3; the torus is one tier).
func TestTiers(t *testing.T) {
	r := testenv.Rand(t)
	for spec, want := range map[string][]int{
		"fattree:2,8": {8, 4}, "fattree:3,8": {32, 32, 16}, "xgft:2,6,12,1,6,1,2": {12, 6},
		"bull:3,4,hosts=6,up=2,services=2": {12, 6, 2, 2}, "torus:4x4": {16},
	} {
		f := gentest.Fabric(t, spec)
		sw, _ := f.AttachedSwitch(f.EndPorts[slices.IndexFunc(f.EndPorts, func(e fabric.PortIndex) bool {
			return !f.Nodes[f.Ports[e].Node].IsSwitch()
		})])
		for range testenv.Count(t, 5, 200) {
			var removed []fabric.Link
			for _, l := range f.Links() {
				a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
				onFirst := a == f.Switches[sw] || b == f.Switches[sw]
				between := f.Nodes[a].IsSwitch() && f.Nodes[b].IsSwitch()
				if onFirst && !between || between && spec[:4] != "bull" && r.IntN(10) == 0 {
					removed = append(removed, l)
				}
			}
			left := f.Without(removed)
			if outside := len(left.Switches) - len(slices.Concat(classesOf(left, nil).Tiers()...)); outside > 0 {
				continue // the subnet fell apart
			}
			if got := sizes(classesOf(left, nil)); !slices.Equal(got, want) {
				t.Errorf("%s without %d links: tiers of %v, want %v", spec, len(removed), got, want)
			}
		}
	}
}
