// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"cmp"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
)

// walker looks for cycles in a VL, depth first, and takes edges to what no cycle goes through out of it. Which cycle it
// finds decides which paths leave the VL, so it goes as OpenSM does (search_cycle_in_channel_dep_graph): from the
// channel that came first, along the edges in their order, then from what is left in the order of starts. OpenSM begins
// anew where it found a cycle, and comes as far as where that was cut by the same edges.
type walker struct {
	*layer
	// targets are where the edges of each channel lead, in their order, with none at the end: those of channel c that
	// are left stand from left[c] on, and first[c] is the first of them.
	targets     []int32
	left, first []int32
	// path is what is being walked, and place says, by channel, where on it a channel is, or else unknown or closed.
	path   []onPath
	place  []int32
	before []int32 // by channel: from where it was come to last, none for a start
	starts []int32 // see [layer.starts]
	next0  int
}

// onPath is a channel, and the slot of the edge by which the path goes on.
type onPath struct{ channel, slot int32 }

const (
	unknown = -1
	closed  = -2 // no cycle goes through it
)

func newWalker(l *layer) *walker {
	n := len(l.to)
	w := &walker{
		layer: l, left: make([]int32, n), first: make([]int32, n), starts: l.starts(),
		place: slices.Repeat([]int32{unknown}, n), before: slices.Repeat([]int32{fabric.None}, n),
	}
	w.targets = make([]int32, 0, len(l.edges)+len(l.seen))
	for _, c := range l.seen {
		w.left[c] = int32(len(w.targets))
		for e := l.head[c]; e != 0; e = l.edges[e].next {
			w.targets = append(w.targets, l.edges[e].target)
		}
		w.targets = append(w.targets, fabric.None)
		w.first[c] = w.targets[w.left[c]]
	}
	w.start()
	return w
}

// start begins at the next channel to begin with, if there is one.
func (w *walker) start() {
	for ; w.next0 < len(w.starts); w.next0++ {
		if c := w.starts[w.next0]; w.place[c] == unknown {
			w.open(c)
			return
		}
	}
}

// open adds a channel to the path.
func (w *walker) open(c int32) {
	w.place[c] = int32(len(w.path))
	w.path = append(w.path, onPath{channel: c})
}

// cycle finds the next cycle, which the path ends with, and returns where it begins there, none where there is no cycle
// any more. After a cycle, cut must be called.
func (w *walker) cycle() int32 {
	for len(w.path) > 0 {
		at := &w.path[len(w.path)-1]
		c := w.ahead(at.channel)
		if c == fabric.None {
			w.leave(at.channel)
			continue
		}
		at.slot = w.slot[at.channel] + c
		if begin := w.place[c]; begin >= 0 {
			return begin
		}
		w.before[c] = at.channel
		w.open(c)
	}
	return fabric.None
}

// ahead is the first channel after one that is not closed, none where there is none. What is closed stays so, as edges
// are only taken out; the edges to it are passed over for good.
func (w *walker) ahead(c int32) int32 {
	for w.first[c] != fabric.None && w.place[w.first[c]] == closed {
		w.pass(c)
	}
	return w.first[c]
}

// pass passes over the first edge that is left of a channel.
func (w *walker) pass(c int32) {
	w.left[c]++
	w.first[c] = w.targets[w.left[c]]
}

// leave closes the channel that the path ends with. A channel that a cycle led through can come up as a start with the
// path to it still noted; OpenSM then goes back there, too, even if that is closed.
func (w *walker) leave(c int32) {
	w.path = w.path[:len(w.path)-1]
	w.place[c] = closed
	before := w.before[c]
	w.before[c] = fabric.None
	switch {
	case len(w.path) > 0:
	case before != fabric.None:
		w.open(before)
	default:
		w.start()
	}
}

// cut takes the edge with the fewest pairs, the first of them, out of the cycle that begins somewhere on the path, and
// returns the channels that it is between. The path then ends with the first of these, and is forgotten from there on.
func (w *walker) cut(begin int32) (from, then int32) {
	weakest, least := begin, uint32(math.MaxUint32)
	for i, c := range w.path[begin:] {
		if pairs := w.pairs[c.slot]; pairs < least {
			weakest, least = begin+int32(i), pairs
		}
	}
	for _, c := range w.path[weakest+1:] {
		w.place[c.channel] = unknown
	}
	w.path = w.path[:weakest+1]
	from = w.path[weakest].channel
	then = w.first[from]
	w.pass(from)
	return from, then
}

// starts are the channels of a VL in the order in which OpenSM comes upon them. It keeps them in a search tree,
// by the LID of their switch and their port, that grows as they come and is never balanced; the order is that of
// a walk in which a channel comes before those below it. The same tree is built here from the sorted channels
// (Vuillemin, "A unifying look at data structures", CACM 23, 1980). O(channels x log channels).
func (l *layer) starts() []int32 {
	sorted := slices.Clone(l.seen)
	slices.SortFunc(sorted, func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.f.SwitchLID(l.from[a]), l.f.SwitchLID(l.from[b])),
			cmp.Compare(l.port[a], l.port[b]))
	})
	left, right := make([]int32, len(l.to)), make([]int32, len(l.to))
	var spine []int32 // from the root to the right
	for _, c := range sorted {
		left[c], right[c] = fabric.None, fabric.None
		for len(spine) > 0 && l.number[spine[len(spine)-1]] > l.number[c] {
			left[c] = spine[len(spine)-1]
			spine = spine[:len(spine)-1]
		}
		if len(spine) > 0 {
			right[spine[len(spine)-1]] = c
		}
		spine = append(spine, c)
	}
	order := sorted[:0]
	if len(spine) == 0 {
		return order
	}
	for stack := spine[:1]; len(stack) > 0; {
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, c)
		for _, below := range [...]int32{right[c], left[c]} {
			if below != fabric.None {
				stack = append(stack, below)
			}
		}
	}
	return order
}
