// SPDX-License-Identifier: Apache-2.0

package lash

import "math/bits"

// mostClosed is how many channels have a closure at most: 19 MB each way.
const mostClosed = 12288

// closure is the transitive closure of the dependencies of a VL, which says at
// once whether another one would close a cycle (Italiano, "Amortized efficiency of
// a path retrieval data structure", Theoretical Computer Science 48, 1986).
type closure struct {
	words int
	// Bit b of row a of after says that channel b depends on a, and of before that a
	// depends on b. A channel counts as depending on itself.
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

// add adds a dependency. Each row that is changed gets a bit that it had not, so
// that all dependencies of n channels take O(n^3 / 64) at most.
func (c *closure) add(d dependency) {
	if c.depends(d.before, d.then) {
		return
	}
	c.known = append(c.known[:0], c.row(c.after, d.before)...)
	c.spread(c.after, c.row(c.before, d.before), c.row(c.before, d.then), c.row(c.after, d.then))
	c.spread(c.before, c.row(c.after, d.then), c.known, c.row(c.before, d.before))
}

// spread adds what is new to the rows of those channels that are in some and not in known.
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

// cycles reports whether dependencies that are new close a cycle, alone or together.
func (c *closure) cycles(fresh []dependency) bool {
	for _, d := range fresh {
		if c.depends(d.then, d.before) {
			return true
		}
	}
	// A dependency leads to another where that begins behind its end. What leads to
	// nothing is taken away until nothing is left, or all that is left leads on.
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

// dependClosed is depend for both paths, by the closure.
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

// remake makes the closure of the dependencies that are left. O(dependencies x channels / 64).
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

// take adds the row of one channel to that of another.
func (c *closure) take(set []uint64, to, from int32) {
	row := c.row(set, to)
	for i, v := range c.row(set, from)[:len(row)] {
		row[i] |= v
	}
}

// each visits the channels that depend on one at once.
func (l *layer) each(a int32, visit func(b int32)) {
	first := l.first[l.to[a]]
	for k, n := range l.count[l.slot[a]:l.slot[a+1]] {
		if n > 0 {
			visit(first + int32(k))
		}
	}
}

// sorted are the channels, each before its dependents (Kahn, "Topological sorting of large networks", CACM 5, 1962).
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
