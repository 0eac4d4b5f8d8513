// SPDX-License-Identifier: Apache-2.0

// Package adaptive computes the groups of ports among which switches route adaptively.
package adaptive

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// How controls how switches use their groups.
type How struct {
	SLs         uint16 // SLs whose packets are routed adaptively, one bit each
	FastReroute bool
}

// Always routes the packets of all SLs adaptively. Fast reroute, the rerouting by switches themselves, is off.
var Always = How{SLs: 0xffff}

// Grouped returns the tables with port groups. For each LID, the group of a switch contains all ports through which the
// LID's switch is the fewest hops away, by the hop counts of the engine. With the hop counts of up/down routing, these
// are the groups that a subnet manager's ar_updn publishes. A LID for which the group would have only one port uses
// only the linear table. O(switches x switches x ports + switches x LIDs) on all processors.
func Grouped(ctx context.Context, t *fabric.Tables, hops routing.Hops, how How) (*fabric.Tables, error) {
	lids := lidsBySwitch(t.Fabric)
	return grouped(ctx, t, how, func(m *maker) { m.byHops(hops, lids) })
}

// Aggregated returns the tables with port groups. The group of a switch for a LID contains all ports that lead to the
// same switch as the port of the linear table. A subnet manager's ar_dor and ar_torus publish these groups. O(switches
// x LIDs x ports) on all processors.
func Aggregated(ctx context.Context, t *fabric.Tables, how How) (*fabric.Tables, error) {
	return grouped(ctx, t, how, (*maker).byNextSwitch)
}

// grouped makes the groups of each switch.
func grouped(ctx context.Context, t *fabric.Tables, how How, group func(*maker)) (*fabric.Tables, error) {
	f := t.Fabric
	a := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(f.Switches))}
	err := routing.ForEach(ctx, len(f.Switches), nil, func(_, s int) {
		if sw := fabric.SwitchIndex(s); f.SwitchNode(sw).InSubnet && t.Known[s] {
			m := newMaker(t, sw, how)
			group(m)
			m.made.Tables = []fabric.AdaptiveTable{m.table}
			a.Switches[s] = m.made
		}
	})
	if err != nil {
		return nil, fmt.Errorf("group the ports of %s: %w", t.Origin, err)
	}
	with := *t
	with.Adaptive = a
	return &with, nil
}

// lidsBySwitch returns, for each switch, its own LIDs and the LIDs of the end ports attached to it.
func lidsBySwitch(f *fabric.Fabric) [][]uint16 {
	lids := make([][]uint16, len(f.Switches))
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		if sw, _ := f.AttachedSwitch(e); sw != fabric.None && p.LID != 0 {
			for lid := int(p.LID); lid < int(p.LID)+1<<p.LMC; lid++ {
				lids[sw] = append(lids[sw], uint16(lid))
			}
		}
	}
	return lids
}

// maker makes the groups of a switch.
type maker struct {
	t       *fabric.Tables
	sw      fabric.SwitchIndex
	ports   []uint8
	numbers map[routing.PortSet]int
	table   fabric.AdaptiveTable
	made    fabric.AdaptiveSwitch
}

func newMaker(t *fabric.Tables, sw fabric.SwitchIndex, how How) *maker {
	return &maker{
		t: t, sw: sw, ports: portsOf(t.Fabric, sw), numbers: map[routing.PortSet]int{},
		table: fabric.AdaptiveTable{Top: t.LFT.MaxLID, Entries: make([]fabric.AdaptiveEntry, int(t.LFT.MaxLID)+1)},
		made: fabric.AdaptiveSwitch{Enabled: true, FastReroute: how.FastReroute, SLs: how.SLs, HashSLs: 0xffff,
			Groups: make([]fabric.PortGroup, 1)}, // numbers begin at 1
	}
}

func (m *maker) byHops(hops routing.Hops, lids [][]uint16) {
	for dst := range m.t.Fabric.NumSwitches() {
		if dst == m.sw || len(lids[dst]) == 0 {
			continue
		}
		var group []uint8
		least := hops.Least(m.sw, dst)
		for _, p := range m.ports {
			if least != routing.NoHops && hops.Through(m.sw, p, dst) == least {
				group = append(group, p)
			}
		}
		if n := m.number(group); n != 0 {
			for _, lid := range lids[dst] {
				m.table.Entries[lid] = fabric.NewAdaptiveEntry(fabric.StateFree, n)
			}
		}
	}
}

func (m *maker) byNextSwitch() {
	f := m.t.Fabric
	node := f.Switches[m.sw]
	parallel := map[uint8]int{} // by port, the number of the group
	for _, p := range m.ports {
		var group []uint8
		for _, other := range m.ports {
			if f.PeerNode(f.Port(node, other)) == f.PeerNode(f.Port(node, p)) {
				group = append(group, other)
			}
		}
		parallel[p] = m.number(group)
	}
	for lid := uint16(1); lid <= m.table.Top && lid != 0; lid++ {
		if n := parallel[m.t.LFT.Port(m.sw, lid)]; n != 0 {
			m.table.Entries[lid] = fabric.NewAdaptiveEntry(fabric.StateFree, n)
		}
	}
}

// number returns the number of a group at the current switch. It returns 0 if the group has fewer than two ports or all
// group numbers are taken.
func (m *maker) number(group []uint8) int {
	if len(group) < 2 {
		return 0
	}
	var set routing.PortSet
	for _, p := range group {
		set.Add(p)
	}
	n, ok := m.numbers[set]
	if !ok && len(m.made.Groups) <= fabric.MaxGroup {
		n = len(m.made.Groups)
		m.numbers[set] = n
		m.made.Groups = append(m.made.Groups, fabric.PortGroup{slices.Clip(group)})
	}
	return n
}

// portsOf returns the ports of a switch that are linked to switches.
func portsOf(f *fabric.Fabric, sw fabric.SwitchIndex) []uint8 {
	var ports []uint8
	n := f.SwitchNode(sw)
	for p := 1; p <= int(n.NumPorts); p++ {
		if f.PeerSwitch(n.FirstPort+fabric.PortIndex(p)) != fabric.None {
			ports = append(ports, uint8(p))
		}
	}
	return ports
}
