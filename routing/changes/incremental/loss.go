// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// loss is the effect of a failure on the paths of the fewest hops to one target switch. Some cables of each switch lead
// nearer to the target. A switch has lost its paths exactly if each of these cables has failed or leads to a switch
// that has lost its paths. Therefore the loss is the same for all LIDs of the target that are marked in [least].
type loss struct {
	// cut lists the failed cables that led nearer to the target, at switches that have other cables that lead nearer.
	cut []affected
	// farther lists the switches that have lost all cables that lead nearer, but still have a path of more hops.
	// unreached lists the switches without a path.
	farther   []affected
	unreached []fabric.SwitchIndex
	// cables holds, for each affected switch, a bit set of the usable cables that can replace failed ones. A switch has
	// as many words as in [least].
	cables []uint64
}

// affected is a switch, and the index of its first word in the cables of the loss.
type affected struct {
	at    fabric.SwitchIndex
	first int32
	// port is the failed port. It is set only for elements of cut.
	port uint8
}

// losses holds the losses of the current failure, one for each target switch, as far as they were needed.
type losses struct {
	// at is indexed by target switch: 1 + the index of its loss in found, or 0. The memory of found beyond its length
	// is reused from earlier failures.
	at    []int32
	to    []fabric.SwitchIndex
	found []loss
}

// forget discards the losses before the next failure.
func (m *losses) forget() {
	for _, to := range m.to {
		m.at[to] = 0
	}
	m.to, m.found = m.to[:0], m.found[:0]
}

// loss returns the loss of the paths to the switch of a LID. The LID must be marked in [least].
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

// findLoss finds the switches that have lost all their paths to the switch of a LID. It starts at the removed links,
// visits the nearest switches first, and continues with the switches whose paths use a lost switch. O(links of lost
// switches + switches that lose a cable).
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

// cut removes a cable from the cables of a switch that lead nearer to a destination.
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

// findFarther finds new paths for the lost switches, and lists the ones without a path.
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
