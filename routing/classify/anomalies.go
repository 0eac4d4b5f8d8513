// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Anomaly is a node that differs from its peers.
type Anomaly struct {
	// Node is the node that differs, or [fabric.None] for a hint that matches no node.
	Node fabric.NodeIndex
	What string
}

// findAnomalies finds anomalies in this order: switches, hosts, hints.
func (s *Structure) findAnomalies(hints *Hints) {
	height := s.Heights()
	switch s.Shape {
	case FatTree, DragonflyPlus, Irregular:
		if len(s.Tiers()) > 1 {
			s.findCableAnomalies(height)
			s.findTierAnomalies(height)
		}
	case Torus, Mesh, Hypercube:
		s.findGaps()
	case Dragonfly, FullMesh, Single:
	}
	s.findLostPlanes()
	s.findHostAnomalies(height)
	s.findUnusedHints(hints)
}

func (s *Structure) addAnomaly(node fabric.NodeIndex, format string, args ...any) {
	s.Anomalies = append(s.Anomalies, Anomaly{node, fmt.Sprintf(format, args...)})
}

// peerGroup identifies switches that should be cabled alike: switches of the same tier and of the same kind of director
// board.
type peerGroup struct {
	tier  int32
	board uint8
}

// findCableAnomalies finds switches whose number of cables up or down differs from most of their peers.
func (s *Structure) findCableAnomalies(height []int32) {
	board := make([]uint8, len(s.Switches))
	for _, d := range s.Directors {
		for _, b := range d.Leaves {
			board[b] = 1
		}
		for _, b := range d.Spines {
			board[b] = 2
		}
	}
	groups := map[peerGroup][]fabric.SwitchIndex{}
	for _, m := range s.members() {
		k := peerGroup{height[m], board[m]}
		groups[k] = append(groups[k], m)
	}
	for _, k := range slices.SortedFunc(maps.Keys(groups), func(a, b peerGroup) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.board, b.board))
	}) {
		s.compareCables(groups[k], height, 1, "up")
		s.compareCables(groups[k], height, -1, "down")
	}
}

// compareCables reports peers whose number of cables to an adjacent tier differs from the number of most peers. The
// tier has the height of the peers + step.
func (s *Structure) compareCables(peers []fabric.SwitchIndex, height []int32, step int32, direction string) {
	having := map[int]int{}
	cables := map[fabric.SwitchIndex]int{}
	to := map[fabric.SwitchIndex]int{}
	each := map[int]int{}
	for _, m := range peers {
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
	// A tier of an unfinished fabric grows downwards. Therefore more peers must agree on the number of cables down.
	most := prose.When(step > 0, len(peers)/2, len(peers)*3/4)
	if len(peers) < 3 || having[usual] <= most || having[usual] == len(peers) {
		return
	}
	for _, m := range s.inOrder(peers) {
		if cables[m] != usual {
			less := ""
			if cables[m] < usual {
				less = s.missingLinks(m, to, mostOf(each), len(peers))
			}
			s.addAnomaly(s.Fabric.Switches[m], "%s %s where most of its peers have %d%s",
				prose.Count(cables[m], "link"),
				direction, usual, less)
		}
	}
}

// missingLinks returns text about switches to which nearly all of the peers are linked. It names those to which m has
// no link, or fewer cables than the peers.
func (s *Structure) missingLinks(m fabric.SwitchIndex, to map[fabric.SwitchIndex]int, each, peers int) string {
	cables := map[fabric.SwitchIndex]int{}
	for _, p := range s.peers[m] {
		cables[p.sw] = p.cables
	}
	var none, fewer []string
	uppers := make([]fabric.SwitchIndex, 0, len(to))
	for sw, n := range to {
		if 4*n >= 3*peers {
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
		fewer = append([]string{"none to " + prose.List(none, mostListed)}, fewer...)
	}
	if len(fewer) == 0 {
		return ""
	}
	return ": " + prose.List(fewer, mostListed)
}

// mostListed is the maximum number of switches listed in one anomaly.
const mostListed = 4

// findTierAnomalies reports switches of a fat-tree with links that skip a tier or lead to the same tier.
func (s *Structure) findTierAnomalies(height []int32) {
	if s.Shape != FatTree {
		return
	}
	for _, m := range s.inOrder(s.members()) {
		var past []string
		for _, p := range s.peers[m] {
			if d := height[m] - height[p.sw]; d == 0 && m < p.sw || d > 1 {
				past = append(past, fmt.Sprintf("%s on tier %d", s.Fabric.NodeName(s.Fabric.Switches[p.sw]),
					height[p.sw]))
			}
		}
		if len(past) > 0 {
			s.addAnomaly(s.Fabric.Switches[m], "on tier %d, is linked past the tiers to %s", height[m],
				prose.List(past, mostListed))
		}
	}
}

// findGaps reports links that a grid lacks, and links and switches that do not fit in the grid.
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
			s.addAnomaly(s.Fabric.Switches[m], "has no place in the %s", s.Shape)
			continue
		}
		for _, p := range s.peers[m] {
			if m < p.sw && s.Grid.At[p.sw] != nil && s.Grid.notAdjacent(m, p.sw) {
				s.addAnomaly(s.Fabric.Switches[m], "at %s, is linked to %s at %s, no neighbour in the %s",
					s.Coordinates(m),
					s.Fabric.NodeName(s.Fabric.Switches[p.sw]), s.Coordinates(p.sw), s.Shape)
			}
		}
		for d, n := range s.Grid.Dims {
			next := slices.Clone(s.Grid.At[m])
			if next[d] = (next[d] + 1) % int32(n); next[d] == 0 && !s.Grid.Wrap[d] {
				continue
			}
			peer, ok := at[coordinatesText(next)]
			if ok && !s.linked(m, peer) {
				s.addAnomaly(s.Fabric.Switches[m], "at %s, is not linked to %s at %s", s.Coordinates(m),
					s.Fabric.NodeName(s.Fabric.Switches[peer]), s.Coordinates(peer))
			}
		}
	}
}

// findHostAnomalies reports two kinds of hosts. Hosts of the first kind are attached above the leaves, but neither
// their name nor a hint marks them as service nodes. Hosts of the second kind are missing on a rail or have an adapter
// with a different number there.
func (s *Structure) findHostAnomalies(height []int32) {
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
				s.addAnomaly(s.Fabric.Ports[s.Adapters[a].End].Node, "is attached to %s on tier %d",
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
		s.addAnomaly(node, "is missing on %s %s", prose.Noun(len(missing), "rail"), prose.List(missing, mostListed))
		s.findOtherRail(h)
	}
}

// findOtherRail reports adapters of a host whose number differs from the number of their rail.
func (s *Structure) findOtherRail(h *Host) {
	if s.Rails.ByCabling || len(s.Rails.Names) == 0 || len(h.Adapters) < 2 {
		return
	}
	for _, a := range h.Adapters {
		if r := s.Rails.At[a]; r != None && s.Rails.Names[r] != fmt.Sprint(s.number(a)) {
			s.addAnomaly(s.Fabric.Ports[s.Adapters[a].End].Node, "is on rail %s, which is not that of its number",
				s.Rails.Names[r])
		}
	}
}

// findUnusedHints reports hints that match no node.
func (s *Structure) findUnusedHints(hints *Hints) {
	for i := 0; hints != nil && i < len(hints.All); i++ {
		h := &hints.All[i]
		if !slices.ContainsFunc(s.Fabric.Nodes, func(n fabric.Node) bool { return h.matches(&n) }) {
			s.addAnomaly(fabric.None, "%s:%d: the hint matches no node of the subnet", hints.File, h.Line)
		}
	}
}
