// SPDX-License-Identifier: Apache-2.0

package sssp

import "example.org/ibconsole/fabric"

// layer is the channel dependency graph of one VL: its nodes are the arcs of the fabric's graph, here called
// channels, and an edge says that paths go from one channel to the next (Dally and Seitz, "Deadlock-Free Message
// Routing in Multiprocessor Interconnection Networks", 1987). A channel's edges stand in the order in which paths
// brought them.
type layer struct {
	*graph
	// edge has the edges, 0 for none: that between two channels at slot of the
	// first + the second, where there is a slot for each arc of the switch between.
	slot, edge []int32
	// seen are the channels in the order in which paths brought them, number each one's place there, -1 for none.
	seen, number []int32
	// head and tail are the first and last edge of each channel, 0 for none.
	head, tail []int32
	// What follows is by edge; edge 0 is none.
	source, target []int32 // the channels that it leads from and to
	next           []int32 // the next edge of the same channel
	pairs          []int64 // how many pairs of LIDs have it on their paths
	// holds are, by destination, a bit for each switch with paths in the VL, in so many words.
	holds []uint64
	words int
}

func newLayer(g *graph, dests int) *layer {
	l := &layer{graph: g, words: (len(g.hosts) + 63) / 64, slot: make([]int32, len(g.to)), number: make([]int32, len(g.to)), head: make([]int32, len(g.to)), tail: make([]int32, len(g.to))}
	slots := int32(0)
	for c, sw := range g.to {
		l.slot[c] = slots - g.first[sw]
		slots += g.first[sw+1] - g.first[sw]
		l.number[c] = -1
	}
	l.edge = make([]int32, slots)
	l.holds = make([]uint64, l.words*dests)
	l.reset()
	return l
}

// reset empties a VL.
func (l *layer) reset() {
	clear(l.edge)
	clear(l.head)
	clear(l.tail)
	for _, c := range l.seen {
		l.number[c] = -1
	}
	l.seen = l.seen[:0]
	l.source, l.target, l.next, l.pairs = append(l.source[:0], 0), append(l.target[:0], 0), append(l.next[:0], 0), append(l.pairs[:0], 0)
	clear(l.holds)
}

// at is the slot of the edge between two channels.
func (l *layer) at(from, to int32) *int32 {
	return &l.edge[l.slot[from]+to]
}

// see notes that a channel is in the VL.
func (l *layer) see(c int32) {
	if l.number[c] < 0 {
		l.number[c] = int32(len(l.seen))
		l.seen = append(l.seen, c)
	}
}

// edgeTo is the edge between two channels, which it adds where there is none.
func (l *layer) edgeTo(from, to int32) int32 {
	at := l.at(from, to)
	if *at == 0 {
		*at = int32(len(l.target))
		l.source = append(l.source, from)
		l.target, l.next, l.pairs = append(l.target, to), append(l.next, 0), append(l.pairs, 0)
		if l.tail[from] == 0 {
			l.head[from] = *at
		} else {
			l.next[l.tail[from]] = *at
		}
		l.tail[from] = *at
	}
	return *at
}

// holdsAt reports whether paths to a destination come through a switch.
func (l *layer) holdsAt(t int32, s fabric.SwitchIndex) bool {
	return l.holds[int(t)*l.words+int(s)/64]>>(s%64)&1 != 0
}

func (l *layer) hold(t int32, s fabric.SwitchIndex) {
	l.holds[int(t)*l.words+int(s)/64] |= 1 << (s % 64)
}

func (l *layer) drop(t int32, s fabric.SwitchIndex) {
	l.holds[int(t)*l.words+int(s)/64] &^= 1 << (s % 64)
}

// cut takes an edge out.
func (l *layer) cut(from, e int32) {
	*l.at(from, l.target[e]) = 0
	if l.head[from] == e {
		l.head[from] = l.next[e]
		return
	}
	before := l.head[from]
	for l.next[before] != e {
		before = l.next[before]
	}
	l.next[before] = l.next[e]
}
