// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"context"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// turn is what a step does to the steps after it. The search goes from the
// destination outwards, against the direction of travel.
type turn uint8

const (
	// free steps are always allowed and leave the next one free.
	free turn = iota
	// narrows steps are always allowed, but no barred one may follow at once.
	narrows
	// barred steps are allowed after free and barred ones.
	barred
)

// step is one way out of a switch.
type step struct {
	peer int32
	// slot is the place of the peer's port among all ports.
	slot int32
	// port is the peer's port.
	port uint8
	turn turn
}

// steps are those out of all switches, by port, in flat arrays.
type steps struct {
	list  []step
	first []int32
}

func (s *steps) of(sw int32) []step { return s.list[s.first[sw]:s.first[sw+1]] }

// matrix holds hop counts between switches where not all turns are allowed.
type matrix struct {
	f *fabric.Fabric
	n int
	// all are the steps out of each switch, and allowed those that are not barred.
	all, allowed steps
	// slot is the place of port 0 of each switch among all ports, then their number.
	slot []int32
	// penalty is what a step that is not allowed adds, 0 where there are none.
	penalty uint8
	// preset, where set, gives the hop counts that the search to dst starts with, or nil.
	preset func(dst int32) routing.Hops

	// least[s*n+d] is the least count from s to d. From words x (s*n+d) on stand
	// the words of the set of ports that have it.
	least []uint8
	words int
	sets  []uint64

	// full[d] are the counts of all ports towards d, by slot, made when first asked for.
	once sync.Once
	full [][]uint8
}

func newMatrix(f *fabric.Fabric, g *routing.Graph, turnOf func(from, to int32) turn) *matrix {
	m := &matrix{f: f, n: g.Switches(), slot: make([]int32, 1, g.Switches()+1), words: 1}
	for s := range f.Switches {
		n := f.SwitchNode(int32(s))
		m.slot = append(m.slot, m.slot[s]+int32(n.NumPorts)+1)
		m.words = max(m.words, int(n.NumPorts)/64+1)
	}
	m.all.first, m.allowed.first = make([]int32, 1, m.n+1), make([]int32, 1, m.n+1)
	m.all.list = make([]step, 0, len(g.Links))
	for s := range int32(m.n) {
		for _, l := range g.Of(s) {
			st := step{peer: l.Peer, slot: m.slot[l.Peer] + int32(l.PeerPort), port: l.PeerPort, turn: turnOf(s, l.Peer)}
			m.all.list = append(m.all.list, st)
			if st.turn != barred {
				m.allowed.list = append(m.allowed.list, st)
			}
		}
		m.all.first = append(m.all.first, int32(len(m.all.list)))
		m.allowed.first = append(m.allowed.first, int32(len(m.allowed.list)))
	}
	return m
}

// search fills the matrix and returns the highest count that it came upon.
func (m *matrix) search(ctx context.Context, progress func(done, total int)) (longest uint8, err error) {
	if m.least == nil {
		m.least, m.sets = make([]uint8, m.n*m.n), make([]uint64, m.n*m.n*m.words)
	}
	walkers := make([]*walker, routing.Workers())
	err = routing.ForEach(ctx, m.n, progress, func(worker, dst int) {
		if walkers[worker] == nil {
			walkers[worker] = newWalker(m)
		}
		w := walkers[worker]
		w.start(int32(dst))
		if m.f.SwitchNode(int32(dst)).InSubnet {
			w.walk(int32(dst))
		}
		for s, h := range w.least {
			at := s*m.n + dst
			m.least[at] = h
			copy(m.sets[at*m.words:(at+1)*m.words], w.sets[s*m.words:])
		}
	})
	for _, w := range walkers {
		if w != nil {
			longest = max(longest, w.longest)
		}
	}
	return longest, err
}

// Least implements [routing.Hops].
func (m *matrix) Least(sw, dst int32) uint8 { return m.least[int(sw)*m.n+int(dst)] }

// Through implements [routing.Hops]. Port 0 stands for the best port. The first
// call searches once more, and keeps a byte a port and destination.
func (m *matrix) Through(sw int32, port uint8, dst int32) uint8 {
	if port == 0 {
		return m.Least(sw, dst)
	}
	m.once.Do(func() {
		m.full = make([][]uint8, m.n)
		walkers := make([]*walker, routing.Workers())
		_ = routing.ForEach(context.Background(), m.n, nil, func(worker, d int) {
			if walkers[worker] == nil {
				walkers[worker] = newWalker(m)
			}
			w := walkers[worker]
			w.start(int32(d))
			if m.f.SwitchNode(int32(d)).InSubnet {
				w.walk(int32(d))
			}
			m.full[d] = append([]uint8(nil), w.hops...)
		})
	})
	return m.full[dst][m.slot[sw]+int32(port)]
}

// LeastHopPorts implements [assign.Matrix].
func (m *matrix) LeastHopPorts(sw int32, sets []routing.PortSet) {
	row := m.sets[int(sw)*m.n*m.words : (int(sw)+1)*m.n*m.words]
	for d := range sets {
		sets[d] = routing.PortSet{}
		copy(sets[d][:], row[d*m.words:(d+1)*m.words])
	}
}
