// SPDX-License-Identifier: Apache-2.0

package sssp

// layer is the channel dependency graph of one VL: its nodes are the arcs of the fabric's graph, here called
// channels, and an edge says that paths go from one channel to the next (Dally and Seitz, "Deadlock-Free Message
// Routing in Multiprocessor Interconnection Networks", 1987). A channel's edges stand in the order in which paths
// brought them.
type layer struct {
	*graph
	// Two channels of which one follows the other have a slot, at slot of the first + the second: there is one for
	// each arc of the switch between.
	slot []int32
	// has are, by slot, bits that say that there is an edge, and pairs how many pairs of LIDs have it on their paths, which
	// fit as LIDs have 16 bits.
	has   []uint64
	pairs []uint32
	// seen are the channels in the order in which paths brought them, number each one's place there, -1 for none.
	seen, number []int32
	// head and tail are the first and last edge of each channel, 0 for none.
	head, tail []int32
	edges      []edge // edge 0 is none
}

// edge is a channel that packets come to from another.
type edge struct {
	target int32
	next   int32 // the next edge of the same channel
}

func newLayer(g *graph) *layer {
	l := &layer{graph: g, slot: make([]int32, len(g.to)), number: make([]int32, len(g.to))}
	l.head, l.tail = make([]int32, len(g.to)), make([]int32, len(g.to))
	slots := int32(0)
	for c, sw := range g.to {
		l.slot[c] = slots - g.first[sw]
		slots += g.first[sw+1] - g.first[sw]
		l.number[c] = -1
	}
	l.has, l.pairs = make([]uint64, (slots+63)/64), make([]uint32, slots)
	l.reset()
	return l
}

// reset empties a VL.
func (l *layer) reset() {
	clear(l.has)
	clear(l.pairs)
	clear(l.head)
	clear(l.tail)
	for _, c := range l.seen {
		l.number[c] = -1
	}
	l.seen, l.edges = l.seen[:0], append(l.edges[:0], edge{})
}

// see notes that a channel is in the VL.
func (l *layer) see(c int32) {
	if l.number[c] < 0 {
		l.number[c] = int32(len(l.seen))
		l.seen = append(l.seen, c)
	}
}

// join adds the edge between two channels where there is none.
func (l *layer) join(from, to int32) {
	slot := l.slot[from] + to
	if l.has[slot/64]>>(slot%64)&1 != 0 {
		return
	}
	l.has[slot/64] |= 1 << (slot % 64)
	e := int32(len(l.edges))
	l.edges = append(l.edges, edge{target: to})
	if l.tail[from] == 0 {
		l.head[from] = e
	} else {
		l.edges[l.tail[from]].next = e
	}
	l.tail[from] = e
}
