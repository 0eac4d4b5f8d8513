// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// inOrder are switches by GUID.
func (c *Classes) inOrder(members []fabric.SwitchIndex) []fabric.SwitchIndex {
	return slices.SortedFunc(slices.Values(members), func(a, b fabric.SwitchIndex) int {
		return cmp.Compare(c.Fabric.SwitchNode(a).GUID, c.Fabric.SwitchNode(b).GUID)
	})
}

// findParts finds the parts of a tree without its highest tier: planes where nearly all hosts with several ports have
// them in several parts, pods otherwise.
func (s *Structure) findParts() {
	none := Parts{Of: slices.Repeat([]int32{None}, len(s.Switches))}
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
	across, within := 0, 0
	for i := range s.hosts {
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
	case across > 8*within && of.Count <= mostPlanes:
		s.Planes = of
	case of.Count < len(s.Tiers()[0]):
		s.Pods = of
	}
	if !s.Pods.Has() {
		s.findUnits(below)
	}
}

// mostPlanes is how many planes there may be; more parts in which hosts have ports are leaves of rails.
const mostPlanes = 8

// findUnits finds the sets of leaves that hosts with several ports share: the pods of a tree of rails or planes.
func (s *Structure) findUnits(below []fabric.SwitchIndex) {
	parent := make([]fabric.SwitchIndex, len(s.Switches))
	for i := range parent {
		parent[i] = fabric.SwitchIndex(i)
	}
	root := func(sw fabric.SwitchIndex) fabric.SwitchIndex {
		for parent[sw] != sw {
			parent[sw], sw = parent[parent[sw]], parent[sw]
		}
		return sw
	}
	several := map[fabric.SwitchIndex]bool{}
	for i := range s.hosts {
		h := &s.hosts[i]
		if h.Kind != KindHost {
			continue
		}
		first := s.Adapters[h.Adapters[0]].Switch
		for _, a := range h.Adapters[1:] {
			if sw := s.Adapters[a].Switch; sw != first {
				parent[root(sw)] = root(first)
				several[sw], several[first] = true, true
			}
		}
	}
	if 2*len(several) < len(s.Tiers()[0]) {
		return
	}
	of := Parts{Of: slices.Repeat([]int32{None}, len(s.Switches))}
	number := map[fabric.SwitchIndex]int32{}
	for _, sw := range s.inOrder(below) {
		if !several[sw] {
			continue
		}
		n, ok := number[root(sw)]
		if !ok {
			n = int32(of.Count)
			number[root(sw)] = n
			of.Count++
		}
		of.Of[sw] = n
	}
	if of.Has() {
		s.Pods = of
	}
}
