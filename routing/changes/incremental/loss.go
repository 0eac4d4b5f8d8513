// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// loss is the effect of a failure on the paths of the fewest hops to a switch. It is the same for all LIDs of the
// switch that are in [least], because a switch has lost such a path exactly if each of its cables that led nearer has
// failed or leads to a switch that has lost it.
type loss struct {
	// cut lists the failed cables that led nearer, of switches that have others.
	cut []affected
	// farther lists the switches that have no others, but a path of more hops. unreached lists those without a path.
	farther   []affected
	unreached []fabric.SwitchIndex
	// cables are the cables that can replace them, in as many words for each switch as [least] has.
	cables []uint64
}

// affected is a switch, and the start of its usable cables among those of the loss.
type affected struct {
	at    fabric.SwitchIndex
	first int32
	// port is the failed port, for elements of cut.
	port uint8
}

// losses holds the losses of one failure that were computed so far.
type losses struct {
	// at is, by switch, 1 + the index of its loss in found. Elements of found beyond its length are memory of earlier
	// failures.
	at    []int32
	to    []fabric.SwitchIndex
	found []loss
}

// forget discards the losses for the next failure.
func (m *losses) forget() {
	for _, to := range m.to {
		m.at[to] = 0
	}
	m.to, m.found = m.to[:0], m.found[:0]
}

// loss returns the loss of the paths to the switch of a LID in [least].
func (w *Worker) loss(lid uint16) *loss {
	m, to := &w.losses, w.base.At[lid]
	if m.at[to] == 0 {
		m.to = append(m.to, to)
		m.at[to] = int32(len(m.to))
		m.found = slices.Grow(m.found, 1)[:len(m.to)]
		w.findLoss(&m.found[len(m.to)-1], lid)
	}
	return &m.found[m.at[to]-1]
}

// findLoss visits the switches that have lost all their paths, starting at the removed links and nearest first, and
// then the switches that feed them. O(their links + switches that lose a cable).
func (w *Worker) findLoss(o *loss, lid uint16) {
	o.cut, o.farther, o.unreached, o.cables = o.cut[:0], o.farther[:0], o.unreached[:0], o.cables[:0]
	w.repair.begin()
	w.emptyQueue()
	w.depths = w.base.Depth(lid)
	nearer := w.base.least.nearer[w.base.At[lid]]
	w.eachEnd(func(s fabric.SwitchIndex, port uint8) {
		if w.base.least.among(s, w.base.least.part(nearer, s), port) {
			w.cut(o, nearer, s, port)
		}
	})
	for h := 1; h <= w.deepest; h++ {
		for i := 0; i < len(w.queue[h]); i++ {
			s := w.queue[h][i]
			first := w.firstOf[s] - 1
			w.firstOf[s] = 0
			if slices.ContainsFunc(o.cables[first:first+w.base.least.words(s)], func(word uint64) bool {
				return word != 0
			}) {
				continue
			}
			w.lose(s)
			for _, l := range w.links(s) {
				if int(w.depths[l.Peer]) == h+1 {
					w.cut(o, nearer, l.Peer, l.PeerPort)
				}
			}
		}
	}
	o.cut = slices.DeleteFunc(o.cut, func(x affected) bool { return w.state[x.at] == lost })
	w.findFarther(o)
}

// cut removes a cable of a switch that led nearer.
func (w *Worker) cut(o *loss, nearer []uint64, s fabric.SwitchIndex, port uint8) {
	if w.firstOf[s] == 0 {
		w.firstOf[s] = int32(len(o.cables)) + 1
		o.cables = append(o.cables, w.base.least.part(nearer, s)...)
		w.enqueue(int(w.depths[s]), s)
	}
	first := w.firstOf[s] - 1
	bit := port - w.base.least.lowest[s]
	if word := &o.cables[first+int32(bit/64)]; *word>>(bit%64)&1 == 1 {
		*word &^= 1 << (bit % 64)
		o.cut = append(o.cut, affected{s, first, port})
	}
}

// findFarther finds the paths of the switches in lost.
func (w *Worker) findFarther(o *loss) {
	w.findHops()
	for _, s := range w.reached {
		first := len(o.cables)
		for range w.base.least.words(s) {
			o.cables = append(o.cables, 0)
		}
		for _, l := range w.links(s) {
			if w.hopsOf(l.Peer)+1 == w.hops[s] {
				w.base.least.add(s, o.cables[first:], l.Port)
			}
		}
		o.farther = append(o.farther, affected{at: s, first: int32(first)})
	}
	for _, s := range w.lost {
		if w.state[s] == lost {
			o.unreached = append(o.unreached, s)
		}
	}
}
