// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// ways are the shortest ways to a switch of those that have lost theirs: the same for all its LIDs for which the same have.
type ways struct {
	lost, reached []fabric.SwitchIndex
	// cables are those that can be taken, in as many words for each of reached as [least] has.
	cables []uint64
}

// wayFinder keeps the ways to each switch that were last found in a failure.
type wayFinder struct {
	// at is by switch where in found its ways are, from 1 up. What is behind found is memory of failures before.
	at    []int32
	to    []fabric.SwitchIndex
	found []ways
}

// forget makes room for another failure.
func (m *wayFinder) forget() {
	for _, to := range m.to {
		m.at[to] = 0
	}
	m.to, m.found = m.to[:0], m.found[:0]
}

// of are the ways to a switch, none where there were none before.
func (m *wayFinder) of(to fabric.SwitchIndex) *ways {
	if m.at[to] == 0 {
		m.to = append(m.to, to)
		m.at[to] = int32(len(m.to))
		m.found = slices.Grow(m.found, 1)[:len(m.to)]
		m.found[len(m.to)-1].lost = m.found[len(m.to)-1].lost[:0]
	}
	return &m.found[m.at[to]-1]
}

// takeWays gives the lost switches the paths of the fewest hops to the switch of a LID that is in [least].
func (w *Worker) takeWays(lid uint16, to fabric.SwitchIndex) {
	m := w.ways.of(to)
	if !slices.Equal(m.lost, w.lost) {
		w.findWays(m)
	}
	cables, first := m.cables, w.base.least.first
	for _, s := range m.reached {
		n := first[s+1] - first[s]
		port, _ := w.pick(s, cables[:n], w.entries[s])
		w.set(s, lid, port)
		w.state[s] = found
		cables = cables[n:]
	}
	w.noteUnreached(lid)
}

// findWays finds the ways of the lost switches, which stay lost.
func (w *Worker) findWays(m *ways) {
	w.findHops()
	m.cables = m.cables[:0]
	m.lost, m.reached = append(m.lost[:0], w.lost...), append(m.reached[:0], w.reached...)
	for _, s := range m.reached {
		for i, l := range w.base.Graph.Of(s) {
			if i%64 == 0 {
				m.cables = append(m.cables, 0)
			}
			if w.hopsOf(l.Peer)+1 == w.hops[s] {
				m.cables[len(m.cables)-1] |= 1 << (i % 64)
			}
		}
	}
	for _, s := range m.reached {
		w.state[s] = lost
	}
}
