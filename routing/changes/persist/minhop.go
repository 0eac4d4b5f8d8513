// SPDX-License-Identifier: Apache-2.0

package persist

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/routing"
)

// MinHops returns the min-hop tables of a fabric from the hop counts that an engine used. It returns the error of ctx
// if that ends first. O(switches^2 x ports).
func MinHops(ctx context.Context, f *fabric.Fabric, hops routing.Hops) (*snapshot.MinHop, error) {
	n := len(f.Switches)
	m := &snapshot.MinHop{Least: make([]uint8, n*n), Words: 1}
	for s := range f.NumSwitches() {
		m.Words = max(m.Words, routing.PortSetWords(f.SwitchNode(s).NumPorts))
	}
	m.Ports = make([]uint64, n*n*m.Words)
	graph := routing.NewGraph(f)
	err := routing.ForEach(ctx, n, nil, func(_, s int) {
		sets := routing.PortSetsOf(m.Ports[s*n*m.Words:(s+1)*n*m.Words], m.Words)
		for d := range n {
			least := hops.Least(fabric.SwitchIndex(s), fabric.SwitchIndex(d))
			m.Least[s*n+d] = least
			if least == routing.NoHops {
				continue
			}
			for _, l := range graph.Of(fabric.SwitchIndex(s)) {
				if hops.Through(fabric.SwitchIndex(s), l.Port, fabric.SwitchIndex(d)) == least {
					sets.Add(fabric.SwitchIndex(d), l.Port)
				}
			}
		}
	})
	return m, err
}

// savedHops are saved min-hop tables applied to a present subnet, all of whose switches were saved. They implement
// [assign.Matrix].
type savedHops struct {
	f     *fabric.Fabric
	m     *snapshot.MinHop
	n     int
	index []fabric.SwitchIndex // of each switch in the saved fabric
	// alive holds, for each switch, the ports that lead to the same switch as when the tables were saved.
	alive []routing.PortSet
}

// newSavedHops returns the saved min-hop tables for f, or nil if a switch of the subnet was not saved.
func newSavedHops(f *fabric.Fabric, saved *snapshot.Snapshot) *savedHops {
	was := saved.Fabric
	h := &savedHops{
		f: f, m: saved.Routing.MinHop, n: len(was.Switches), index: make([]fabric.SwitchIndex, len(f.Switches)),
		alive: make([]routing.PortSet, len(f.Switches)),
	}
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		i := was.SwitchByGUID(n.GUID)
		if h.index[s] = i; i == fabric.None {
			if n.InSubnet {
				return nil
			}
			continue
		}
		old := was.SwitchNode(i)
		for p := 1; p <= int(min(n.NumPorts, old.NumPorts)); p++ {
			a, b := was.PeerSwitch(old.FirstPort+fabric.PortIndex(p)), f.PeerSwitch(n.FirstPort+fabric.PortIndex(p))
			if a != fabric.None && b != fabric.None && was.SwitchNode(a).GUID == f.SwitchNode(b).GUID {
				h.alive[s].Add(uint8(p))
			}
		}
	}
	return h
}

func (h *savedHops) pair(sw, dst fabric.SwitchIndex) (int, bool) {
	s, d := h.index[sw], h.index[dst]
	return int(s)*h.n + int(d), s != fabric.None && d != fabric.None && h.f.SwitchNode(sw).InSubnet &&
		h.f.SwitchNode(dst).InSubnet
}

// Least implements [routing.Hops].
func (h *savedHops) Least(sw, dst fabric.SwitchIndex) uint8 {
	if i, ok := h.pair(sw, dst); ok {
		return h.m.Least[i]
	}
	return routing.NoHops
}

// Through implements [routing.Hops]. It knows only ports with the fewest hops, and returns NoHops for other ports.
func (h *savedHops) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	i, ok := h.pair(sw, dst)
	if !ok {
		return routing.NoHops
	}
	if port != 0 && (int(port>>6) >= h.m.Words || h.m.Ports[i*h.m.Words+int(port>>6)]>>(port&63)&1 == 0 ||
		!h.alive[sw].Has(port)) {
		return routing.NoHops
	}
	return h.m.Least[i]
}

// LeastHopPorts implements [assign.Matrix].
func (h *savedHops) LeastHopPorts(sw fabric.SwitchIndex, sets routing.PortSets) routing.PortSets {
	sets.Clear()
	for d := range h.f.NumSwitches() {
		i, ok := h.pair(sw, d)
		if !ok {
			continue
		}
		for w := range sets.Words(d) {
			if w < h.m.Words {
				sets.Words(d)[w] = h.m.Ports[i*h.m.Words+w] & h.alive[sw][w]
			}
		}
	}
	return sets
}
