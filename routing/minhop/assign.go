// SPDX-License-Identifier: Apache-2.0

package minhop

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// assigner fills the forwarding table of one switch after the other. Its
// scratch memory belongs to one goroutine.
type assigner struct {
	f      *fabric.Fabric
	dist   *routing.Distances
	groups []group
	// ports[d] are the least-hop ports towards switch d.
	ports []routing.PortSet
	// count[p] is how many targets leave by port p.
	count [256]uint32
	best  []uint8
}

func newAssigner(f *fabric.Fabric, dist *routing.Distances, groups []group) *assigner {
	return &assigner{f: f, dist: dist, groups: groups, ports: make([]routing.PortSet, len(f.Switches)), best: make([]uint8, 0, 256)}
}

// assign computes the row of switch s.
func (a *assigner) assign(s int32, row []byte) {
	a.findPorts(s)
	clear(a.count[:])
	for _, g := range a.groups {
		if g.sw == s {
			for _, t := range g.targets {
				row[t.lid] = t.local
			}
			continue
		}
		a.spread(&a.ports[g.sw], g.targets, row)
	}
	for d := range a.f.Switches {
		lid := a.f.SwitchLID(int32(d))
		switch {
		case int32(d) == s:
			row[lid] = 0
		case a.f.SwitchNode(int32(d)).InSubnet:
			if best := a.leastUsed(&a.ports[d]); len(best) > 0 {
				row[lid] = best[0]
			}
		}
	}
}

// findPorts computes the least-hop ports of switch s towards every switch: those
// whose neighbour is nearer than s itself.
func (a *assigner) findPorts(s int32) {
	clear(a.ports)
	here := a.dist.From(s)
	n := a.f.SwitchNode(s)
	for num := 1; num <= int(n.NumPorts); num++ {
		peer := a.f.PeerSwitch(n.FirstPort + int32(num))
		if peer == fabric.None || peer == s {
			continue
		}
		word, bit := num>>6, uint64(1)<<(num&63)
		there := a.dist.From(peer)[:len(here)]
		ports := a.ports[:len(here)]
		for d := range here {
			nearer := uint64((int64(there[d]) - int64(here[d])) >> 63)
			ports[d][word] |= bit & nearer
		}
	}
}

// spread gives each target the least used of the ports, the lowest where
// several are. Ports fill up in rounds: all with the least count take one target
// each, in ascending order, then the next count is the least.
func (a *assigner) spread(ports *routing.PortSet, targets []target, row []byte) {
	for len(targets) > 0 {
		best := a.leastUsed(ports)
		if len(best) == 0 {
			return
		}
		for i, p := range best[:min(len(best), len(targets))] {
			row[targets[i].lid] = p
			a.count[p]++
		}
		targets = targets[min(len(best), len(targets)):]
	}
}

// leastUsed lists the ports with the least count, ascending. The result holds
// until the next call.
func (a *assigner) leastUsed(ports *routing.PortSet) []uint8 {
	all := ports.AppendTo(a.best[:0])
	least := ^uint32(0)
	for _, p := range all {
		least = min(least, a.count[p])
	}
	best := all[:0]
	for _, p := range all {
		if a.count[p] == least {
			best = append(best, p)
		}
	}
	return best
}
