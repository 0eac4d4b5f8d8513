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

// Shape is what kind of network the switches are.
type Shape uint8

// The shapes.
const (
	Irregular Shape = iota
	Single
	FatTree
	Torus
	Mesh
	Hypercube
	FullMesh
	Dragonfly
	DragonflyPlus
)

// String is the shape as words.
func (s Shape) String() string {
	return [...]string{"irregular", "single switch", "fat-tree", "torus", "mesh", "hypercube", "full mesh", "dragonfly",
		"dragonfly+"}[s]
}

// None stands for no pod, plane, rail or group.
const None int32 = -1

// Structure is what a subnet is built like.
type Structure struct {
	*Classes
	Shape Shape
	// Grid has the coordinates of a torus, mesh or hypercube, nil for others.
	Grid *Grid
	// Groups are those of a dragonfly, Pods the parts into which a tree falls without its highest tier, Planes the
	// same where hosts have ports in several of them, each by switch, [None] for switches in none.
	Groups, Pods, Planes Parts
	// Rails are the rails by which the ports of hosts are cabled.
	Rails Rails
	// Directors are switches of several boards.
	Directors []Director
	// Cages are switches that have a switch of the subnet for each of their planes.
	Cages []Cage
	// Nodes counts the nodes of the subnet by what they are for.
	Nodes Nodes
	// Anomalies is what is not as its like.
	Anomalies []Anomaly

	peers [][]peer
	hosts []Host
}

// Parts are numbered parts of a subnet.
type Parts struct {
	Of    []int32 // by switch
	Count int
}

// Has reports whether there are several.
func (p Parts) Has() bool { return p.Count > 1 }

// Members are the switches of each.
func (p Parts) Members() [][]fabric.SwitchIndex {
	members := make([][]fabric.SwitchIndex, p.Count)
	for s, part := range p.Of {
		if part != None {
			members[part] = append(members[part], fabric.SwitchIndex(s))
		}
	}
	return members
}

// peer is another switch that is linked to one, by so many cables.
type peer struct {
	sw     fabric.SwitchIndex
	cables int
}

// Recognise finds the structure of a subnet; hints, which may be nil, overrule it. O(ports + links x neighbours).
func Recognise(f *fabric.Fabric, hints *Hints) *Structure {
	s := &Structure{Classes: classesOf(f, hints)}
	s.findPeers()
	s.findHosts()
	s.Directors = s.findDirectors()
	s.Cages = s.findCages()
	s.findShape()
	s.findParts()
	s.orderCages()
	s.hintParts(hints)
	s.Rails = s.findRails(hints)
	s.findOdd(hints)
	return s
}

// findPeers collects the neighbours of each switch, in ascending order.
func (s *Structure) findPeers() {
	s.peers = make([][]peer, len(s.Switches))
	for i := range s.peers {
		var all []fabric.SwitchIndex
		for _, l := range s.graph.Of(fabric.SwitchIndex(i)) {
			if l.Peer != fabric.SwitchIndex(i) {
				all = append(all, l.Peer)
			}
		}
		slices.Sort(all)
		for j, sw := range all {
			if j == 0 || all[j-1] != sw {
				s.peers[i] = append(s.peers[i], peer{sw, 0})
			}
			s.peers[i][len(s.peers[i])-1].cables++
		}
	}
}

// linked reports whether two switches have a cable.
func (s *Structure) linked(a, b fabric.SwitchIndex) bool {
	_, ok := slices.BinarySearchFunc(s.peers[a], b, func(p peer, sw fabric.SwitchIndex) int {
		return cmp.Compare(p.sw, sw)
	})
	return ok
}

// members are the switches of the subnet.
func (c *Classes) members() (all []fabric.SwitchIndex) {
	for i, n := range c.Fabric.Switches {
		if c.Fabric.Nodes[n].InSubnet {
			all = append(all, fabric.SwitchIndex(i))
		}
	}
	return all
}

func (s *Structure) findShape() {
	members := s.members()
	tiers := s.Tiers()
	switch {
	case len(members) == 1:
		s.Shape = Single
	case len(tiers) > 1 && s.groups != nil:
		s.Shape, s.Groups = DragonflyPlus, *s.groups
	case len(tiers) > 1:
		if s.layered() {
			s.Shape = FatTree
		}
	case s.isGrid(members):
	case s.isFullMesh(members):
		s.Shape = FullMesh
	case s.isDragonfly(members):
		s.Shape = Dragonfly
	}
}

// layered reports whether nearly all cables are between tiers that are above each other.
func (s *Structure) layered() bool {
	steps, others := 0, 0
	height := s.Heights()
	for a := range s.peers {
		for _, p := range s.peers[a] {
			if d := height[a] - height[p.sw]; d == 1 || d == -1 {
				steps += p.cables
			} else {
				others += p.cables
			}
		}
	}
	return others*3 <= steps
}

// Title is the structure in a few words: "fat-tree of 3 tiers, 8 pods", "torus 8x8x8".
func (s *Structure) Title() string {
	var text string
	tiers := len(s.Tiers())
	switch s.Shape {
	case FatTree:
		text = fmt.Sprintf("fat-tree of %s", prose.Count(tiers, "tier"))
	case Torus, Mesh:
		text = fmt.Sprintf("%s %s", s.Shape, s.Grid.Size())
	case Hypercube:
		text = fmt.Sprintf("hypercube of %s", prose.Count(len(s.Grid.Dims), "dimension"))
	case Dragonfly, DragonflyPlus:
		text = fmt.Sprintf("%s of %s", s.Shape, prose.Count(s.Groups.Count, "group"))
	case FullMesh:
		text = fmt.Sprintf("full mesh of %s", prose.Count(len(s.members()), "switch"))
	case Irregular:
		if text = "irregular"; tiers > 1 {
			text += fmt.Sprintf(", %s", prose.Count(tiers, "tier"))
		}
	default:
		text = s.Shape.String()
	}
	for _, part := range []struct {
		n    int
		noun string
	}{{s.Pods.Count, "pod"}, {s.Planes.Count, "plane"}, {len(s.Rails.Names), "rail"}} {
		if part.n > 1 {
			text += ", " + prose.Count(part.n, part.noun)
		}
	}
	return text
}

// Coordinates are those of a switch in its grid, "" for none: "3,0,7".
func (s *Structure) Coordinates(sw fabric.SwitchIndex) string {
	if s.Grid == nil || s.Grid.At[sw] == nil {
		return ""
	}
	return strings.Join(prose.Words(s.Grid.At[sw], func(c int32) string { return fmt.Sprint(c) }), ",")
}
