// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// tryAdaptive is the hint for problems of adaptive routing.
const tryAdaptive = "adaptive show; trace; does the subnet manager sweep?"

// Adaptive reports four kinds of problems of adaptive routing. O(switches x LIDs).
//
//   - A group contains ports without a link.
//   - A group is much smaller than those of similar switches.
//   - The static port of a LID is not in the LID's group.
//   - Adaptive routing is off on a switch, although it is on elsewhere.
func (r *Report) Adaptive(t *fabric.Tables) {
	if t == nil || t.Adaptive == nil {
		return
	}
	f := t.Fabric
	on, off := 0, []fabric.SwitchIndex{}
	widest := make([]int, len(f.Switches))
	for s := range f.NumSwitches() {
		sw := &t.Adaptive.Switches[s]
		switch {
		case !f.SwitchNode(s).InSubnet:
		case sw.Enabled:
			on++
			widest[s] = r.groups(t, s)
		case t.Known[s]:
			off = append(off, s)
		}
	}
	if on > len(off) {
		for _, s := range off {
			r.Add(AdaptiveOff, PlaceOfNode(f, f.Switches[s]), tryAdaptive,
				"%s does not route adaptively, %d other switches do", f.NodeName(f.Switches[s]), on)
		}
	}
	r.reportSmallGroups(t, widest)
}

// groups checks the groups of one switch that LIDs use. It returns the size of the largest of these groups, counting
// only ports that are up.
func (r *Report) groups(t *fabric.Tables, s fabric.SwitchIndex) (widest int) {
	f, sw, node := t.Fabric, &t.Adaptive.Switches[s], t.Fabric.Switches[s]
	ports, used := make([][]uint8, len(sw.Groups)), make([]bool, len(sw.Groups))
	for g := range ports {
		ports[g] = sw.Ports(g)
	}
	outside, first := 0, uint16(0)
	for lid := uint16(1); lid != 0 && lid <= t.LFT.MaxLID; lid++ {
		port, e := sw.Entry(0, lid, t.Port(s, lid))
		if f.PortByLID(lid) == fabric.None || e.State() == fabric.StateStatic || e.Group() >= len(used) {
			continue
		}
		group := ports[e.Group()]
		if used[e.Group()] = true; len(group) == 0 {
			continue // packets use the static port
		}
		if !slices.Contains(group, port) {
			if outside == 0 {
				first = lid
			}
			outside++
		}
	}
	for g, is := range used {
		if !is {
			continue
		}
		up, down := 0, []int{}
		for _, p := range ports[g] {
			if at := f.PortAt(node, int(p)); at == fabric.None || !f.Ports[at].Linked() {
				down = append(down, int(p))
			} else {
				up++
			}
		}
		widest = max(widest, up)
		if len(down) > 0 {
			r.Add(DeadInGroup, PlaceOfNode(f, node), tryAdaptive, "group %d of %s has ports without a link: %v; "+
				"%d are up", g, f.NodeName(node), down, up)
		}
	}
	if outside > 0 {
		r.Add(StaticOutside, PlaceOfNode(f, node), tryAdaptive, "for %d LIDs the static port of %s is not in the "+
			"group, the first is LID %d", outside, f.NodeName(node), first)
	}
	return widest
}

// reportSmallGroups reports switches with unusually small groups. A switch is compared with the switches that have the
// same number of links to switches. It is reported if its largest group has at most half as many ports as their median.
func (r *Report) reportSmallGroups(t *fabric.Tables, widest []int) {
	f := t.Fabric
	like := map[int][]int{}
	links := make([]int, len(widest))
	for s := range f.NumSwitches() {
		for p := range f.SwitchNode(s).Slots() {
			if f.PeerSwitch(p) != fabric.None {
				links[s]++
			}
		}
		if widest[s] > 0 {
			like[links[s]] = append(like[links[s]], widest[s])
		}
	}
	for _, list := range like {
		slices.Sort(list)
	}
	for s, n := range widest {
		list := like[links[s]]
		if n == 0 || len(list) < 3 {
			continue
		}
		if usual := list[len(list)/2]; 2*n <= usual {
			node := f.Switches[s]
			r.Add(ThinGroup, PlaceOfNode(f, node), tryAdaptive, "the widest group of %s has %d ports up, those of "+
				"switches with as many links have %d", f.NodeName(node), n, usual)
		}
	}
}
