// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
)

// isFullMesh reports whether each switch is linked to all others.
func (s *Structure) isFullMesh(members []fabric.SwitchIndex) bool {
	return len(members) > 2 && s.joined(members) == len(members)*(len(members)-1)/2
}

// isDragonfly looks for groups of switches that are all linked to one another. A link in a group has about as many
// triangles on it as the switch has other neighbours in its group; one between groups has few or none.
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

// byNames puts switches into parts whose names differ by the last number alone: "sw-02-03".
func (s *Structure) byNames(members []fabric.SwitchIndex) Parts {
	of := Parts{Of: slices.Repeat([]int32{None}, len(s.Switches))}
	number := map[string]int32{}
	for _, m := range s.inOrder(members) {
		name := strings.TrimRight(strings.TrimSpace(s.Fabric.SwitchNode(m).Desc), "0123456789")
		n, ok := number[name]
		if !ok {
			n = int32(of.Count)
			number[name] = n
			of.Count++
		}
		of.Of[m] = n
	}
	return of
}

// areGroups reports whether nearly all pairs of switches in parts are linked, and nearly all pairs of parts.
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

// components are the parts that links join of which join says so; the i-th neighbour of a is b. They are numbered by
// their lowest switch.
func (s *Structure) components(members []fabric.SwitchIndex,
	join func(a fabric.SwitchIndex, i int, b fabric.SwitchIndex) bool) Parts {
	of := Parts{Of: slices.Repeat([]int32{None}, len(s.Switches))}
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

// dragonflyPlus are the groups of leaves and of switches above them, each of which is linked to leaves of one group
// alone and to its like in others; nil where the subnet is none.
func (c *Classes) dragonflyPlus(leaves []bool) *Parts {
	low := func(s fabric.SwitchIndex) bool { return leaves[s] }
	of := Parts{Of: slices.Repeat([]int32{None}, len(c.Switches))}
	for s := range leaves {
		if !leaves[s] || of.Of[s] != None {
			continue
		}
		of.Of[s] = int32(of.Count)
		for queue := []fabric.SwitchIndex{fabric.SwitchIndex(s)}; len(queue) > 0; queue = queue[1:] {
			for _, l := range c.graph.Of(queue[0]) {
				if low(l.Peer) != low(queue[0]) && of.Of[l.Peer] == None {
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
			case low(s) && low(l.Peer), a == b && low(s) == low(l.Peer):
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
