// SPDX-License-Identifier: Apache-2.0

// Package adaptive makes the groups of ports by which switches route adaptively.
package adaptive

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Grouped returns the tables with groups beside them: at each switch those of all ports by which the switch of a LID is
// the fewest hops away, as the engine that gave hops counts them. By the hops of up/down routing that is what a subnet
// manager's ar_updn publishes. A LID with one such port is left to the linear table.
// O(switches x switches x ports + switches x LIDs) on all processors.
func Grouped(ctx context.Context, t *fabric.Tables, hops routing.Hops) (*fabric.Tables, error) {
	f := t.Fabric
	a := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(f.Switches))}
	lids := lidsBySwitch(f)
	err := routing.ForEach(ctx, len(f.Switches), nil, func(_, s int) {
		if sw := fabric.SwitchIndex(s); f.SwitchNode(sw).InSubnet && t.Known[s] {
			a.Switches[s] = groupsOf(t, hops, sw, lids)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("group the ports of %s: %w", t.Origin, err)
	}
	with := *t
	with.Adaptive = a
	return &with, nil
}

// lidsBySwitch are the LIDs of a switch and of what is attached to it.
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

func groupsOf(t *fabric.Tables, hops routing.Hops, sw fabric.SwitchIndex, lids [][]uint16) fabric.AdaptiveSwitch {
	table := fabric.AdaptiveTable{Top: t.LFT.MaxLID, Entries: make([]fabric.AdaptiveEntry, int(t.LFT.MaxLID)+1)}
	s := fabric.AdaptiveSwitch{Enabled: true, SLs: 0xffff, HashSLs: 0xffff, Groups: make([]fabric.PortGroup, 1)} // numbers begin at 1
	numbers := map[routing.PortSet]int{}
	ports := portsOf(t.Fabric, sw)
	for dst := range t.Fabric.NumSwitches() {
		if dst == sw || len(lids[dst]) == 0 {
			continue
		}
		var set routing.PortSet
		var group []uint8
		least := hops.Least(sw, dst)
		for _, p := range ports {
			if least != routing.NoHops && hops.Through(sw, p, dst) == least {
				set.Add(p)
				group = append(group, p)
			}
		}
		if len(group) < 2 {
			continue
		}
		n, ok := numbers[set]
		if !ok && len(s.Groups) <= fabric.MaxGroup {
			n = len(s.Groups)
			numbers[set] = n
			s.Groups = append(s.Groups, fabric.PortGroup{slices.Clip(group)})
		}
		if n == 0 {
			continue // there is no number left
		}
		for _, lid := range lids[dst] {
			table.Entries[lid] = fabric.NewAdaptiveEntry(fabric.StateFree, n)
		}
	}
	s.Tables = []fabric.AdaptiveTable{table}
	return s
}

// portsOf are the ports of a switch that are linked to switches.
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
