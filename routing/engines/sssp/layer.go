// SPDX-License-Identifier: Apache-2.0

package sssp

// layer is the channel dependency graph of one VL: its nodes are the arcs of the fabric's graph, here called
// channels, and an edge says that paths go from one channel to the next (Dally and Seitz, "Deadlock-Free Message
// Routing in Multiprocessor Interconnection Networks", 1987). A channel's edges stand in the order in which paths
// brought them.
type layer struct {
	*graph
	// slot begins, by channel, the slots of its edges, one for each arc of the
	// switch that it leads to; edge has the edge of a slot, 0 for none.
	slot, edge []int32
	// seen are the channels in the order in which paths brought them, number each one's place there, -1 for none.
	seen, number []int32
	// head and tail are the first and last edge of each channel, 0 for none.
	head, tail []int32
	// What follows is by edge; edge 0 is none.
	source, target    []int32 // the channels that it leads from and to
	next              []int32 // the next edge of the same channel
	pairs             []int64 // how many pairs of LIDs have it on their paths
	firstUse, lastUse []int32 // where its units stand in uses, 0 for none
	// uses are the units on edges, in the order in which they came; uses 0 are none.
	uses []uses
}

// uses are units on an edge, as many as a line of cache holds.
type uses struct {
	next  int32 // more of them
	n     int32
	units [14]uint32
}

func newLayer(g *graph) *layer {
	l := &layer{graph: g, slot: make([]int32, len(g.to)), number: make([]int32, len(g.to)), head: make([]int32, len(g.to)), tail: make([]int32, len(g.to))}
	slots := int32(0)
	for c, sw := range g.to {
		l.slot[c] = slots
		slots += g.first[sw+1] - g.first[sw]
		l.number[c] = -1
	}
	l.edge = make([]int32, slots)
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
	l.firstUse, l.lastUse = append(l.firstUse[:0], 0), append(l.lastUse[:0], 0)
	l.uses = append(l.uses[:0], uses{})
}

// at is the slot of the edge between two channels.
func (l *layer) at(from, to int32) *int32 {
	return &l.edge[l.slot[from]+to-l.graph.first[l.graph.to[from]]]
}

// add puts the path of a unit of some pairs into the VL.
func (l *layer) add(path []int32, unit uint32, pairs int64) {
	for i, c := range path {
		l.see(c)
		if i > 0 {
			e := l.edgeTo(path[i-1], c)
			l.note(e, unit)
			l.pairs[e] += pairs
		}
	}
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
		l.firstUse, l.lastUse = append(l.firstUse, 0), append(l.lastUse, 0)
		if l.tail[from] == 0 {
			l.head[from] = *at
		} else {
			l.next[l.tail[from]] = *at
		}
		l.tail[from] = *at
	}
	return *at
}

// note puts a unit at the end of those on an edge.
func (l *layer) note(e int32, unit uint32) {
	last := l.lastUse[e]
	if last == 0 || int(l.uses[last].n) == len(l.uses[last].units) {
		more := int32(len(l.uses))
		l.uses = append(l.uses, uses{})
		if last == 0 {
			l.firstUse[e] = more
		} else {
			l.uses[last].next = more
		}
		l.lastUse[e], last = more, more
	}
	u := &l.uses[last]
	u.units[u.n] = unit
	u.n++
}

// remove takes the path of a unit out. The channels and edges stay.
func (l *layer) remove(path []int32, pairs int64) {
	for i := 1; i < len(path); i++ {
		if e := *l.at(path[i-1], path[i]); e != 0 {
			l.pairs[e] -= pairs
		}
	}
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
