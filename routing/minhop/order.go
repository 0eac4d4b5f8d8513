// SPDX-License-Identifier: Apache-2.0

package minhop

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// group is the targets behind one switch: they share their least-hop ports.
type group struct {
	sw      int32
	targets []target
}

// target is an end port of a channel adapter or router.
type target struct {
	lid uint16
	// local is the port of the group's switch that leads to it.
	local uint8
}

// targetOrder lists the end ports behind switches in the order in which OpenSM
// spreads them over ports (osm_ucast_mgr.c, sort_ports_by_switch_load): the
// switch with the most of them first, switches alike in table order, by port
// number within a switch.
func targetOrder(f *fabric.Fabric) []group {
	var groups []group
	for s := range f.Switches {
		n := f.SwitchNode(int32(s))
		if !n.InSubnet {
			continue
		}
		g := group{sw: int32(s)}
		for num := 1; num <= int(n.NumPorts); num++ {
			peer := f.Ports[n.FirstPort+int32(num)].Peer
			if peer == fabric.None || f.Nodes[f.Ports[peer].Node].Switch != fabric.None {
				continue
			}
			g.targets = append(g.targets, target{lid: f.Ports[peer].LID, local: uint8(num)})
		}
		if len(g.targets) > 0 {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(len(b.targets), len(a.targets)) })
	return groups
}
