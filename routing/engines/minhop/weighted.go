// SPDX-License-Identifier: Apache-2.0

package minhop

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
)

// Hops computes the hop counts of min-hop routing on the graph of a fabric: distances, or sums of weights if the
// options weight ports. It returns the error of ctx if ctx has ended.
func Hops(ctx context.Context, f *fabric.Fabric, g *routing.Graph, opt *routing.Options) (assign.Matrix, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(opt.HopWeights) == 0 {
		return g.Distances(f), nil
	}
	weights := make([]uint8, len(g.Links))
	weighted := false
	for s := range fabric.SwitchIndex(g.Switches()) {
		for i := g.First[s]; i < g.First[s+1]; i++ {
			weights[i] = 1
			if w := opt.HopWeights[routing.SwitchPort{GUID: f.SwitchNode(s).GUID, Port: g.Links[i].Port}]; w > 1 {
				weights[i], weighted = w, true
			}
		}
	}
	if !weighted {
		return g.Distances(f), nil
	}
	m := &weightedHops{graph: g, weights: weights, n: g.Switches()}
	m.begin(f, opt.CountedHops)
	return m, m.search(ctx, f)
}

// weightedHops holds hop counts in which leaving a switch counts the weight of the port. A count of 255 or more means
// that there is no path.
type weightedHops struct {
	graph   *routing.Graph
	weights []uint8 // by link of the graph
	n       int
	least   []uint8
	// prior holds, for each link and destination switch, the count of an earlier engine by the port of the link. It is
	// nil if there are no earlier counts.
	prior []uint8
}

// begin sets the counts of an earlier engine as initial counts; the argument prior is nil if there are none. Counts by
// ports to the destination switch itself are not taken over, but recomputed. Even then the least count remains,
// although no port has it (ucast_mgr_process_hop_0_1).
func (m *weightedHops) begin(f *fabric.Fabric, prior routing.LIDHops) {
	m.least = slices.Repeat([]uint8{routing.NoHops}, m.n*m.n)
	if prior == nil {
		return
	}
	m.prior = slices.Repeat([]uint8{routing.NoHops}, len(m.graph.Links)*m.n)
	for s := range fabric.SwitchIndex(m.n) {
		for d := range fabric.SwitchIndex(m.n) {
			lid := f.SwitchLID(d)
			m.least[int(s)*m.n+int(d)] = prior.LeastTo(s, lid)
			for i := m.graph.First[s]; i < m.graph.First[s+1]; i++ {
				if m.graph.Links[i].Peer != d {
					m.prior[int(i)*m.n+int(d)] = prior.ThroughTo(s, m.graph.Links[i].Port, lid)
				}
			}
		}
	}
}

// search finds the least counts from all switches to each switch.
func (m *weightedHops) search(ctx context.Context, f *fabric.Fabric) error {
	into := m.incoming()
	workers := make([]buckets, routing.Workers())
	return routing.ForEach(ctx, m.n, nil, func(worker, dst int) {
		if f.SwitchNode(fabric.SwitchIndex(dst)).InSubnet {
			m.searchTo(&workers[worker], into, fabric.SwitchIndex(dst))
		}
	})
}

// incoming returns, for each link of the graph, the weight of the port at its other end.
func (m *weightedHops) incoming() []uint8 {
	into := make([]uint8, len(m.weights))
	for s := range int32(m.n) {
		for i := m.graph.First[s]; i < m.graph.First[s+1]; i++ {
			l := m.graph.Links[i]
			j := m.graph.First[l.Peer]
			for m.graph.Links[j].Port != l.PeerPort {
				j++
			}
			into[j] = m.weights[i]
		}
	}
	return into
}

// buckets holds, for each hop count, the switches that a search has reached with this count.
type buckets [routing.NoHops][]fabric.SwitchIndex

// searchTo is Dijkstra's search from dst against the direction of packets. It uses one bucket for each hop count (Dial,
// "Shortest-path forest with topological ordering", CACM 12, 1969).
func (m *weightedHops) searchTo(b *buckets, into []uint8, dst fabric.SwitchIndex) {
	least := func(s fabric.SwitchIndex) *uint8 { return &m.least[int(s)*m.n+int(dst)] }
	*least(dst) = 0
	for s := range fabric.SwitchIndex(m.n) {
		if h := *least(s); h != routing.NoHops {
			b[h] = append(b[h], s)
		}
	}
	for hops := range b {
		for k := 0; k < len(b[hops]); k++ {
			s := b[hops][k]
			if int(*least(s)) != hops {
				continue // found again nearer
			}
			for i := m.graph.First[s]; i < m.graph.First[s+1]; i++ {
				peer, h := m.graph.Links[i].Peer, hops+int(into[i])
				if h < int(*least(peer)) {
					*least(peer) = uint8(h)
					b[h] = append(b[h], peer)
				}
			}
		}
		b[hops] = b[hops][:0]
	}
}

// Least implements [routing.Hops].
func (m *weightedHops) Least(sw, dst fabric.SwitchIndex) uint8 { return m.least[int(sw)*m.n+int(dst)] }

// From returns the least counts from switch sw, indexed by switch. The caller must not change the row.
func (m *weightedHops) From(sw fabric.SwitchIndex) []uint8 {
	return m.least[int(sw)*m.n : (int(sw)+1)*m.n]
}

// Through implements [routing.Hops]. Port 0 stands for the best port.
func (m *weightedHops) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	if port == 0 {
		return m.Least(sw, dst)
	}
	for i := m.graph.First[sw]; i < m.graph.First[sw+1]; i++ {
		if l := m.graph.Links[i]; l.Port == port && l.Peer != sw {
			return m.through(i, dst, m.Least(l.Peer, dst))
		}
	}
	return routing.NoHops
}

// through returns the count to dst by a link. The argument there is the least count of the switch at the other end of
// the link.
func (m *weightedHops) through(link int32, dst fabric.SwitchIndex, there uint8) uint8 {
	h := uint8(min(int(m.weights[link])+int(there), routing.NoHops))
	if m.prior != nil {
		h = min(h, m.prior[int(link)*m.n+int(dst)])
	}
	return h
}

// LeastHopPorts implements [assign.Matrix]. O(links of sw x switches).
func (m *weightedHops) LeastHopPorts(sw fabric.SwitchIndex, sets routing.PortSets) routing.PortSets {
	sets.Clear()
	here := m.From(sw)
	for i := m.graph.First[sw]; i < m.graph.First[sw+1]; i++ {
		l := m.graph.Links[i]
		if l.Peer == sw {
			continue
		}
		there := m.From(l.Peer)
		for d, h := range here {
			if h != routing.NoHops && m.through(i, fabric.SwitchIndex(d), there[d]) == h {
				sets.Add(fabric.SwitchIndex(d), l.Port)
			}
		}
	}
	return sets
}
