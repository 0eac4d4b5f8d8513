// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"cmp"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
)

// walker finds cycles in a VL depth-first, and removes edges that are in no cycle. The cycles that it finds determine
// which paths leave the VL, so it follows OpenSM (search_cycle_in_channel_dep_graph). The search begins at the first
// channel and takes edges in their order. It continues at the remaining channels in the order of the method starts.
// OpenSM restarts after each cycle. It then arrives by the same edges at the place where the cycle was cut.
type walker struct {
	*layer
	// targets holds the targets of the edges of each channel, in order, followed by none. The remaining edges of
	// channel c begin at left[c]. first[c] is the target of the first of them.
	targets     []int32
	left, first []int32
	// path is the current path. place holds, for each channel, its place on the path, or the value unknown or closed.
	path   []onPath
	place  []int32
	before []int32 // by channel, the channel before it on the last path, none for a start
	starts []int32 // see [layer.starts]
	next0  int
}

// onPath is a channel on the path. slot is the slot of the edge by which the path continues.
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

// start begins at the next start channel, if there is one.
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

// cycle finds the next cycle. The cycle is the end of the path, and cycle returns its first place on the path. It
// returns none if there are no more cycles. The caller must call cut before it calls cycle again.
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

// ahead returns the first target of a channel that is not closed, or none. It skips edges to closed channels for good.
// Closed channels stay closed, because edges are only removed.
func (w *walker) ahead(c int32) int32 {
	for w.first[c] != fabric.None && w.place[w.first[c]] == closed {
		w.skip(c)
	}
	return w.first[c]
}

// skip skips the first remaining edge of a channel.
func (w *walker) skip(c int32) {
	w.left[c]++
	w.first[c] = w.targets[w.left[c]]
}

// leave closes the channel at the end of the path. A channel of a former cycle can be a start although the path to it
// is still recorded. OpenSM then also goes back along this path, even if the previous channel is closed.
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

// cut removes an edge from the cycle that begins at a place of the path. This is the edge with the fewest pairs, and of
// several such edges the first. It returns the two channels of the edge. The path then ends with the first of these
// channels.
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
	w.skip(from)
	return from, then
}

// starts returns the channels of a VL in the order in which OpenSM visits them. OpenSM inserts the channels into an
// unbalanced search tree, by the LID of their switch and their port, and visits the tree in preorder. starts builds the
// same tree from the sorted channels (Vuillemin, "A unifying look at data structures", CACM 23, 1980). O(channels +
// switches x log switches).
func (l *layer) starts() []int32 {
	switches := slices.Clone(l.members)
	slices.SortFunc(switches, func(a, b fabric.SwitchIndex) int {
		return cmp.Compare(l.f.SwitchLID(a), l.f.SwitchLID(b))
	})
	sorted := make([]int32, 0, len(l.seen))
	for _, s := range switches {
		for c := l.first[s]; c < l.first[s+1]; c++ {
			if l.number[c] >= 0 {
				sorted = append(sorted, c)
			}
		}
	}
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
