// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"context"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/routing"
)

// matrix holds the hop counts between switches if some turns are forbidden.
type matrix struct {
	f      *fabric.Fabric
	n      int
	stride int // the length of a row of counts: n, rounded up to whole words of bits
	words  int // of a set of ports
	steps  steps
	// penalty is the cost of a forbidden step. It is 0 if forbidden steps are never taken.
	penalty uint8
	// preset, if not nil, returns the initial hop counts of the search to switch dst, or nil if there are none.
	preset func(dst fabric.SwitchIndex) routing.Hops

	// least[s*stride+d] is the least count from switch s to switch d.
	least []uint8
	// leastBits holds the least counts as bit planes. barredBits has the same indexes: the least count from which the
	// search to d last tried the barred steps out of s. Both are set only if all searches are plain. Together they
	// determine the counts of all ports.
	leastBits, barredBits *planes
	// sets holds the ports with the least count, at index words x (s*n+d). It is set only if not all searches are
	// plain.
	sets []uint64

	// ends[d] is the end state of the search to switch d. If not all searches are plain, it is computed when it is
	// first needed.
	once sync.Once
	ends []endState
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

// search fills the matrix and returns the highest count.
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

// From returns the least counts from switch sw, indexed by switch. The caller must not change the row.
func (m *matrix) From(sw fabric.SwitchIndex) []uint8 { return m.least[int(sw)*m.stride:][:m.n] }

// forget frees the data that only the computation of tables needs.
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
