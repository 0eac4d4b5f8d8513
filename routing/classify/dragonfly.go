// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
)

// isFullMesh reports whether each switch is linked to all other switches.
func (s *Structure) isFullMesh(members []fabric.SwitchIndex) bool {
	return len(members) > 2 && s.joined(members) == len(members)*(len(members)-1)/2
}

// isDragonfly reports whether the switches form groups in which all switches are linked to one another. It finds groups
// by triangles. A link inside a group is part of about as many triangles as the switch has other neighbours in its
// group. A link between groups is part of few triangles or none.
func (s *Structure) isDragonfly(members []fabric.SwitchIndex) bool {
	most := make([]int, len(s.Switches))
	triangles := make([][]int, len(s.Switches))
	for _, m := range members {
		for _, p := range s.peers[m] {
			n := s.common(m, p.sw)
			triangles[m] = append(triangles[m], n)
			most[m] = max(most[m], n)
		}
	}
	of := s.components(members, func(a fabric.SwitchIndex, i int, b fabric.SwitchIndex) bool {
		n := triangles[a][i]
		return 2*n > most[a] && 2*n > most[b]
	})
	if !s.areGroups(of) {
		of = s.byNames(members)
	}
	if !s.areGroups(of) {
		return false
	}
	s.Groups = of
	return true
}

// byNames puts switches whose names differ only in the last number into one part: "sw-02-03".
func (s *Structure) byNames(members []fabric.SwitchIndex) Parts {
	return partsBy(s, members, func(sw fabric.SwitchIndex) string {
		return strings.TrimRight(strings.TrimSpace(s.Fabric.SwitchNode(sw).Desc), "0123456789")
	})
}

// partsBy puts switches with the same key into one part. The parts are numbered in the order of the lowest GUID of
// their switches.
func partsBy[K comparable](s *Structure, members []fabric.SwitchIndex, key func(fabric.SwitchIndex) K) Parts {
	of := s.noParts()
	number := map[K]int32{}
	for _, m := range s.inOrder(members) {
		n, ok := number[key(m)]
		if !ok {
			n = int32(of.Count)
			number[key(m)] = n
			of.Count++
		}
		of.Of[m] = n
	}
	return of
}

// areGroups reports whether the parts are groups of a dragonfly. Nearly all pairs of switches of a part must be linked,
// and nearly all pairs of parts.
func (s *Structure) areGroups(of Parts) bool {
	if !of.Has() {
		return false
	}
	size := make([]int, of.Count)
	inside := 0
	joined := map[[2]int32]bool{}
	for a, part := range of.Of {
		if part == None {
			continue
		}
		size[part]++
		for _, p := range s.peers[a] {
			switch other := of.Of[p.sw]; {
			case other == part:
				inside++
			case other > part:
				joined[[2]int32{part, other}] = true
			}
		}
	}
	full := 0
	for _, n := range size {
		full += n * (n - 1)
	}
	return slices.Min(size) > 1 && 8*inside >= 7*full && 8*len(joined) >= 7*of.Count*(of.Count-1)/2
}

// components returns the parts that are connected by links for which join returns true. In a call of the function join,
// b is the i-th neighbour of a. The parts are numbered in the order of the lowest GUID of their switches.
func (s *Structure) components(members []fabric.SwitchIndex,
	join func(a fabric.SwitchIndex, i int, b fabric.SwitchIndex) bool) Parts {
	of := s.noParts()
	for _, first := range s.inOrder(members) {
		if of.Of[first] != None {
			continue
		}
		of.Of[first] = int32(of.Count)
		for queue := []fabric.SwitchIndex{first}; len(queue) > 0; queue = queue[1:] {
			for i, p := range s.peers[queue[0]] {
				if of.Of[p.sw] == None && join(queue[0], i, p.sw) {
					of.Of[p.sw] = int32(of.Count)
					queue = append(queue, p.sw)
				}
			}
		}
		of.Count++
	}
	return of
}

// dragonflyPlus returns the groups of a Dragonfly+, or nil if the subnet is not a Dragonfly+. A group has leaves and
// spines. A spine is linked only to the leaves of its group and to spines of other groups.
func (c *Classes) dragonflyPlus(leaves []bool) *Parts {
	isLeaf := func(s fabric.SwitchIndex) bool { return leaves[s] }
	of := c.noParts()
	for s := range leaves {
		if !leaves[s] || of.Of[s] != None {
			continue
		}
		of.Of[s] = int32(of.Count)
		for queue := []fabric.SwitchIndex{fabric.SwitchIndex(s)}; len(queue) > 0; queue = queue[1:] {
			for _, l := range c.graph.Of(queue[0]) {
				if isLeaf(l.Peer) != isLeaf(queue[0]) && of.Of[l.Peer] == None {
					of.Of[l.Peer] = int32(of.Count)
					queue = append(queue, l.Peer)
				}
			}
		}
		of.Count++
	}
	if of.Count < 2 {
		return nil
	}
	joined := map[[2]int32]bool{}
	for _, s := range c.members() {
		if of.Of[s] == None {
			return nil
		}
		for _, l := range c.graph.Of(s) {
			a, b := of.Of[s], of.Of[l.Peer]
			switch {
			case isLeaf(s) && isLeaf(l.Peer), a == b && isLeaf(s) == isLeaf(l.Peer):
				return nil
			case a < b:
				joined[[2]int32{a, b}] = true
			}
		}
	}
	if 8*len(joined) < 7*of.Count*(of.Count-1)/2 {
		return nil
	}
	return &of
}
