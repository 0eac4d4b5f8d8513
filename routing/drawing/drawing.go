// SPDX-License-Identifier: Apache-2.0

// Package drawing computes the layout of a subnet. It does not draw. Tiers of a tree become rows, with pods or planes
// as blocks. A torus, mesh or hypercube becomes planes of a grid. The groups of a dragonfly form one row. The layout
// includes the cables between blocks. Blocks can be folded and unfolded.
package drawing

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/classify"
)

// Kind is a kind of layout.
type Kind uint8

// The kinds.
const (
	Tiers  Kind = iota // rows are tiers, the highest first
	Grid               // rows of a grid, plane by plane; each block is one switch
	Groups             // one row of groups, which are all linked to each other
)

// Drawing is the layout of a subnet.
type Drawing struct {
	Kind   Kind
	Title  string
	Fabric *fabric.Fabric
	Rows   []Row
	Blocks []Block
	// Bundles lists the cables between two blocks, or within one block, ordered by A and B.
	Bundles []Bundle
	// Planes is the number of planes of a grid. It is 1 for other layouts.
	Planes int
	// Most is the maximum load of a bundle, or 0 if loads are not known.
	Most int64

	of []int32 // the block of each switch
}

// Row is a row of blocks.
type Row struct {
	Name   string
	Plane  int     // of a grid
	Blocks []int32 // indexes of Blocks, [Vacant] for a place of a grid without a switch
}

// Vacant is a place of a grid without a switch.
const Vacant int32 = -1

// Key identifies a block that can be folded. The block contains the switches of one tier in one part: a pod, plane or
// group.
type Key struct{ Tier, Part int32 }

// Block is a single switch or several folded switches.
type Block struct {
	Key      Key
	Name     string
	Switches []fabric.SwitchIndex
	// Folded is set if the block stands for several switches. Lone is set if the key has only one switch, so that the
	// block cannot be folded.
	Folded, Lone bool
	Hosts        int // ports of hosts
	// Links counts the cables to switches and hosts. Down counts the failed cables among them.
	Links, Down int
	OnPath      bool // the requested path uses it
}

// Switch returns the switch of the block, or [fabric.None] for a folded block.
func (b *Block) Switch() fabric.SwitchIndex {
	if b.Folded {
		return fabric.None
	}
	return b.Switches[0]
}

// Bundle is the set of cables between two blocks. A does not come after B in the order of blocks. A and B are equal for
// cables within a block.
type Bundle struct {
	A, B         int32
	Cables, Down int
	// Load is the maximum number of paths over one of the cables in one direction. OfLimit is the maximum of these
	// numbers divided by the limit of the cable.
	Load    int64
	OfLimit float64
	OnPath  bool
	Wraps   bool // crosses a dateline of a torus: from the last switch of a ring to its first
}

// Options selects the unfolded blocks and the marks in the drawing.
type Options struct {
	All      bool // unfolds everything
	Unfolded map[Key]bool
	Failed   map[fabric.Link]bool      // of links of the subnet
	Loads    []int64                   // paths by the port by which they leave, nil if they are not known
	Limits   linkload.Limits           // of the loads, nil if they are not known
	Path     []fabric.PortIndex        // the ports by which packets of a path leave
	Through  map[fabric.NodeIndex]bool // the nodes of a path, if its ports are not known
}

// Of returns the layout of the subnet that s describes. O(ports + bundles x log bundles).
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

// BlockOf returns the block of a switch, or [Vacant] if the drawing does not contain the switch.
func (d *Drawing) BlockOf(sw fabric.SwitchIndex) int32 { return d.of[sw] }

func (d *Drawing) layTree(s *classify.Structure, opt *Options) {
	parts, noun := partsOf(s)
	d.layTiers(s.Tiers(), parts, noun, opt)
}

// partsOf returns the parts of a tree, and the word for a part.
func partsOf(s *classify.Structure) (parts classify.Parts, noun string) {
	switch {
	case s.Shape == classify.DragonflyPlus:
		return s.Groups, "group"
	case s.Planes.Has():
		return s.Planes, "plane"
	}
	return s.Pods, "pod"
}

// layTiers adds a row for each tier, with a block for each part. The argument tiers lists the lowest tier first.
func (d *Drawing) layTiers(tiers [][]fabric.SwitchIndex, parts classify.Parts, noun string, opt *Options) {
	order := namesInOrder(d.Fabric)
	for tier, switches := range slices.Backward(tiers) {
		row := Row{Name: tierName(tier, len(tiers), noun)}
		slices.SortFunc(switches, func(a, b fabric.SwitchIndex) int {
			return cmp.Or(cmp.Compare(partOf(parts, a), partOf(parts, b)), cmp.Compare(order[a], order[b]))
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

// lay adds switches to a row. Each unfolded switch becomes one block. Folded switches together become one block.
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

// Count formats a number of things, such as "1 cable" or "1,234 cables".
type Count func(n int, noun string) string

// Words describes the contents of a block, such as "8 cables, 4 host ports, 1 failed".
func (b *Block) Words(count Count) string {
	text := count(b.Links, "cable")
	if b.Hosts > 0 {
		text += ", " + count(b.Hosts, "host port")
	}
	return text + failed(b.Down)
}

// Words describes the cables of a bundle, such as "4 cables, 1 failed".
func (w *Bundle) Words(count Count) string { return count(w.Cables, "cable") + failed(w.Down) }

func failed(down int) string {
	if down == 0 {
		return ""
	}
	return fmt.Sprintf(", %d failed", down)
}
