// SPDX-License-Identifier: Apache-2.0

package sssp

import "slices"

// layer is the channel dependency graph of one VL. Its channels, and the edges of each channel, are in the order in
// which paths added them.
type layer struct {
	dependencies
	// pairs counts, for each slot, the pairs of LIDs whose paths use the edge. 32 bits suffice because LIDs have 16
	// bits.
	pairs []uint32
	// seen lists the channels in the order in which paths added them. number holds the place of each channel in this
	// list, or -1.
	seen, number []int32
	// head and tail are the first and the last edge of each channel, or 0.
	head, tail []int32
	edges      []edge // edge 0 is none
}

// edge leads from one channel to the next.
type edge struct {
	target int32
	next   int32 // the next edge of the same channel
}

func newLayer(g *graph) *layer {
	n := len(g.to)
	l := &layer{dependencies: newDependencies(g), number: slices.Repeat([]int32{-1}, n), head: make([]int32, n),
		tail: make([]int32, n)}
	l.pairs = make([]uint32, 64*len(l.has))
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

// see records that a channel is in the VL.
func (l *layer) see(c int32) {
	if l.number[c] < 0 {
		l.number[c] = int32(len(l.seen))
		l.seen = append(l.seen, c)
	}
}

// join adds the edge between two channels if the VL does not have it yet.
func (l *layer) join(from, to int32) {
	if !l.add(from, to) {
		return
	}
	e := int32(len(l.edges))
	l.edges = append(l.edges, edge{target: to})
	if l.tail[from] == 0 {
		l.head[from] = e
	} else {
		l.edges[l.tail[from]].next = e
	}
	l.tail[from] = e
}
