// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"cmp"
	"math"
	"slices"

	"example.org/ibconsole/fabric"
)

// walker looks for cycles in a VL, depth first, and takes edges to what no cycle goes through out of it. Which cycle it finds decides which paths leave the VL, so it
// goes as OpenSM does (search_cycle_in_channel_dep_graph): from the channel that came first, along the edges
// in their order, then from what is left in the order of starts.
type walker struct {
	*layer
	// targets are where the edges of each channel lead, in their order: those of channel c that are left stand from
	// left[c] to end[c].
	targets   []int32
	left, end []int32
	state     []uint8 // by channel
	before    []int32 // by channel: from where it was come to, none for a start
	starts    []int32 // see [layer.starts]
	next0     int
	at        int32
}

const (
	unknown = iota
	open    // on the path that is being walked
	closed  // no cycle goes through it
)

func newWalker(l *layer) *walker {
	n := len(l.to)
	w := &walker{layer: l, state: make([]uint8, n), before: make([]int32, n), left: make([]int32, n), end: make([]int32, n), starts: l.starts()}
	w.targets = make([]int32, 0, len(l.edges))
	for _, c := range l.seen {
		w.left[c] = int32(len(w.targets))
		for e := l.head[c]; e != 0; e = l.edges[e].next {
			w.targets = append(w.targets, l.edges[e].target)
		}
		w.end[c] = int32(len(w.targets))
	}
	for c := range w.before {
		w.before[c] = fabric.None
	}
	w.at = w.start()
	return w
}

// start is the next channel to begin with, none at the end.
func (w *walker) start() int32 {
	for ; w.next0 < len(w.starts); w.next0++ {
		if c := w.starts[w.next0]; w.state[c] == unknown {
			return c
		}
	}
	return fabric.None
}

// cycle finds the next cycle and returns a channel of it, none where there is
// no cycle any more. After a cycle, weakest must be called.
func (w *walker) cycle() int32 {
	for w.at != fabric.None {
		w.state[w.at] = open
		c := w.ahead(w.at)
		if c == fabric.None {
			w.leave()
			continue
		}
		if w.state[c] == open {
			w.at = c
			return c
		}
		w.before[c] = w.at
		w.at = c
	}
	return fabric.None
}

// ahead is the first channel after one that is not closed, none where there is none. What is closed stays so, as edges
// are only taken out; the edges to it are passed over for good.
func (w *walker) ahead(c int32) int32 {
	for i := w.left[c]; i < w.end[c]; i++ {
		if target := w.targets[i]; w.state[target] != closed {
			w.left[c] = i
			return target
		}
	}
	w.left[c] = w.end[c]
	return fabric.None
}

// cut takes out the first edge that is left of a channel, and returns where it led.
func (w *walker) cut(c int32) int32 {
	target := w.targets[w.left[c]]
	w.left[c]++
	return target
}

// leave closes a channel. A channel that a cycle led through can come up as a
// start with the way to it still noted; OpenSM then goes back there, too.
func (w *walker) leave() {
	c := w.at
	w.state[c] = closed
	if w.at = w.before[c]; w.at != fabric.None {
		w.before[c] = fabric.None
		return
	}
	w.at = w.start()
}

// weakest finds the channel on the cycle through start with the fewest pairs on its edge there, which is its first
// one, the first of them from start on, and forgets that the cycle was walked.
func (w *walker) weakest(start int32) int32 {
	weakest, least := start, uint32(math.MaxUint32)
	for c := start; ; {
		next := w.targets[w.left[c]]
		if pairs := w.layer.at(c, next).pairs; pairs < least {
			weakest, least = c, pairs
		}
		w.state[c] = unknown
		if c = next; c == start {
			return weakest
		}
	}
}

// starts are the channels of a VL in the order in which OpenSM comes upon them. It keeps them in a search tree,
// by the LID of their switch and their port, that grows as they come and is never balanced; the order is that of
// a walk in which a channel comes before those below it. The same tree is built here from the sorted channels
// (Vuillemin, "A unifying look at data structures", CACM 23, 1980). O(channels x log channels).
func (l *layer) starts() []int32 {
	sorted := slices.Clone(l.seen)
	slices.SortFunc(sorted, func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.f.SwitchLID(l.from[a]), l.f.SwitchLID(l.from[b])), cmp.Compare(l.port[a], l.port[b]))
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
