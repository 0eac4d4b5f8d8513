// SPDX-License-Identifier: Apache-2.0

package transition

import (
	mathbits "math/bits"
	"slices"

	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/components"
)

// bits is a set of dependencies.
type bits []uint64

func newBits(n int) bits { return make(bits, n/64+1) }

func (b bits) add(dep int32)    { b[dep>>6] |= 1 << (dep & 63) }
func (b bits) has(dep int) bool { return b[dep>>6]&(1<<(dep&63)) != 0 }

func (b bits) join(o bits) {
	for i, word := range o {
		b[i] |= word
	}
}

// each yields the dependencies of a set.
func (b bits) each(yield func(dep int32) bool) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(int32(i<<6 + mathbits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// parts returns the number of the strongly connected component of each channel, or 0 for channels that are on no ring,
// and the number of components with rings.
func (n *network) parts(has func(dep int) bool) (part []int32, rings int32) {
	part, count := components.Of(int(n.channels()), nil, func(c int32) (next []int32) {
		n.next(c, has, func(to int32) bool { next = append(next, to); return true })
		return next
	})
	sizes, numbers := make([]int32, count), make([]int32, count)
	for _, p := range part {
		if sizes[p]++; sizes[p] == 2 {
			numbers[p] = 1
		}
	}
	for p := range numbers {
		if numbers[p] > 0 {
			rings++
			numbers[p] = rings
		}
	}
	for c, p := range part {
		part[c] = numbers[p]
	}
	return part, rings
}

// ring returns a ring of dependencies within one component, or nil if there is none. O(dependencies).
func (n *network) ring(has func(dep int) bool, part []int32) []credits.Channel {
	start := int32(slices.IndexFunc(part, func(p int32) bool { return p > 0 }))
	if start < 0 {
		return nil
	}
	from := map[int32]int32{}
	queue := []int32{start}
	for i := 0; i < len(queue); i++ {
		c := queue[i]
		closed := false
		n.next(c, has, func(to int32) bool {
			if to == start {
				closed = true
				return false
			}
			if _, known := from[to]; !known && part[to] == part[start] {
				from[to] = c
				queue = append(queue, to)
			}
			return true
		})
		if closed {
			ring := []credits.Channel{n.channel(c)}
			for c != start {
				c = from[c]
				ring = append(ring, n.channel(c))
			}
			slices.Reverse(ring)
			return ring
		}
	}
	return nil
}

// mostVisited limits the channels that mixedRing visits.
const mostVisited = 1 << 20

// mixedRing returns a ring of dependencies within one component that neither the old nor the new tables have alone, or
// nil if there is no component. If it finds no such ring, it returns another one of the component. The arguments are
// those of keepMixed, which must have kept part.
func (n *network) mixedRing(has, before, after func(dep int) bool, part []int32) []credits.Channel {
	whole := n.ring(has, part)
	visited := 0
	for c, p := range part {
		if p == 0 {
			continue
		}
		var found []credits.Channel
		n.next(int32(c), has, func(to int32) bool {
			dep := n.dependency(int32(c), to)
			if part[to] != p || before(dep) && after(dep) {
				return true
			}
			ring := n.path(has, part, to, int32(c), &visited)
			wasOld, isNew := true, true
			for i := range ring {
				dep := n.dependency(ring[i], ring[(i+1)%len(ring)])
				wasOld, isNew = wasOld && before(dep), isNew && after(dep)
			}
			if !wasOld && !isNew {
				for _, c := range ring {
					found = append(found, n.channel(c))
				}
			}
			return found == nil && visited < mostVisited
		})
		if found != nil {
			return found
		}
		if visited >= mostVisited {
			break
		}
	}
	return whole
}

// path returns a shortest path between channels of one component, with both. It counts the channels that it visits.
func (n *network) path(has func(dep int) bool, part []int32, start, end int32, visited *int) []int32 {
	from := map[int32]int32{start: start}
	queue := []int32{start}
	for i := 0; i < len(queue); i++ {
		if *visited++; queue[i] == end {
			break
		}
		n.next(queue[i], has, func(to int32) bool {
			if _, known := from[to]; !known && part[to] == part[start] {
				from[to] = queue[i]
				queue = append(queue, to)
			}
			return true
		})
	}
	path := []int32{end}
	for c := end; c != start; path = append(path, c) {
		c = from[c]
	}
	slices.Reverse(path)
	return path
}

// judge reports whether there is a ring that neither the old nor the new tables have alone.
func (n *network) judge(has, before, after func(dep int) bool) bool {
	part, rings := n.parts(has)
	return n.keepMixed(part, rings, has, before, after)
}

// keepMixed keeps the components that have a ring that neither the old nor the new tables have alone, and reports
// whether there are any. A component counts as such if it has a dependency that the old tables do not have, and a
// dependency that the new tables do not have. The part of all other channels becomes 0. The arguments part and rings
// are the results of parts.
func (n *network) keepMixed(part []int32, rings int32, has, before, after func(dep int) bool) (found bool) {
	strange := make([]uint8, rings+1) // 1: a dependency is not in before, 2: one is not in after
	for c, p := range part {
		if p == 0 {
			continue
		}
		n.next(int32(c), has, func(to int32) bool {
			if part[to] == p {
				dep := n.dependency(int32(c), to)
				if !before(dep) {
					strange[p] |= 1
				}
				if !after(dep) {
					strange[p] |= 2
				}
			}
			return true
		})
	}
	for c, p := range part {
		if p > 0 && strange[p] != 3 {
			part[c] = 0
		}
		found = found || part[c] > 0
	}
	return found
}
