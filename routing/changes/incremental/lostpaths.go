// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// lostPaths are the shortest paths to a switch of those that have lost theirs: the same for all its LIDs for which the same have.
type lostPaths struct {
	lost, reached []fabric.SwitchIndex
	// cables are those that can be taken, in as many words for each of reached as [least] has.
	cables []uint64
}

// pathFinder keeps the paths to each switch that were last found in a failure.
type pathFinder struct {
	// at is by switch where in found its paths are, from 1 up. What is behind found is memory of failures before.
	at    []int32
	to    []fabric.SwitchIndex
	found []lostPaths
}

// forget makes room for another failure.
func (m *pathFinder) forget() {
	for _, to := range m.to {
		m.at[to] = 0
	}
	m.to, m.found = m.to[:0], m.found[:0]
}

// of are the paths to a switch, none where there were none before.
func (m *pathFinder) of(to fabric.SwitchIndex) *lostPaths {
	if m.at[to] == 0 {
		m.to = append(m.to, to)
		m.at[to] = int32(len(m.to))
		m.found = slices.Grow(m.found, 1)[:len(m.to)]
		m.found[len(m.to)-1].lost = m.found[len(m.to)-1].lost[:0]
	}
	return &m.found[m.at[to]-1]
}

// takePaths gives the lost switches the paths of the fewest hops to the switch of a LID that is in [least].
func (w *Worker) takePaths(lid uint16, to fabric.SwitchIndex) {
	m := w.paths.of(to)
	if !slices.Equal(m.lost, w.lost) {
		w.findLostPaths(m)
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

// findLostPaths finds the paths of the lost switches, which stay lost.
func (w *Worker) findLostPaths(m *lostPaths) {
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
