// SPDX-License-Identifier: Apache-2.0

package updn

import "example.org/ibconsole/routing"

// walker searches from one destination after the other. It repeats what OpenSM's
// searches do beyond a breadth-first search: a switch that was dealt with comes
// up again each time a count of one of its ports falls, with the direction of
// that step, but goes on from its least count.
type walker struct {
	*matrix
	// hops are the counts of all ports, by slot; least and sets are the least of
	// each switch and the ports that have it.
	hops  []uint8
	least []uint8
	sets  []uint64
	// longest is the highest count ever set.
	longest uint8

	queue  []int32 // a ring; a switch is in it once at most
	queued []bool
	// narrowed says that the last step to a switch narrows the next ones.
	narrowed []bool
	// from and fromNarrowed are the least counts from which all steps, and all
	// allowed steps, out of a switch were last tried: to try them again is idle.
	from, fromNarrowed []uint8
}

func newWalker(m *matrix) *walker {
	return &walker{
		matrix: m,
		hops:   make([]uint8, m.slot[m.n]), least: make([]uint8, m.n), sets: make([]uint64, m.n*m.words),
		queue: make([]int32, m.n), queued: make([]bool, m.n), narrowed: make([]bool, m.n),
		from: make([]uint8, m.n), fromNarrowed: make([]uint8, m.n),
	}
}

// start sets the counts from which the search to dst begins.
func (w *walker) start(dst int32) {
	fill(w.hops, routing.NoHops)
	fill(w.least, routing.NoHops)
	fill(w.from, routing.NoHops)
	fill(w.fromNarrowed, routing.NoHops)
	clear(w.sets)
	if w.preset == nil {
		return
	}
	given := w.preset(dst)
	if given == nil {
		return
	}
	for s := range int32(w.n) {
		for _, st := range w.all.of(s) {
			if h := given.Through(st.peer, st.port, dst); h != routing.NoHops {
				w.improve(st, h)
			}
		}
	}
}

func fill(b []uint8, v uint8) {
	for i := range b {
		b[i] = v
	}
}

// improve sets the count of the peer's port of a step.
func (w *walker) improve(st step, h uint8) {
	w.hops[st.slot] = h
	least := &w.least[st.peer]
	if h > *least {
		return
	}
	set := w.sets[int(st.peer)*w.words : (int(st.peer)+1)*w.words]
	if h < *least {
		*least = h
		clear(set)
	}
	set[st.port>>6] |= 1 << (st.port & 63)
}

// walk searches from dst.
func (w *walker) walk(dst int32) {
	w.least[dst] = 0
	clear(w.sets[int(dst)*w.words : (int(dst)+1)*w.words])
	w.narrowed[dst] = false
	head, length := 0, 1
	w.queue[0] = dst
	for length > 0 {
		s := w.queue[head]
		if head++; head == len(w.queue) {
			head = 0
		}
		length--
		w.queued[s] = false
		for _, st := range w.next(s) {
			if !w.try(s, st) || w.queued[st.peer] {
				continue
			}
			w.queued[st.peer], w.narrowed[st.peer] = true, st.turn == narrows
			tail := head + length
			if tail >= len(w.queue) {
				tail -= len(w.queue)
			}
			w.queue[tail] = st.peer
			length++
		}
	}
}

// next are the steps out of a switch that may change something.
func (w *walker) next(s int32) []step {
	least := w.least[s]
	switch {
	case w.penalty != 0:
		return w.all.of(s)
	case w.from[s] == least, w.narrowed[s] && w.fromNarrowed[s] == least:
		return nil
	case w.narrowed[s]:
		w.fromNarrowed[s] = least
		return w.allowed.of(s)
	}
	w.from[s] = least
	return w.all.of(s)
}

// tooFar is the count from which OpenSM gives up a step that is not allowed.
const tooFar = 64

// try takes a step and says whether it brought a lower count.
func (w *walker) try(s int32, st step) bool {
	h, old := w.least[s], w.hops[st.slot]
	if w.penalty != 0 && w.narrowed[s] && st.turn == barred {
		if h += w.penalty; h >= tooFar {
			// It forgets the way that there was, but not its count, and goes on.
			w.hops[st.slot] = routing.NoHops
			w.sets[int(st.peer)*w.words+int(st.port>>6)] &^= 1 << (st.port & 63)
		}
	}
	if int(h)+1 >= int(old) {
		return false
	}
	h++
	w.longest = max(w.longest, h)
	w.improve(st, h)
	return true
}
