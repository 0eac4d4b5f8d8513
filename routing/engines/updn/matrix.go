// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"context"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/routing"
)

// matrix holds hop counts between switches where not all turns are allowed.
type matrix struct {
	f      *fabric.Fabric
	n      int
	stride int // of a row of counts: n, and what is missing to whole words of bits
	words  int // of a set of ports
	steps  steps
	// penalty is what a step that is not allowed adds, 0 where there are none.
	penalty uint8
	// preset, where set, gives the hop counts that the search to dst starts with, or nil.
	preset func(dst fabric.SwitchIndex) routing.Hops

	// least[s*stride+d] is the least count from s to d.
	least []uint8
	// leastBits has the least counts too, and barredBits by the same place the least count from which the search from d
	// last tried the barred steps out of s, where all searches are plain. The two are what all ports have.
	leastBits, barredBits *planes
	// sets has, where searches are not plain, from words x (s*n+d) on the words of the ports that have the least count.
	sets []uint64

	// ends[d] is how the search from d ended, made when first asked for where searches are not plain.
	once sync.Once
	ends []ending
}

func newMatrix(f *fabric.Fabric, g *routing.Graph, turnOf func(from, to fabric.SwitchIndex) turn) *matrix {
	n := len(f.Switches)
	m := &matrix{f: f, n: n, stride: (n + 63) &^ 63, words: 1}
	for s := range f.NumSwitches() {
		m.words = max(m.words, routing.PortSetWords(f.SwitchNode(s).NumPorts))
	}
	m.steps = newSteps(f, g, turnOf)
	return m
}

// search fills the matrix and returns the highest count that it came upon.
func (m *matrix) search(ctx context.Context, progress func(done, total int)) (longest uint8, err error) {
	if m.least == nil {
		m.least = hugepages.Make[uint8](m.n * m.stride)
	}
	m.leastBits, m.barredBits = nil, nil
	var barred []uint8 // as barredBits
	if m.allPlain() {
		barred = hugepages.Make[uint8](m.n * m.stride)
	} else {
		m.sets = make([]uint64, m.n*m.n*m.words)
	}
	workers := make([]*batchWorker, routing.Workers())
	if progress != nil {
		inner := progress
		progress = func(done, _ int) { inner(min(done*batch, m.n), m.n) }
	}
	err = routing.ForEach(ctx, (m.n+batch-1)/batch, progress, func(worker, i int) {
		if workers[worker] == nil {
			workers[worker] = newBatchWorker(m, barred)
		}
		workers[worker].search(fabric.SwitchIndex(i*batch), fabric.SwitchIndex(min((i+1)*batch, m.n)))
	})
	for _, w := range workers {
		if w != nil {
			longest = max(longest, w.fast.longest)
			if w.full != nil {
				longest = max(longest, w.full.longest)
			}
		}
	}
	if err != nil || barred == nil {
		return longest, err
	}
	if m.leastBits, err = newPlanes(ctx, m.least, m.n, longest); err != nil {
		return 0, err
	}
	m.barredBits, err = newPlanes(ctx, barred, m.n, longest)
	return longest, err
}

// Least implements [routing.Hops].
func (m *matrix) Least(sw, dst fabric.SwitchIndex) uint8 { return m.least[int(sw)*m.stride+int(dst)] }

// From is the row of least counts from one switch, indexed by switch. Read-only.
func (m *matrix) From(sw fabric.SwitchIndex) []uint8 { return m.least[int(sw)*m.stride:][:m.n] }

// forget gives up what only the making of tables needs.
func (m *matrix) forget() { m.sets = nil }

// LeastHopPorts implements [assign.Matrix].
func (m *matrix) LeastHopPorts(sw fabric.SwitchIndex, sets routing.PortSets) routing.PortSets {
	if m.barredBits != nil {
		m.comparePorts(sw, sets)
		return sets
	}
	for d := range m.f.NumSwitches() {
		copy(sets.Words(d), m.sets[(int(sw)*m.n+int(d))*m.words:])
	}
	return sets
}
