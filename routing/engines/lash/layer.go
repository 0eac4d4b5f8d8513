// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"cmp"
	"slices"
)

// channels is the part of the dependency graphs that all VLs share. A channel is an arc, that is, one direction of a
// link. The dependencies of channel a have the numbers from slot[a] on, one for each arc that leaves the switch at its
// end.
type channels struct {
	*paths
	from []int32 // by arc: the switch that it leaves
	slot []int32
	back []int32 // by arc: the opposite arc
	// initial is the initial order of arcs.
	initial []int32
}

func newChannels(p *paths) *channels {
	c := &channels{
		paths: p, from: make([]int32, len(p.to)), slot: make([]int32, len(p.to)+1), back: make([]int32, len(p.to)),
	}
	for s := range int32(p.n) {
		for a := p.first[s]; a < p.first[s+1]; a++ {
			c.from[a] = s
			c.back[a] = p.first[p.to[a]] + p.indexOf(p.to[a], s)
		}
	}
	for a, to := range p.to {
		c.slot[a+1] = c.slot[a] + p.first[to+1] - p.first[to]
	}
	c.initial = c.upThenDown()
	return c
}

// upThenDown returns an order of channels by a breadth-first tree. Channels towards the root of the tree come before
// channels away from the root. Most paths have few steps against this order.
func (c *channels) upThenDown() []int32 {
	depth := make([]int32, c.n)
	if c.n > 0 {
		t := tree{above: make([]int32, c.n), by: make([]uint8, c.n)}
		t.grow(c.paths, 0)
		for i, s := range t.queue {
			if i > 0 {
				depth[s] = depth[t.above[s]] + 1
			}
		}
	}
	key := func(a int32) int32 {
		from, to := depth[c.from[a]], depth[c.to[a]]
		switch {
		case from > to:
			return -from
		case from == to:
			return 0
		}
		return to
	}
	byKey := make([]int32, len(c.to))
	for a := range byKey {
		byKey[a] = int32(a)
	}
	slices.SortStableFunc(byKey, func(a, b int32) int { return cmp.Compare(key(a), key(b)) })
	order := make([]int32, len(c.to))
	for i, a := range byKey {
		order[a] = int32(i)
	}
	return order
}

// layer is the channel dependency graph of one VL. It never has a cycle (Pearce and Kelly, "A Dynamic Topological Sort
// Algorithm for Directed Acyclic Graphs", ACM JEA 11, 2006).
type layer struct {
	*channels
	// order holds a number for each channel. The number is less than the numbers of the channels that depend on this
	// channel.
	order []int32
	// count holds, for each dependency, how often it was used; see [layer.join].
	count []uint32
	// users counts the paths on each channel.
	users []uint32
	// pairs counts the pairs of switches in the VL. Both directions of a pair count.
	pairs int
	// closure is used instead of order. It is nil if it would be too large. After paths have left the VL, it is stale:
	// it still contains dependencies that no longer exist.
	closure *closure
	stale   bool

	// Scratch memory: new dependencies, channels that were found, and the search in which they were found.
	fresh       []dependency
	after, prev []int32
	numbers     []int32
	met         []uint32
	visit       uint32
}

type dependency struct{ before, then int32 }

func newLayer(c *channels) *layer {
	l := &layer{
		channels: c, order: slices.Clone(c.initial), count: make([]uint32, c.slot[len(c.to)]),
		users: make([]uint32, len(c.to)), met: make([]uint32, len(c.to)),
	}
	if len(c.to) <= mostClosed {
		l.closure = newClosure(len(c.to))
	}
	return l
}

// uses returns a pointer to the count of the dependency of one channel (argument then) on another (argument before).
func (l *layer) uses(before, then int32) *uint32 {
	return &l.count[l.slot[before]+then-l.first[l.to[before]]]
}

// join adds the two paths of a pair to the VL, and reports whether the VL stays without a cycle. If not, join removes
// the paths again. Like OpenSM, it does not undo the counting of dependencies that existed before, so these stay longer
// (remove_temp_depend_for_sp).
func (l *layer) join(there, back []int32) bool {
	l.fresh = l.fresh[:0]
	var ok bool
	if l.closure != nil {
		ok = l.dependClosed(there, back)
	} else {
		ok = l.depend(there, true)
		ok = l.depend(back, ok)
	}
	if !ok {
		for _, d := range l.fresh {
			*l.uses(d.before, d.then) = 0
		}
		return false
	}
	for _, path := range [...][]int32{there, back} {
		for _, a := range path {
			l.users[a]++
		}
	}
	l.pairs += 2
	return true
}

// depend counts the dependencies of a path. It adds new dependencies as long as they close no cycle.
func (l *layer) depend(path []int32, ok bool) bool {
	for i := 1; i < len(path); i++ {
		uses := l.uses(path[i-1], path[i])
		switch {
		case *uses > 0:
			*uses++
		case ok && l.insert(path[i-1], path[i]):
			*uses = 1
			l.fresh = append(l.fresh, dependency{path[i-1], path[i]})
		default:
			ok = false
		}
	}
	return ok
}

// leave removes two paths.
func (l *layer) leave(there, back []int32) {
	for _, path := range [...][]int32{there, back} {
		for i, a := range path {
			if l.users[a]--; l.users[a] == 0 {
				l.drop(a)
			} else if i+1 < len(path) {
				*l.uses(a, path[i+1])--
			}
		}
	}
	l.pairs -= 2
	l.stale = true
}

// drop removes an unused channel.
func (l *layer) drop(a int32) {
	clear(l.count[l.slot[a]:l.slot[a+1]])
	for b := l.first[l.from[a]]; b < l.first[l.from[a]+1]; b++ {
		*l.uses(l.back[b], a) = 0
	}
}

// insert updates the order for a new dependency of one channel (argument then) on another (argument before). It returns
// false if the dependency would close a cycle.
func (l *layer) insert(before, then int32) bool {
	low, high := l.order[then], l.order[before]
	if low > high {
		return true
	}
	l.visit++
	if !l.findAfter(then, high) {
		return false
	}
	l.findBefore(before, low)
	l.reorder()
	return true
}

// findAfter collects a channel and the channels that depend on it, up to a number in the order (argument high). It
// returns false if the channel with that number is among them.
func (l *layer) findAfter(start, high int32) bool {
	l.after = append(l.after[:0], start)
	l.met[start] = l.visit
	for i := 0; i < len(l.after); i++ {
		a := l.after[i]
		first := l.first[l.to[a]]
		for k, n := range l.count[l.slot[a]:l.slot[a+1]] {
			b := first + int32(k)
			if n == 0 || l.met[b] == l.visit || l.order[b] > high {
				continue
			}
			if l.order[b] == high {
				return false
			}
			l.met[b] = l.visit
			l.after = append(l.after, b)
		}
	}
	return true
}

// findBefore collects a channel and the channels on which it depends, down to a number in the order (argument low).
func (l *layer) findBefore(start, low int32) {
	l.prev = append(l.prev[:0], start)
	l.met[start] = l.visit
	for i := 0; i < len(l.prev); i++ {
		a := l.prev[i]
		s := l.from[a]
		for out := l.first[s]; out < l.first[s+1]; out++ {
			b := l.back[out]
			if l.met[b] != l.visit && l.order[b] >= low && *l.uses(b, a) > 0 {
				l.met[b] = l.visit
				l.prev = append(l.prev, b)
			}
		}
	}
}

// reorder reassigns the numbers of the collected channels. The channels that findBefore collected get the lowest ones.
func (l *layer) reorder() {
	byOrder := func(a, b int32) int { return cmp.Compare(l.order[a], l.order[b]) }
	slices.SortFunc(l.prev, byOrder)
	slices.SortFunc(l.after, byOrder)
	l.numbers = l.numbers[:0]
	l.prev = append(l.prev, l.after...)
	for _, a := range l.prev {
		l.numbers = append(l.numbers, l.order[a])
	}
	slices.Sort(l.numbers)
	for i, a := range l.prev {
		l.order[a] = l.numbers[i]
	}
}
