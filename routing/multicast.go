// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// GroupRoot returns the switch from which OpenSM builds the tree of a multicast group (osm_mcast_mgr.c,
// mcast_mgr_find_optimal_switch). This is the first switch with the fewest hops to its farthest member. It is None if
// there are no switches. A switch with members on its ports counts as one hop farther, unless it is a member itself.
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

// farther exceeds any hop count.
const farther = 10000

type groupTarget struct {
	sw   fabric.SwitchIndex
	more int
}

// groupTargets returns the switches that are members or have members attached.
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

// TreeLink is a cable of a spanning tree that leads from a switch towards the root.
type TreeLink struct {
	Above fabric.SwitchIndex
	// Up is the port that leads to switch Above. Down is the port of Above that leads back.
	Up, Down uint8
}

// AddTree adds to the tables mft the part of a spanning tree that the members of a multicast group need. It returns the
// members that the tree does not reach: routers, and members on switches outside the tree. The function up returns the
// cable towards the root for each switch except the root. O(members x hops).
func AddTree(f *fabric.Fabric, mft *fabric.MFT, mlid uint16, root fabric.SwitchIndex, members []fabric.PortIndex,
	up func(fabric.SwitchIndex) (l TreeLink, reached bool)) (outside []fabric.PortIndex) {
	for _, m := range members {
		sw, port := f.AttachedSwitch(m)
		reached := sw == root
		if sw != fabric.None && !reached {
			_, reached = up(sw)
		}
		if !reached {
			outside = append(outside, m)
			continue
		}
		if port == 0 || f.Nodes[f.Ports[m].Node].Type == mad.NodeCA {
			mft.Add(sw, mlid, port)
		} else {
			outside = append(outside, m)
		}
		for sw != root {
			l, _ := up(sw)
			mft.Add(sw, mlid, l.Up)
			mft.Add(l.Above, mlid, l.Down)
			sw = l.Above
		}
	}
	return outside
}
