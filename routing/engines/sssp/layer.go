// SPDX-License-Identifier: Apache-2.0

package sssp

// layer is the channel dependency graph of one VL: its nodes are the arcs of the fabric's graph, here called
// channels, and an edge says that paths go from one channel to the next (Dally and Seitz, "Deadlock-Free Message
// Routing in Multiprocessor Interconnection Networks", 1987). A channel's edges stand in the order in which paths
// brought them.
type layer struct {
	*graph
	// pairings are of two channels, at slot of the first + the second, where there is
	// one for each arc of the switch between.
	slot     []int32
	pairings []pairing
	// seen are the channels in the order in which paths brought them, number each one's place there, -1 for none.
	seen, number []int32
	// head and tail are the first and last edge of each channel, 0 for none.
	head, tail []int32
	edges      []edge // edge 0 is none
	// held are, by destination, the switches with paths in the VL, in so many words.
	held  []held
	words int
}

// pairing is an edge, 0 for none, and how many pairs of LIDs have it on their paths, which fit as LIDs have 16 bits.
type pairing struct {
	edge  int32
	pairs uint32
}

// edge is a channel that packets come to from another.
type edge struct {
	target int32
	next   int32 // the next edge of the same channel
}

// held are 64 switches: those with paths that begin there or come through, and those that paths may come through.
type held struct{ paths, through uint64 }

func newLayer(g *graph) *layer {
	l := &layer{graph: g, words: (len(g.hosts) + 63) / 64, slot: make([]int32, len(g.to)), number: make([]int32, len(g.to))}
	l.head, l.tail = make([]int32, len(g.to)), make([]int32, len(g.to))
	slots := int32(0)
	for c, sw := range g.to {
		l.slot[c] = slots - g.first[sw]
		slots += g.first[sw+1] - g.first[sw]
		l.number[c] = -1
	}
	l.pairings = make([]pairing, slots)
	l.reset()
	return l
}

// reset empties a VL.
func (l *layer) reset() {
	clear(l.pairings)
	clear(l.head)
	clear(l.tail)
	for _, c := range l.seen {
		l.number[c] = -1
	}
	l.seen, l.edges = l.seen[:0], append(l.edges[:0], edge{})
	clear(l.held)
}

// at is what there is between two channels.
func (l *layer) at(from, to int32) *pairing { return &l.pairings[l.slot[from]+to] }

// see notes that a channel is in the VL.
func (l *layer) see(c int32) {
	if l.number[c] < 0 {
		l.number[c] = int32(len(l.seen))
		l.seen = append(l.seen, c)
	}
}

// join counts pairs on the edge between two channels, which it adds where there is none.
func (l *layer) join(from, to int32, pairs uint32) {
	at := l.at(from, to)
	at.pairs += pairs
	if at.edge != 0 {
		return
	}
	at.edge = int32(len(l.edges))
	l.edges = append(l.edges, edge{target: to})
	if l.tail[from] == 0 {
		l.head[from] = at.edge
	} else {
		l.edges[l.tail[from]].next = at.edge
	}
	l.tail[from] = at.edge
}

// holdNone makes room for what is held of so many destinations.
func (l *layer) holdNone(dests int) { l.held = make([]held, l.words*dests) }

// holdsOf is what the VL holds of the paths to a destination.
func (l *layer) holdsOf(t int32) []held { return l.held[int(t)*l.words : (int(t)+1)*l.words] }
