// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
)

// Shape is the kind of network that the switches form.
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

// String returns the shape as words.
func (s Shape) String() string {
	return [...]string{"irregular", "single switch", "fat-tree", "torus", "mesh", "hypercube", "full mesh", "dragonfly",
		"dragonfly+"}[s]
}

// None stands for no pod, plane, rail or group.
const None int32 = -1

// Structure describes how a subnet is built.
type Structure struct {
	*Classes
	Shape Shape
	// Grid holds the coordinates of a torus, mesh or hypercube. It is nil for other shapes.
	Grid *Grid
	// Groups are the groups of a dragonfly. Pods and Planes are the parts that remain connected in a tree if its
	// highest tier is removed. They are planes if hosts have ports in several parts, otherwise pods.
	Groups, Pods, Planes Parts
	Rails                Rails
	Directors            []Director
	Cages                []Cage
	Nodes                Nodes
	Anomalies            []Anomaly

	peers [][]peer
	hosts []Host
}

// Parts divides switches into numbered parts.
type Parts struct {
	Of    []int32 // the part by switch, [None] for none
	Count int
}

// Has reports whether there is more than one part.
func (p Parts) Has() bool { return p.Count > 1 }

// Members returns the switches of each part.
func (p Parts) Members() [][]fabric.SwitchIndex {
	members := make([][]fabric.SwitchIndex, p.Count)
	for s, part := range p.Of {
		if part != None {
			members[part] = append(members[part], fabric.SwitchIndex(s))
		}
	}
	return members
}

// peer is a neighbouring switch, with the number of cables to this switch.
type peer struct {
	sw     fabric.SwitchIndex
	cables int
}

// Recognise finds the structure of a subnet. Hints, if not nil, overrule what it finds. O(ports + links x neighbours).
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
	s.findAnomalies(hints)
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

// linked reports whether a cable connects two switches.
func (s *Structure) linked(a, b fabric.SwitchIndex) bool {
	_, ok := slices.BinarySearchFunc(s.peers[a], b, func(p peer, sw fabric.SwitchIndex) int {
		return cmp.Compare(p.sw, sw)
	})
	return ok
}

// noParts returns parts of which no switch is a member.
func (c *Classes) noParts() Parts { return Parts{Of: slices.Repeat([]int32{None}, len(c.Switches))} }

// members returns the switches of the subnet.
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

// layered reports whether at least three in four cables lead to an adjacent tier.
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

// Title describes the structure in a few words: "fat-tree of 3 tiers, 8 pods", "torus 8x8x8".
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

// Coordinates returns the coordinates of a switch in its grid, such as "3,0,7", or "" if it has none.
func (s *Structure) Coordinates(sw fabric.SwitchIndex) string {
	if s.Grid == nil || s.Grid.At[sw] == nil {
		return ""
	}
	return coordinatesText(s.Grid.At[sw])
}

func coordinatesText(at []int32) string {
	return strings.Join(prose.Words(at, func(c int32) string { return fmt.Sprint(c) }), ",")
}

// After returns the structure of a fabric that [fabric.Fabric.Without] made from the fabric of s. All nodes keep their
// tier, place and role. Missing nodes become anomalies. O(ports + links x neighbours).
func (s *Structure) After(f *fabric.Fabric) *Structure {
	c := *s.Classes
	c.Fabric, c.graph, c.Adapters = f, routing.NewGraph(f), nil
	c.Switches = slices.Clone(c.Switches)
	for i := range c.Switches {
		sw := &c.Switches[i]
		sw.Degree, sw.Neighbours = c.degree(fabric.SwitchIndex(i))
		sw.Hosts = 0
	}
	for _, a := range s.Adapters {
		if sw, _ := f.AttachedSwitch(a.End); sw == fabric.None {
			continue
		}
		c.Adapters = append(c.Adapters, a)
		if a.Role != Aggregation {
			c.Switches[a.Switch].Hosts++
		}
	}
	out := *s
	out.Classes, out.hosts, out.Nodes, out.Anomalies = &c, nil, Nodes{}, nil
	out.findPeers()
	out.findHosts()
	out.countRails(&out.Rails)
	if s.Grid != nil {
		grid := *s.Grid
		grid.Missing = grid.count() - out.joined(out.members())
		out.Grid = &grid
	}
	out.findAnomalies(c.hints)
	return &out
}
