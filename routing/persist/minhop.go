// SPDX-License-Identifier: Apache-2.0

package persist

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/snapshot"
	"example.org/ibconsole/routing"
)

// MinHops are the min-hop tables of a fabric by the counts that an engine routed
// by. It fails with ctx's error where ctx ends first. O(switches^2 x ports).
func MinHops(ctx context.Context, f *fabric.Fabric, hops routing.Hops) (*snapshot.MinHop, error) {
	n := len(f.Switches)
	m := &snapshot.MinHop{Least: make([]uint8, n*n), Words: 1}
	for s := range f.Switches {
		m.Words = max(m.Words, routing.PortSetWords(f.SwitchNode(int32(s)).NumPorts))
	}
	m.Ports = make([]uint64, n*n*m.Words)
	graph := routing.NewGraph(f)
	err := routing.ForEach(ctx, n, nil, func(_, s int) {
		sets := routing.PortSetsOf(m.Ports[s*n*m.Words:(s+1)*n*m.Words], m.Words)
		for d := range n {
			least := hops.Least(int32(s), int32(d))
			m.Least[s*n+d] = least
			if least == routing.NoHops {
				continue
			}
			for _, l := range graph.Of(int32(s)) {
				if hops.Through(int32(s), l.Port, int32(d)) == least {
					sets.Add(int32(d), l.Port)
				}
			}
		}
	})
	return m, err
}

// savedHops are saved min-hop tables as those of a subnet whose switches are the
// same. They are an [assign.Matrix].
type savedHops struct {
	f     *fabric.Fabric
	m     *snapshot.MinHop
	n     int
	index []int32 // of each switch in the saved fabric
	// alive are the ports of each switch that lead to where they led.
	alive []routing.PortSet
}

// newSavedHops returns nil where a switch of the subnet was not saved.
func newSavedHops(f *fabric.Fabric, saved *snapshot.Snapshot) *savedHops {
	was := saved.Fabric
	h := &savedHops{f: f, m: saved.Routing.MinHop, n: len(was.Switches), index: make([]int32, len(f.Switches)), alive: make([]routing.PortSet, len(f.Switches))}
	for s := range f.Switches {
		n := f.SwitchNode(int32(s))
		i := was.SwitchByGUID(n.GUID)
		if h.index[s] = i; i == fabric.None {
			if n.InSubnet {
				return nil
			}
			continue
		}
		old := was.SwitchNode(i)
		for p := 1; p <= int(min(n.NumPorts, old.NumPorts)); p++ {
			a, b := was.PeerSwitch(old.FirstPort+int32(p)), f.PeerSwitch(n.FirstPort+int32(p))
			if a != fabric.None && b != fabric.None && was.SwitchNode(a).GUID == f.SwitchNode(b).GUID {
				h.alive[s].Add(uint8(p))
			}
		}
	}
	return h
}

func (h *savedHops) pair(sw, dst int32) (int, bool) {
	s, d := h.index[sw], h.index[dst]
	return int(s)*h.n + int(d), s != fabric.None && d != fabric.None && h.f.SwitchNode(sw).InSubnet && h.f.SwitchNode(dst).InSubnet
}

// Least implements [routing.Hops].
func (h *savedHops) Least(sw, dst int32) uint8 {
	if i, ok := h.pair(sw, dst); ok {
		return h.m.Least[i]
	}
	return routing.NoHops
}

// Through implements [routing.Hops] for least-hop ports; others count as no way.
func (h *savedHops) Through(sw int32, port uint8, dst int32) uint8 {
	i, ok := h.pair(sw, dst)
	if !ok {
		return routing.NoHops
	}
	if port != 0 && (int(port>>6) >= h.m.Words || h.m.Ports[i*h.m.Words+int(port>>6)]>>(port&63)&1 == 0 || !h.alive[sw].Has(port)) {
		return routing.NoHops
	}
	return h.m.Least[i]
}

// LeastHopPorts implements [assign.Matrix].
func (h *savedHops) LeastHopPorts(sw int32, sets routing.PortSets) routing.PortSets {
	sets.Clear()
	for d := range h.f.Switches {
		i, ok := h.pair(sw, int32(d))
		if !ok {
			continue
		}
		for w := range sets.Words(int32(d)) {
			if w < h.m.Words {
				sets.Words(int32(d))[w] = h.m.Ports[i*h.m.Words+w] & h.alive[sw][w]
			}
		}
	}
	return sets
}
