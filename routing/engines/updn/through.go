// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// endState determines the counts of all ports after a search. It is used if not all searches are plain.
type endState struct {
	// hops holds the counts of all ports, indexed by slot. It is nil after a search by [walker].
	hops []uint8
	// tried holds the least counts from which each switch last tried its steps.
	tried []tries
}

// Through implements [routing.Hops]. Port 0 stands for the best port. If not all searches are plain, the first call
// repeats all searches and keeps the results.
func (m *matrix) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	if port == 0 {
		return m.Least(sw, dst)
	}
	slot := m.steps.slot[sw] + int32(port)
	into := m.steps.into[slot]
	if m.barredBits != nil {
		switch {
		case into == noStep:
			return routing.NoHops
		case into.turn() == barred:
			return m.barredBits.count(int(into.peer()), int(dst)) + 1
		}
		least := m.Least(into.peer(), dst)
		return max(least, least+1)
	}
	m.once.Do(m.searchAgain)
	end := &m.ends[dst]
	switch {
	case end.hops != nil:
		return end.hops[slot]
	case into == noStep:
		return routing.NoHops
	case into.turn() == barred:
		return end.tried[into.peer()].barred + 1
	}
	return end.tried[into.peer()].allowed + 1
}

func (m *matrix) searchAgain() {
	m.ends = make([]endState, m.n)
	workers := make([]*batchWorker, routing.Workers())
	err := routing.ForEach(context.Background(), m.n, nil, func(worker, d int) {
		if workers[worker] == nil {
			workers[worker] = newBatchWorker(m, nil)
		}
		m.ends[d] = workers[worker].end(fabric.SwitchIndex(d))
	})
	if err != nil {
		panic("updn: a context that never ends has ended: " + err.Error())
	}
}

func (b *batchWorker) end(dst fabric.SwitchIndex) endState {
	b.searchFrom(dst)
	if b.m.plain(dst) {
		return endState{tried: slices.Clone(b.fast.tried)}
	}
	return endState{hops: slices.Clone(b.full.hops)}
}
