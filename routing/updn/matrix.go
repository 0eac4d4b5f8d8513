// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"context"
	"slices"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// matrix holds hop counts between switches where not all turns are allowed.
type matrix struct {
	f     *fabric.Fabric
	n     int
	words int // of a set of ports
	steps steps
	// penalty is what a step that is not allowed adds, 0 where there are none.
	penalty uint8
	// preset, where set, gives the hop counts that the search to dst starts with, or nil.
	preset func(dst int32) routing.Hops

	// least[s*n+d] is the least count from s to d, and from words x (s*n+d) on stand
	// the words of the set of ports that have it.
	least []uint8
	sets  []uint64

	// ends[d] is how the search from d ended, made when first asked for.
	once sync.Once
	ends []ending
}

// ending says what the counts of all ports are after a search.
type ending struct {
	// hops are the counts of all ports by slot, nil after a search by [walker].
	hops []uint8
	// tried are the least counts from which each switch last tried its steps.
	tried []tries
}

func newMatrix(f *fabric.Fabric, g *routing.Graph, turnOf func(from, to int32) turn) *matrix {
	m := &matrix{f: f, n: len(f.Switches), words: 1}
	for s := range f.Switches {
		m.words = max(m.words, routing.PortSetWords(f.SwitchNode(int32(s)).NumPorts))
	}
	m.steps = newSteps(f, g, turnOf)
	return m
}

// batch is how many destinations are searched from before their counts are
// written to the matrix: a cache line of sets.
const batch = 8

// search fills the matrix and returns the highest count that it came upon.
func (m *matrix) search(ctx context.Context, progress func(done, total int)) (longest uint8, err error) {
	if m.least == nil {
		m.least, m.sets = make([]uint8, m.n*m.n), make([]uint64, m.n*m.n*m.words)
	}
	workers := make([]*batchWorker, routing.Workers())
	if progress != nil {
		inner := progress
		progress = func(done, _ int) { inner(min(done*batch, m.n), m.n) }
	}
	err = routing.ForEach(ctx, (m.n+batch-1)/batch, progress, func(worker, i int) {
		if workers[worker] == nil {
			workers[worker] = newBatchWorker(m)
		}
		workers[worker].search(int32(i*batch), int32(min((i+1)*batch, m.n)))
	})
	for _, w := range workers {
		if w != nil {
			longest = max(longest, w.fast.longest, w.full.longest)
		}
	}
	return longest, err
}

// batchWorker searches from a few destinations that stand side by side.
type batchWorker struct {
	m     *matrix
	fast  *walker
	full  *fullWalker
	least []uint8
	sets  []uint64
}

func newBatchWorker(m *matrix) *batchWorker {
	return &batchWorker{
		m: m, fast: newWalker(m), full: newFullWalker(m),
		least: make([]uint8, m.n*batch), sets: make([]uint64, m.n*batch*m.words),
	}
}

func (b *batchWorker) search(from, to int32) {
	m, words := b.m, b.m.words
	for d := from; d < to; d++ {
		found := b.searchFrom(d)
		k := int(d - from)
		for s, h := range found.least {
			b.least[s*batch+k] = h
		}
		if words == 1 {
			for s, set := range found.sets {
				b.sets[s*batch+k] = set
			}
			continue
		}
		for s := range m.n {
			copy(b.sets[(s*batch+k)*words:], found.sets[s*words:(s+1)*words])
		}
	}
	width := int(to - from)
	for s := range m.n {
		at := s*m.n + int(from)
		copy(m.least[at:at+width], b.least[s*batch:])
		copy(m.sets[at*words:(at+width)*words], b.sets[s*batch*words:])
	}
}

// searchFrom finds the counts towards one switch.
func (b *batchWorker) searchFrom(dst int32) *counts {
	if b.m.plain(dst) {
		b.fast.search(dst)
		return &b.fast.counts
	}
	b.full.search(dst)
	return &b.full.counts
}

func (b *batchWorker) end(dst int32) ending {
	b.searchFrom(dst)
	if b.m.plain(dst) {
		return ending{tried: slices.Clone(b.fast.tried)}
	}
	return ending{hops: slices.Clone(b.full.hops)}
}

// plain says that the search from a switch begins with nothing and takes allowed
// steps only.
func (m *matrix) plain(dst int32) bool {
	return m.penalty == 0 && (m.preset == nil || m.preset(dst) == nil)
}

// Least implements [routing.Hops].
func (m *matrix) Least(sw, dst int32) uint8 { return m.least[int(sw)*m.n+int(dst)] }

// From is the row of least counts from one switch, indexed by switch. Read-only.
func (m *matrix) From(sw int32) []uint8 { return m.least[int(sw)*m.n : (int(sw)+1)*m.n] }

// Through implements [routing.Hops]. Port 0 stands for the best port. The first
// call searches once more, and keeps what it finds.
func (m *matrix) Through(sw int32, port uint8, dst int32) uint8 {
	if port == 0 {
		return m.Least(sw, dst)
	}
	m.once.Do(m.searchAgain)
	slot, end := m.steps.slot[sw]+int32(port), &m.ends[dst]
	if end.hops != nil {
		return end.hops[slot]
	}
	into := m.steps.into[slot]
	switch {
	case into.peer == fabric.None:
		return routing.NoHops
	case into.turn == barred:
		return end.tried[into.peer].barred + 1
	}
	return end.tried[into.peer].allowed + 1
}

func (m *matrix) searchAgain() {
	m.ends = make([]ending, m.n)
	workers := make([]*batchWorker, routing.Workers())
	err := routing.ForEach(context.Background(), m.n, nil, func(worker, d int) {
		if workers[worker] == nil {
			workers[worker] = newBatchWorker(m)
		}
		m.ends[d] = workers[worker].end(int32(d))
	})
	if err != nil {
		panic("updn: a context that never ends has ended: " + err.Error())
	}
}

// forget gives up what only the making of tables needs.
func (m *matrix) forget() { m.sets = nil }

// LeastHopPorts implements [assign.Matrix].
func (m *matrix) LeastHopPorts(sw int32, _ routing.PortSets) routing.PortSets {
	return routing.PortSetsOf(m.sets[int(sw)*m.n*m.words:(int(sw)+1)*m.n*m.words], m.words)
}
