// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// counts is the result of a search: the least count of each switch, and the ports that have this count.
type counts struct {
	least []uint8
	sets  []uint64
	// longest is the highest count that any search has set.
	longest uint8
}

// queue is a ring buffer that contains each switch at most once.
type queue struct {
	ring         []fabric.SwitchIndex
	head, length int
}

func (q *queue) push(s fabric.SwitchIndex) {
	tail := q.head + q.length
	if tail >= len(q.ring) {
		tail -= len(q.ring)
	}
	q.ring[tail] = s
	q.length++
}

func (q *queue) pop() fabric.SwitchIndex {
	s := q.ring[q.head]
	if q.head++; q.head == len(q.ring) {
		q.head = 0
	}
	q.length--
	return s
}

// walker searches from one destination at a time. Like OpenSM's searches it does more than a breadth-first search. When
// a count of a port falls, the switch is processed again, even if it was processed before. It continues with the
// direction of the step that lowered the count, but from the least count of the switch.
//
// A port's count is set only by steps from the switch at the other end of the link. Therefore the count of a port that
// an allowed step enters need not be stored. It is one more than the least count from which that other switch last
// tried its allowed steps.
type walker struct {
	*matrix
	counts
	queue
	state []state
	tried []tries
}

// state is the state of a switch in a search, in addition to its counts.
type state struct {
	queued bool
	// narrowed is set if the step that added the switch to the queue narrows the next steps.
	narrowed bool
}

// tries holds the least counts from which a switch last tried its allowed and its barred steps.
type tries struct{ allowed, barred uint8 }

// untried is the value before the first try. From a higher count no step leads to a count below NoHops.
var untried = tries{allowed: routing.NoHops - 1, barred: routing.NoHops - 1}

func newWalker(m *matrix) *walker {
	return &walker{
		matrix: m,
		counts: counts{least: make([]uint8, m.n), sets: make([]uint64, m.n*m.words)},
		queue:  queue{ring: make([]fabric.SwitchIndex, m.n)},
		state:  make([]state, m.n),
		tried:  make([]tries, m.n),
	}
}

func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

func (w *walker) search(dst fabric.SwitchIndex) {
	fill(w.counts.least, routing.NoHops)
	clear(w.state)
	fill(w.tried, untried)
	if !w.f.SwitchNode(dst).InSubnet {
		return
	}
	w.counts.least[dst] = 0
	for w.push(dst); w.length > 0; {
		s := w.pop()
		w.state[s].queued = false
		w.walk(w.next(s), w.counts.least[s]+1)
	}
}

// findPorts finds the ports that have the least counts. It is called after a search.
func (w *walker) findPorts() {
	clear(w.counts.sets)
	for s := range fabric.SwitchIndex(w.n) {
		for _, st := range w.steps.all.of(s) {
			h := w.tried[s].allowed
			if st.turn() == barred {
				h = w.tried[s].barred
			}
			if least := w.counts.least[st.peer()]; least != routing.NoHops && h+1 == least {
				w.counts.sets[int(st.peer())*w.words+int(st.port()>>6)] |= 1 << (st.port() & 63)
			}
		}
	}
}

// next returns the steps out of switch s that lead to lower counts.
func (w *walker) next(s fabric.SwitchIndex) []step {
	least, tried := w.counts.least[s], &w.tried[s]
	allowed := least < tried.allowed
	barred := least < tried.barred && !w.state[s].narrowed
	if allowed {
		tried.allowed = least
	}
	if barred {
		tried.barred = least
	}
	switch {
	case allowed && barred:
		return w.steps.all.of(s)
	case allowed:
		return w.steps.allowed.of(s)
	case barred:
		return w.steps.bars.of(s)
	}
	return nil
}

// walk takes steps. All of them lead to the count h.
func (w *walker) walk(list []step, h uint8) {
	if len(list) == 0 {
		return
	}
	w.longest = max(w.longest, h)
	least := w.counts.least
	for _, st := range list {
		peer := st.peer()
		least[peer] = min(least[peer], h)
		if state := &w.state[peer]; !state.queued {
			state.queued, state.narrowed = true, st.turn() == narrows
			w.push(peer)
		}
	}
}
