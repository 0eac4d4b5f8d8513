// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// target is an end port to which tables have routes. port is the port of the switch that leads to it, or 0 for the
// switch itself.
type target struct {
	end   fabric.PortIndex
	sw    fabric.SwitchIndex
	local uint8
	lid   uint16
	lids  int
}

// targets lists the destinations in OpenSM's order (dfsssp_do_dijkstra_routing). Configured compute nodes come first,
// then configured I/O nodes, then the other adapters, and then the switches. Each kind of adapters is sorted by
// descending weight of the switch and by port number within a switch. Routers are not routed.
func (g *graph) targets(opt *routing.Options) []target {
	switches := slices.Clone(g.members)
	slices.SortStableFunc(switches, func(a, b fabric.SwitchIndex) int { return cmp.Compare(g.hosts[b], g.hosts[a]) })
	l := lister{graph: g, opt: opt, listed: make([]bool, len(g.f.Ports))}
	for _, named := range [][]uint64{opt.ComputeNodes, opt.IONodes} {
		if len(named) == 0 {
			continue
		}
		only := make(map[uint64]bool, len(named))
		for _, guid := range named {
			only[guid] = true
		}
		for _, s := range switches {
			l.adapters(s, only)
		}
	}
	for _, s := range switches {
		l.adapters(s, nil)
	}
	for _, s := range switches {
		l.add(g.f.SwitchNode(s).FirstPort, s, 0)
	}
	return l.all
}

type lister struct {
	*graph
	opt    *routing.Options
	listed []bool
	all    []target
}

// adapters adds the adapters of a switch that are not listed yet. If the argument only is not nil, adapters adds only
// adapters in this set.
func (l *lister) adapters(s fabric.SwitchIndex, only map[uint64]bool) {
	node := l.f.SwitchNode(s)
	for p := fabric.PortIndex(1); p <= fabric.PortIndex(node.NumPorts); p++ {
		far := l.f.Ports[node.FirstPort+p].Peer
		if far != fabric.None && isAdapter(l.f, far) && (only == nil || only[l.f.Ports[far].GUID]) {
			l.add(far, s, uint8(p))
		}
	}
}

func (l *lister) add(e fabric.PortIndex, s fabric.SwitchIndex, local uint8) {
	if l.listed[e] {
		return
	}
	l.listed[e] = true
	l.all = append(l.all, target{end: e, sw: s, local: local, lid: l.f.Ports[e].LID, lids: lids(l.f, e, l.opt)})
}
