// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/classify"
)

// Band is a part of a drawing in which every switch has its own cell: zones that are drawn next to each other. Bands
// are drawn below each other.
type Band struct {
	Name  string
	Zones []Zone
}

// Zone is a set of switches that belong together: a tier, a pod, a group, a plane of a grid, or the switches of a tier
// that have the same neighbours.
type Zone struct {
	Name string // "" if its band consists of this zone, or if it has no name
	Rows []ZoneRow
}

// ZoneRow is a row of switches of a zone.
type ZoneRow struct {
	Name     string
	Switches []fabric.SwitchIndex // [fabric.None] for a place of a grid without a switch
	// Wraps is set for a row of a grid that is a ring.
	Wraps bool
}

// Bands returns all switches of a subnet in the order in which they are drawn, one cell for each. Trees have a band for
// each tier, highest first. Pods, planes and groups are zones with a row for each of their tiers. The planes of a grid
// are zones of one band. Irregular subnets have a band for each distance from the switches with most neighbours. The
// last band has the unreachable switches. O(ports + switches log switches).
func Bands(s *classify.Structure) []Band {
	l := &layout{Structure: s, order: namesInOrder(s.Fabric)}
	switch {
	case s.Grid != nil:
		l.grid()
	case s.Shape == classify.Irregular:
		l.distances()
	case s.Shape == classify.Dragonfly:
		l.parts([][]fabric.SwitchIndex{slices.Concat(s.Tiers()...)}, s.Groups, "group")
	default:
		parts, noun := partsOf(s)
		l.parts(s.Tiers(), parts, noun)
	}
	l.unreachable()
	return l.bands
}

// layout collects bands.
type layout struct {
	*classify.Structure
	order []int32 // the positions of the switches in the order of names
	bands []Band
}

// namesInOrder returns the position of each switch if switches are sorted by name.
func namesInOrder(f *fabric.Fabric) []int32 {
	names, by := make([]string, len(f.Switches)), make([]fabric.SwitchIndex, len(f.Switches))
	for i, n := range f.Switches {
		names[i], by[i] = f.NodeName(n), fabric.SwitchIndex(i)
	}
	slices.SortFunc(by, func(a, b fabric.SwitchIndex) int {
		return cmp.Or(prose.Natural(names[a], names[b]), cmp.Compare(a, b))
	})
	order := make([]int32, len(by))
	for at, sw := range by {
		order[sw] = int32(at)
	}
	return order
}

func (l *layout) sorted(switches []fabric.SwitchIndex) []fabric.SwitchIndex {
	slices.SortFunc(switches, func(a, b fabric.SwitchIndex) int { return cmp.Compare(l.order[a], l.order[b]) })
	return switches
}

func (l *layout) band(name string, zones ...Zone) { l.bands = append(l.bands, Band{name, zones}) }

// single returns a zone without a name.
func single(switches []fabric.SwitchIndex) Zone { return Zone{Rows: []ZoneRow{{Switches: switches}}} }

// parts adds the tiers of a tree, given from the lowest to the highest. The switches of a part are one zone. The band
// of the parts is at the place of their highest tier.
func (l *layout) parts(tiers [][]fabric.SwitchIndex, parts classify.Parts, noun string) {
	var zones []Zone
	if parts.Has() {
		zones = make([]Zone, parts.Count)
	}
	at := -1 // the band of the parts
	for tier, switches := range slices.Backward(tiers) {
		name := tierName(tier, len(tiers), noun)
		var alone []fabric.SwitchIndex
		rows := make([]ZoneRow, len(zones))
		for _, sw := range l.sorted(slices.Clone(switches)) {
			if part := partOf(parts, sw); part != classify.None {
				rows[part].Switches = append(rows[part].Switches, sw)
			} else {
				alone = append(alone, sw)
			}
		}
		if len(alone) > 0 {
			l.band(name, l.alike(alone, tier == len(tiers)-1 && parts.Has())...)
		}
		if len(alone) < len(switches) && at < 0 {
			at = len(l.bands)
			l.band(noun + "s")
		}
		for part := range rows {
			if rows[part].Switches != nil {
				rows[part].Name = prose.When(len(tiers) == 1, "", name)
				zones[part].Name = partName(noun, int32(part))
				zones[part].Rows = append(zones[part].Rows, rows[part])
			}
		}
	}
	if at >= 0 {
		l.bands[at].Zones = slices.DeleteFunc(zones, func(z Zone) bool { return len(z.Rows) == 0 })
	}
}

// alike returns zones of switches that have the same neighbours, such as the core switches of one plane. It returns a
// single zone if the argument split is false, or if there are no such sets.
func (l *layout) alike(switches []fabric.SwitchIndex, split bool) []Zone {
	if !split {
		return []Zone{single(switches)}
	}
	number := map[string]int{}
	var zones []Zone
	for _, sw := range switches {
		key := fmt.Sprint(l.neighbours(sw))
		n, ok := number[key]
		if !ok {
			n = len(zones)
			number[key] = n
			zones = append(zones, single(nil))
		}
		zones[n].Rows[0].Switches = append(zones[n].Rows[0].Switches, sw)
	}
	if 2*len(zones) > len(switches) {
		return []Zone{single(switches)}
	}
	return zones
}

// neighbours returns the switches to which a switch has links, in ascending order, without repetitions.
func (l *layout) neighbours(sw fabric.SwitchIndex) []fabric.SwitchIndex {
	var all []fabric.SwitchIndex
	for p := range l.Fabric.SwitchNode(sw).Ports() {
		if peer := l.Fabric.PeerSwitch(p); peer != fabric.None && peer != sw {
			all = append(all, peer)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// grid adds the planes of a grid.
func (l *layout) grid() {
	g := gridOf(l.Structure)
	band := Band{Name: prose.When(g.planes > 1, "planes", "grid"), Zones: make([]Zone, g.planes)}
	for z := range g.planes {
		band.Zones[z].Name = PlaneName(l.Grid.Dims, z)
		for y := g.height - 1; y >= 0; y-- {
			row := ZoneRow{Name: rowName(l.Grid.Dims[:g.up], g.across, g.up, y, 0),
				Switches: g.row(y, z), Wraps: g.across == 1 && l.Grid.Wrap[0] && l.Grid.Dims[0] > 2}
			band.Zones[z].Rows = append(band.Zones[z].Rows, row)
		}
	}
	l.bands = append(l.bands, band)
	var outside []fabric.SwitchIndex
	for sw, at := range l.Grid.At {
		if at == nil && l.Fabric.SwitchNode(fabric.SwitchIndex(sw)).InSubnet {
			outside = append(outside, fabric.SwitchIndex(sw))
		}
	}
	if outside != nil {
		l.band("outside", single(l.sorted(outside)))
	}
}

// distances adds a band for each distance from the switches with most neighbours. If many switches have as many
// neighbours, the distances are those from the first of them.
func (l *layout) distances() {
	all := l.sorted(slices.Concat(l.Tiers()...))
	around := make([][]fabric.SwitchIndex, len(l.Switches))
	most := 0
	for _, sw := range all {
		around[sw] = l.neighbours(sw)
		most = max(most, len(around[sw]))
	}
	met := make([]bool, len(l.Switches))
	var level []fabric.SwitchIndex
	for _, sw := range all {
		if len(around[sw]) == most {
			level = append(level, sw)
		}
	}
	if len(level) > 1 && len(level)*len(level) > len(all) {
		level = level[:1]
	}
	for _, sw := range level {
		met[sw] = true
	}
	for steps := 0; len(level) > 0; steps++ {
		l.band(prose.When(steps == 0, "busiest", prose.Count(steps, "hop")), single(level))
		var next []fabric.SwitchIndex
		for _, sw := range level {
			for _, peer := range around[sw] {
				if !met[peer] {
					met[peer] = true
					next = append(next, peer)
				}
			}
		}
		level = l.sorted(next)
	}
}

// unreachable adds the switches that are not part of the subnet.
func (l *layout) unreachable() {
	var list []fabric.SwitchIndex
	for i := range l.Fabric.NumSwitches() {
		if !l.Fabric.SwitchNode(i).InSubnet {
			list = append(list, i)
		}
	}
	if list != nil {
		l.band("unreachable", single(l.sorted(list)))
	}
}
