// SPDX-License-Identifier: Apache-2.0

package lash

import "math/bits"

// mostClosed is the maximum number of channels for which a closure is kept. At this number a closure takes 19 MB in
// each direction.
const mostClosed = 12288

// closure is the transitive closure of the dependencies of a VL. It answers in constant time whether another dependency
// would close a cycle (Italiano, "Amortized efficiency of a path retrieval data structure", Theoretical Computer
// Science 48, 1986).
type closure struct {
	words int
	// after and before have one row for each channel. Bit b of row a of after is set if channel b depends on channel a.
	// Bit b of row a of before is set if channel a depends on channel b. A channel depends on itself.
	after, before []uint64
	known         []uint64 // scratch
}

func newClosure(channels int) *closure {
	words := (channels + 63) / 64
	c := &closure{words: words, after: make([]uint64, channels*words), before: make([]uint64, channels*words)}
	for a := range int32(channels) {
		c.row(c.after, a)[a/64] |= 1 << (a % 64)
		c.row(c.before, a)[a/64] |= 1 << (a % 64)
	}
	return c
}

func (c *closure) row(set []uint64, a int32) []uint64 {
	return set[int(a)*c.words : (int(a)+1)*c.words]
}

// depends reports whether b depends on a.
func (c *closure) depends(a, b int32) bool { return c.row(c.after, a)[b/64]>>(b%64)&1 != 0 }

// add adds a dependency to the closure. Each changed row gets a new bit, so all dependencies of n channels together
// take at most O(n^3 / 64).
func (c *closure) add(d dependency) {
	if c.depends(d.before, d.then) {
		return
	}
	c.known = append(c.known[:0], c.row(c.after, d.before)...)
	c.spread(c.after, c.row(c.before, d.before), c.row(c.before, d.then), c.row(c.after, d.then))
	c.spread(c.before, c.row(c.after, d.then), c.known, c.row(c.before, d.before))
}

// spread adds the bits of the argument fresh to some rows of the argument set: the rows of the channels that the
// argument some contains and the argument known does not.
func (c *closure) spread(set, some, known, fresh []uint64) {
	for w := range some {
		for left := some[w] &^ known[w]; left != 0; left &= left - 1 {
			row := c.row(set, int32(w*64+bits.TrailingZeros64(left)))
			for i, v := range fresh[:len(row)] {
				row[i] |= v
			}
		}
	}
}

// cycles reports whether new dependencies close a cycle, each alone or several together.
func (c *closure) cycles(fresh []dependency) bool {
	for _, d := range fresh {
		if c.depends(d.then, d.before) {
			return true
		}
	}
	// A new dependency leads to another new dependency if that one begins at a channel behind its end. New dependencies
	// that lead to no other are removed until none is left, or all remaining ones lead to others.
	left := make([]dependency, len(fresh))
	copy(left, fresh)
	for n := 0; n != len(left); {
		n = len(left)
		kept := left[:0]
		for _, d := range left {
			if c.leads(d, left) {
				kept = append(kept, d)
			}
		}
		left = kept
	}
	return len(left) > 0
}

func (c *closure) leads(d dependency, to []dependency) bool {
	for _, e := range to {
		if e != d && c.depends(d.then, e.before) {
			return true
		}
	}
	return false
}

// dependClosed is like depend for both paths of a pair. It uses the closure.
func (l *layer) dependClosed(there, back []int32) bool {
	for _, path := range [...][]int32{there, back} {
		for i := 1; i < len(path); i++ {
			if uses := l.uses(path[i-1], path[i]); *uses > 0 {
				*uses++
			} else {
				l.fresh = append(l.fresh, dependency{path[i-1], path[i]})
			}
		}
	}
	cyclic := l.closure.cycles(l.fresh)
	if cyclic && l.stale {
		l.remake()
		cyclic = l.closure.cycles(l.fresh)
	}
	if cyclic {
		return false
	}
	for _, d := range l.fresh {
		*l.uses(d.before, d.then)++
		l.closure.add(d)
	}
	return true
}

// remake recomputes the closure from the remaining dependencies. O(dependencies x channels / 64).
func (l *layer) remake() {
	c := newClosure(len(l.to))
	order := l.sorted()
	for i := range order {
		a, z := order[i], order[len(order)-1-i]
		l.each(a, func(b int32) { c.take(c.before, b, a) })
		l.each(z, func(b int32) { c.take(c.after, z, b) })
	}
	l.closure, l.stale = c, false
}

// take adds the row of one channel to the row of another.
func (c *closure) take(set []uint64, to, from int32) {
	row := c.row(set, to)
	for i, v := range c.row(set, from)[:len(row)] {
		row[i] |= v
	}
}

// each calls the function visit for each channel that depends directly on channel a.
func (l *layer) each(a int32, visit func(b int32)) {
	first := l.first[l.to[a]]
	for k, n := range l.count[l.slot[a]:l.slot[a+1]] {
		if n > 0 {
			visit(first + int32(k))
		}
	}
}

// sorted returns the channels in an order in which each channel comes before the channels that depend on it (Kahn,
// "Topological sorting of large networks", CACM 5, 1962).
func (l *layer) sorted() []int32 {
	waiting := make([]int32, len(l.to))
	for a := range int32(len(l.to)) {
		l.each(a, func(b int32) { waiting[b]++ })
	}
	order := make([]int32, 0, len(l.to))
	for a, n := range waiting {
		if n == 0 {
			order = append(order, int32(a))
		}
	}
	for i := 0; i < len(order); i++ {
		l.each(order[i], func(b int32) {
			if waiting[b]--; waiting[b] == 0 {
				order = append(order, b)
			}
		})
	}
	return order
}
