// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// fullWalker searches like [walker], but keeps the counts of all ports. It can start from given counts and take steps
// that are not allowed.
type fullWalker struct {
	*matrix
	counts
	queue
	// hops holds the counts of all ports, indexed by slot.
	hops  []uint8
	state []state
}

func newFullWalker(m *matrix) *fullWalker {
	return &fullWalker{
		matrix: m,
		counts: counts{least: make([]uint8, m.n), sets: make([]uint64, m.n*m.words)},
		queue:  queue{ring: make([]fabric.SwitchIndex, m.n)},
		hops:   make([]uint8, m.steps.slot[m.n]),
		state:  make([]state, m.n),
	}
}

func (w *fullWalker) search(dst fabric.SwitchIndex) {
	fill(w.hops, routing.NoHops)
	fill(w.counts.least, routing.NoHops)
	clear(w.counts.sets)
	clear(w.state)
	if !w.f.SwitchNode(dst).InSubnet {
		return
	}
	w.begin(dst)
	w.counts.least[dst] = 0
	clear(w.counts.sets[int(dst)*w.words : (int(dst)+1)*w.words])
	for w.push(dst); w.length > 0; {
		s := w.pop()
		narrowed := w.state[s].narrowed // a cable from s to s may change it
		w.state[s].queued = false
		for _, st := range w.steps.all.of(s) {
			if peer := &w.state[st.peer()]; w.try(s, st, narrowed) && !peer.queued {
				peer.queued, peer.narrowed = true, st.turn() == narrows
				w.push(st.peer())
			}
		}
	}
}

// begin sets the initial counts of the search to switch dst.
func (w *fullWalker) begin(dst fabric.SwitchIndex) {
	if w.preset == nil {
		return
	}
	given := w.preset(dst)
	if given == nil {
		return
	}
	for _, st := range w.steps.all.list {
		if h := given.Through(st.peer(), st.port(), dst); h != routing.NoHops {
			w.set(st, h)
		}
	}
}

// tooFar is the count from which on OpenSM does not take a step that is not allowed.
const tooFar = 64

// try takes a step out of switch s. It reports whether the step lowered a count.
func (w *fullWalker) try(s fabric.SwitchIndex, st step, narrowed bool) bool {
	h, hops := w.counts.least[s], &w.hops[w.steps.slot[st.peer()]+int32(st.port())]
	old := *hops
	if narrowed && st.turn() == barred {
		if w.penalty == 0 {
			return false
		}
		if h += w.penalty; h >= tooFar {
			// OpenSM forgets the existing path but not its count, and continues.
			*hops = routing.NoHops
			w.counts.sets[int(st.peer())*w.words+int(st.port()>>6)] &^= 1 << (st.port() & 63)
		}
	}
	if int(h)+1 >= int(old) {
		return false
	}
	w.longest = max(w.longest, h+1)
	w.set(st, h+1)
	return true
}

// set sets the count of the port to which a step leads.
func (w *fullWalker) set(st step, h uint8) {
	w.hops[w.steps.slot[st.peer()]+int32(st.port())] = h
	least := &w.counts.least[st.peer()]
	if h > *least {
		return
	}
	set := w.counts.sets[int(st.peer())*w.words : (int(st.peer())+1)*w.words]
	if h < *least {
		*least = h
		clear(set)
	}
	set[st.port()>>6] |= 1 << (st.port() & 63)
}
