// SPDX-License-Identifier: Apache-2.0

// Package drawing lays a subnet out so that it can be drawn: tiers of a tree as rows with pods or planes as blocks, a
// torus, mesh or hypercube as planes of a grid, the groups of a dragonfly side by side, with the cables between all of
// them. Blocks fold and unfold. What a drawing looks like is left to those who draw it.
package drawing

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/classify"
)

// Kind says how a drawing is laid out.
type Kind uint8

// The kinds.
const (
	Tiers  Kind = iota // rows are tiers, the highest first
	Grid               // rows are those of a grid, plane by plane; a block is a switch
	Groups             // one row of groups, which are all linked to each other
)

// Drawing is a subnet laid out.
type Drawing struct {
	Kind   Kind
	Title  string
	Fabric *fabric.Fabric
	Rows   []Row
	Blocks []Block
	// Bundles are the cables between two blocks, or within one, ordered by A and B.
	Bundles []Bundle
	// Planes is how many a grid has, 1 for all else.
	Planes int
	// Most is the greatest load of a bundle, 0 where loads are not known.
	Most int64

	of []int32 // the block of each switch
}

// Row is blocks side by side.
type Row struct {
	Name   string
	Plane  int     // of a grid
	Blocks []int32 // places in Blocks, [Vacant] for a place of a grid without a switch
}

// Vacant is a place of a grid without a switch.
const Vacant int32 = -1

// Key names what folds: the switches of a tier that are in one part, a pod, plane or group.
type Key struct{ Tier, Part int32 }

// Block is switches, folded, or one.
type Block struct {
	Key      Key
	Name     string
	Switches []fabric.SwitchIndex
	// Folded says that there are several switches, and Lone that the key has one alone: there is nothing to fold.
	Folded, Lone bool
	Hosts        int // ports of hosts
	// Links are the cables to switches and hosts, Down those of them that have failed.
	Links, Down int
	OnPath      bool // the path that was asked for leads through it
}

// Switch is the switch of a block that is one, [fabric.None] for a folded one.
func (b *Block) Switch() fabric.SwitchIndex {
	if b.Folded {
		return fabric.None
	}
	return b.Switches[0]
}

// Bundle is cables between two blocks. A is not above B in the order of blocks; the two are the same for cables within.
type Bundle struct {
	A, B         int32
	Cables, Down int
	// Load is the most paths over one of the cables in one direction.
	Load   int64
	OnPath bool
	Wraps  bool // crosses a dateline of a torus: from the last place of a ring to its first
}

// Options say what is unfolded, and what is drawn onto the subnet.
type Options struct {
	All      bool // unfolds everything
	Unfolded map[Key]bool
	Failed   map[fabric.Link]bool      // of links of the subnet
	Loads    []int64                   // paths by port by which they leave, nil where they are not known
	Path     []fabric.PortIndex        // the ports by which packets of a path leave
	Through  map[fabric.NodeIndex]bool // the nodes of a path, where its ports are not known
}

// Of lays the subnet of a structure out. O(ports + bundles x log bundles).
func Of(s *classify.Structure, opt Options) *Drawing {
	d := &Drawing{
		Title: s.Title(), Fabric: s.Fabric, Planes: 1, of: slices.Repeat([]int32{Vacant}, len(s.Fabric.Switches)),
	}
	switch {
	case s.Grid != nil:
		d.layGrid(s)
	case s.Shape == classify.Dragonfly:
		d.Kind = Groups
		d.layTiers([][]fabric.SwitchIndex{slices.Concat(s.Tiers()...)}, s.Groups, "group", &opt)
	default:
		d.layTree(s, &opt)
	}
	d.countHosts(s)
	d.connect(s, &opt)
	d.trace(&opt)
	d.pass(&opt)
	return d
}

// BlockOf is the block of a switch, [Vacant] where the drawing has it not.
func (d *Drawing) BlockOf(sw fabric.SwitchIndex) int32 { return d.of[sw] }

func (d *Drawing) layTree(s *classify.Structure, opt *Options) {
	parts, noun := s.Pods, "pod"
	switch {
	case s.Shape == classify.DragonflyPlus:
		parts, noun = s.Groups, "group"
	case s.Planes.Has():
		parts, noun = s.Planes, "plane"
	}
	d.layTiers(s.Tiers(), parts, noun, opt)
}

// layTiers makes a row of each tier, which come with the lowest first, and blocks of their parts.
func (d *Drawing) layTiers(tiers [][]fabric.SwitchIndex, parts classify.Parts, noun string, opt *Options) {
	for tier, switches := range slices.Backward(tiers) {
		row := Row{Name: tierName(tier, len(tiers), noun)}
		slices.SortFunc(switches, func(a, b fabric.SwitchIndex) int {
			return cmp.Or(cmp.Compare(partOf(parts, a), partOf(parts, b)), cmp.Compare(d.name(a), d.name(b)),
				cmp.Compare(a, b))
		})
		for len(switches) > 0 {
			part := partOf(parts, switches[0])
			n := slices.IndexFunc(switches, func(sw fabric.SwitchIndex) bool { return partOf(parts, sw) != part })
			if n < 0 {
				n = len(switches)
			}
			d.lay(&row, Key{int32(tier), part}, partName(noun, part), switches[:n], opt)
			switches = switches[n:]
		}
		d.Rows = append(d.Rows, row)
	}
}

func partOf(p classify.Parts, sw fabric.SwitchIndex) int32 {
	if !p.Has() {
		return classify.None
	}
	return p.Of[sw]
}

func partName(noun string, part int32) string {
	if part == classify.None {
		return ""
	}
	return fmt.Sprintf("%s %d", noun, part+1)
}

func tierName(tier, tiers int, noun string) string {
	switch {
	case tiers == 1 && noun == "group":
		return "groups"
	case tiers == 1:
		return "switches"
	case tier == 0:
		return "leaves"
	}
	return fmt.Sprintf("tier %d", tier)
}

// lay puts switches into a row: as one block, or as one each where they are unfolded.
func (d *Drawing) lay(row *Row, key Key, name string, switches []fabric.SwitchIndex, opt *Options) {
	if len(switches) > 1 && !opt.All && !opt.Unfolded[key] {
		d.add(row, Block{Key: key, Name: name, Switches: slices.Clone(switches), Folded: true})
		return
	}
	for _, sw := range switches {
		d.add(row, Block{Key: key, Name: d.name(sw), Switches: []fabric.SwitchIndex{sw}, Lone: len(switches) == 1})
	}
}

func (d *Drawing) add(row *Row, b Block) {
	for _, sw := range b.Switches {
		d.of[sw] = int32(len(d.Blocks))
	}
	row.Blocks = append(row.Blocks, int32(len(d.Blocks)))
	d.Blocks = append(d.Blocks, b)
}

func (d *Drawing) name(sw fabric.SwitchIndex) string { return d.Fabric.NodeName(d.Fabric.Switches[sw]) }

func (d *Drawing) countHosts(s *classify.Structure) {
	for sw, at := range d.of {
		if at != Vacant {
			d.Blocks[at].Hosts += s.Switches[sw].Hosts
		}
	}
}
