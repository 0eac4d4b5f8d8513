// SPDX-License-Identifier: Apache-2.0

package routing

import "example.org/ibconsole/fabric"

// GroupRoot is the switch around which OpenSM grows the tree of a multicast group (osm_mcast_mgr.c,
// mcast_mgr_find_optimal_switch): the first with the fewest hops to the member farthest away, None without
// switches. A switch with members on its ports counts as one hop farther, unless it is a member itself.
// O(switches x switches with members).
func GroupRoot(f *fabric.Fabric, hops Hops, members []fabric.PortIndex) fabric.SwitchIndex {
	targets := groupTargets(f, members)
	best, fewest := fabric.SwitchIndex(fabric.None), farther
	for s, n := range f.Switches {
		if !f.Nodes[n].InSubnet {
			continue
		}
		most := 0
		for _, t := range targets {
			if most = max(most, int(hops.Least(fabric.SwitchIndex(s), t.sw))+t.more); most >= fewest {
				break
			}
		}
		if most < fewest {
			best, fewest = fabric.SwitchIndex(s), most
		}
	}
	return best
}

// farther than any hop count.
const farther = 10000

type groupTarget struct {
	sw   fabric.SwitchIndex
	more int
}

// groupTargets are the switches that members are or are attached to.
func groupTargets(f *fabric.Fabric, members []fabric.PortIndex) []groupTarget {
	var targets []groupTarget
	at := map[fabric.SwitchIndex]int{}
	for _, m := range members {
		sw, port := f.AttachedSwitch(m)
		if sw == fabric.None {
			continue
		}
		i, met := at[sw]
		if !met {
			i = len(targets)
			at[sw] = i
			targets = append(targets, groupTarget{sw, 1})
		}
		if port == 0 {
			targets[i].more = 0
		}
	}
	return targets
}
