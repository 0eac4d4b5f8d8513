// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Anomaly is something that is not as its like.
type Anomaly struct {
	// Node is what it is about.
	Node fabric.NodeIndex
	What string
}

// findOdd looks for what is odd, in the order of what it is about: switches, hosts, hints.
func (s *Structure) findOdd(hints *Hints) {
	height := s.Heights()
	switch s.Shape {
	case FatTree, DragonflyPlus, Irregular:
		if len(s.Tiers()) > 1 {
			s.findOddCables(height)
			s.findOddLevels(height)
		}
	case Torus, Mesh, Hypercube:
		s.findGaps()
	case Dragonfly, FullMesh, Single:
	}
	s.findLostPlanes()
	s.findOddHosts(height)
	s.findOddHints(hints)
}

func (s *Structure) addOdd(node fabric.NodeIndex, format string, args ...any) {
	s.Anomalies = append(s.Anomalies, Anomaly{node, fmt.Sprintf(format, args...)})
}

// like are switches that are to be cabled alike: those of one tier, boards of directors of one kind apart.
type like struct {
	tier  int32
	board uint8
}

// findOddCables looks for switches with fewer or more cables up or down than most of their like have.
func (s *Structure) findOddCables(height []int32) {
	board := make([]uint8, len(s.Switches))
	for _, d := range s.Directors {
		for _, b := range d.Leaves {
			board[b] = 1
		}
		for _, b := range d.Spines {
			board[b] = 2
		}
	}
	alike := map[like][]fabric.SwitchIndex{}
	var order []like
	for _, m := range s.members() {
		k := like{height[m], board[m]}
		if alike[k] == nil {
			order = append(order, k)
		}
		alike[k] = append(alike[k], m)
	}
	slices.SortStableFunc(order, func(a, b like) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.board, b.board))
	})
	for _, k := range order {
		s.compareCables(alike[k], height, 1, "up")
		s.compareCables(alike[k], height, -1, "down")
	}
}

// compareCables names the switches with another number of cables to the next tier than most of some have.
func (s *Structure) compareCables(alike []fabric.SwitchIndex, height []int32, step int32, direction string) {
	having := map[int]int{}
	cables := map[fabric.SwitchIndex]int{}
	to := map[fabric.SwitchIndex]int{}
	each := map[int]int{}
	for _, m := range alike {
		for _, p := range s.peers[m] {
			if height[p.sw] == height[m]+step {
				cables[m] += p.cables
				to[p.sw]++
				each[p.cables]++
			}
		}
		having[cables[m]]++
	}
	usual := mostOf(having)
	// A tier grows downwards, so more have to be alike there.
	most := prose.When(step > 0, len(alike)/2, len(alike)*3/4)
	if len(alike) < 3 || having[usual] <= most || having[usual] == len(alike) {
		return
	}
	for _, m := range s.inOrder(alike) {
		if cables[m] != usual {
			less := ""
			if cables[m] < usual {
				less = s.lacks(m, to, mostOf(each), len(alike))
			}
			s.addOdd(s.Fabric.Switches[m], "%s %s where most of its like have %d%s", prose.Count(cables[m], "link"),
				direction, usual, less)
		}
	}
}

// lacks says to which switches that nearly all of its like are linked to a switch is not, or by fewer cables.
func (s *Structure) lacks(m fabric.SwitchIndex, to map[fabric.SwitchIndex]int, each, alike int) string {
	cables := map[fabric.SwitchIndex]int{}
	for _, p := range s.peers[m] {
		cables[p.sw] = p.cables
	}
	var none, fewer []string
	uppers := make([]fabric.SwitchIndex, 0, len(to))
	for sw, n := range to {
		if 4*n >= 3*alike {
			uppers = append(uppers, sw)
		}
	}
	for _, sw := range s.inOrder(uppers) {
		switch name := s.Fabric.NodeName(s.Fabric.Switches[sw]); {
		case cables[sw] == 0:
			none = append(none, name)
		case cables[sw] < each:
			fewer = append(fewer, fmt.Sprintf("%d of %d to %s", cables[sw], each, name))
		}
	}
	if len(none) > 0 {
		fewer = append([]string{"none to " + prose.List(none, mostLacking)}, fewer...)
	}
	if len(fewer) == 0 {
		return ""
	}
	return ": " + prose.List(fewer, mostLacking)
}

// mostLacking is how many switches are named to which one has no link.
const mostLacking = 4

// findOddLevels names switches with links beside the tiers, where they are few.
func (s *Structure) findOddLevels(height []int32) {
	if s.Shape != FatTree {
		return
	}
	for _, m := range s.inOrder(s.members()) {
		var beside []string
		for _, p := range s.peers[m] {
			if d := height[m] - height[p.sw]; d == 0 && m < p.sw || d > 1 {
				beside = append(beside, fmt.Sprintf("%s on tier %d", s.Fabric.NodeName(s.Fabric.Switches[p.sw]),
					height[p.sw]))
			}
		}
		if len(beside) > 0 {
			s.addOdd(s.Fabric.Switches[m], "on tier %d, is linked past the tiers to %s", height[m],
				prose.List(beside, mostLacking))
		}
	}
}

// findGaps names the missing links of a grid, and those that are in no place of it.
func (s *Structure) findGaps() {
	at := map[string]fabric.SwitchIndex{}
	for _, m := range s.members() {
		at[s.Coordinates(m)] = m
	}
	if s.Grid.faults() == 0 {
		return
	}
	for _, m := range s.inOrder(s.members()) {
		if s.Grid.At[m] == nil {
			s.addOdd(s.Fabric.Switches[m], "has no place in the %s", s.Shape)
			continue
		}
		for _, p := range s.peers[m] {
			if m < p.sw && s.Grid.At[p.sw] != nil && s.Grid.apart(m, p.sw) {
				s.addOdd(s.Fabric.Switches[m], "at %s, is linked to %s at %s, no neighbour in the %s", s.Coordinates(m),
					s.Fabric.NodeName(s.Fabric.Switches[p.sw]), s.Coordinates(p.sw), s.Shape)
			}
		}
		for d, n := range s.Grid.Dims {
			next := slices.Clone(s.Grid.At[m])
			if next[d] = (next[d] + 1) % int32(n); next[d] == 0 && !s.Grid.Wrap[d] {
				continue
			}
			peer, ok := at[strings.Join(prose.Words(next, func(c int32) string { return fmt.Sprint(c) }), ",")]
			if ok && !s.linked(m, peer) {
				s.addOdd(s.Fabric.Switches[m], "at %s, is not linked to %s at %s", s.Coordinates(m),
					s.Fabric.NodeName(s.Fabric.Switches[peer]), s.Coordinates(peer))
			}
		}
	}
}

// findOddHosts names hosts above the leaves of which neither name nor hint says that they serve, hosts that are missing
// on a rail, or have another adapter's number there.
func (s *Structure) findOddHosts(height []int32) {
	having := map[int]int{}
	rails := func(h *Host) (on []int32) {
		for _, a := range h.Adapters {
			if r := s.Rails.At[a]; r != None {
				on = append(on, r)
			}
		}
		slices.Sort(on)
		return slices.Compact(on)
	}
	for i := range s.hosts {
		if h := &s.hosts[i]; h.Kind == KindHost && len(s.Rails.Names) > 0 {
			having[len(rails(h))]++
		}
	}
	usual := mostOf(having)
	for i := range s.hosts {
		h := &s.hosts[i]
		node := s.Fabric.Ports[s.Adapters[h.Adapters[0]].End].Node
		for _, a := range h.Adapters {
			if sw := s.Adapters[a].Switch; height[sw] > 0 && s.Adapters[a].Kind == KindHost {
				s.addOdd(s.Fabric.Ports[s.Adapters[a].End].Node, "is attached to %s on tier %d",
					s.Fabric.NodeName(s.Fabric.Switches[sw]), height[sw])
			}
		}
		on := rails(h)
		if h.Kind != KindHost || len(on) < 2 || len(on) >= usual {
			s.findOtherRail(h)
			continue
		}
		var missing []string
		for r := range s.Rails.Names {
			if !slices.Contains(on, int32(r)) {
				missing = append(missing, s.Rails.Names[r])
			}
		}
		s.addOdd(node, "is missing on %s %s", prose.Noun(len(missing), "rail"), prose.List(missing, mostLacking))
		s.findOtherRail(h)
	}
}

// findOtherRail names the adapters of a host that are on the rail of another number.
func (s *Structure) findOtherRail(h *Host) {
	if s.Rails.ByCabling || len(s.Rails.Names) == 0 || len(h.Adapters) < 2 {
		return
	}
	for _, a := range h.Adapters {
		if r := s.Rails.At[a]; r != None && s.Rails.Names[r] != fmt.Sprint(s.number(a)) {
			s.addOdd(s.Fabric.Ports[s.Adapters[a].End].Node, "is on rail %s, which is not that of its number",
				s.Rails.Names[r])
		}
	}
}

// findOddHints names hints that are about no node.
func (s *Structure) findOddHints(hints *Hints) {
	for i := 0; hints != nil && i < len(hints.All); i++ {
		h := &hints.All[i]
		if !slices.ContainsFunc(s.Fabric.Nodes, func(n fabric.Node) bool { return h.matches(&n) }) {
			s.addOdd(fabric.None, "%s:%d: the hint is about no node of the subnet", hints.File, h.Line)
		}
	}
}
