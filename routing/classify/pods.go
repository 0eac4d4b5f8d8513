// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// inOrder returns switches sorted by GUID.
func (c *Classes) inOrder(members []fabric.SwitchIndex) []fabric.SwitchIndex {
	return slices.SortedFunc(slices.Values(members), func(a, b fabric.SwitchIndex) int {
		return cmp.Compare(c.Fabric.SwitchNode(a).GUID, c.Fabric.SwitchNode(b).GUID)
	})
}

// findParts finds the parts that remain connected in a tree if its highest tier is removed. The parts are planes if
// nearly all hosts with several ports, and most of all hosts, are attached to several parts. Otherwise they are pods.
// The parts are not planes if each is a single leaf.
func (s *Structure) findParts() {
	none := s.noParts()
	s.Pods, s.Planes = none, none
	if s.Groups.Of == nil {
		s.Groups = none
	}
	height := s.Heights()
	top := slices.Max(append(height, 0))
	if s.Shape != FatTree || top == 0 {
		return
	}
	var below []fabric.SwitchIndex
	for _, m := range s.members() {
		if height[m] < top {
			below = append(below, m)
		}
	}
	of := s.components(below, func(_ fabric.SwitchIndex, _ int, b fabric.SwitchIndex) bool { return height[b] < top })
	across, within, hosts := 0, 0, 0
	for i := range s.hosts {
		if s.hosts[i].Kind != KindHost { // storage nodes on two leaves make no planes
			continue
		}
		hosts++
		met := map[int32]bool{}
		for _, a := range s.hosts[i].Adapters {
			met[of.Of[s.Adapters[a].Switch]] = true
		}
		switch {
		case len(s.hosts[i].Adapters) < 2:
		case len(met) > 1:
			across++
		default:
			within++
		}
	}
	switch {
	case !of.Has():
	case across > 8*within && 2*across > hosts && of.Count <= mostPlanes && of.Count < len(below):
		s.Planes = of
	case of.Count < len(s.Tiers()[0]):
		s.Pods = of
	}
	if !s.Pods.Has() {
		s.findUnits(below)
	}
}

// mostPlanes is the maximum number of planes. If hosts are attached to more parts than this, the parts are the leaves
// of rails.
const mostPlanes = 8

// findUnits finds the sets of leaves that share hosts with several ports. These sets are the pods of a tree with rails
// or planes.
func (s *Structure) findUnits(below []fabric.SwitchIndex) {
	sets := routing.NewUnionFind(len(s.Switches))
	several := map[fabric.SwitchIndex]bool{}
	for i := range s.hosts {
		h := &s.hosts[i]
		if h.Kind != KindHost {
			continue
		}
		first := s.Adapters[h.Adapters[0]].Switch
		for _, a := range h.Adapters[1:] {
			if sw := s.Adapters[a].Switch; sw != first {
				sets.Join(sw, first)
				several[sw], several[first] = true, true
			}
		}
	}
	if 2*len(several) < len(s.Tiers()[0]) {
		return
	}
	below = slices.DeleteFunc(below, func(sw fabric.SwitchIndex) bool { return !several[sw] })
	if of := partsBy(s, below, sets.Root); of.Has() {
		s.Pods = of
	}
}
