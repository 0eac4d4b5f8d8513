// SPDX-License-Identifier: Apache-2.0

package transition

import (
	"slices"

	"example.org/ibconsole/routing/checks/credits"
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

// parts computes the strongly connected components of dependencies by Tarjan's algorithm. It returns the number of the
// component of each channel, or 0 for channels that are on no ring.
func (n *network) parts(has func(dep int) bool) (part []int32, rings int32) {
	channels := n.channels()
	part = make([]int32, channels)
	number, low, closed := make([]int32, channels), make([]int32, channels), make([]bool, channels)
	type frame struct {
		c    int32
		next []int32
	}
	var (
		count int32
		open  []int32
		calls []frame
	)
	enter := func(c int32) {
		count++
		number[c], low[c] = count, count
		open = append(open, c)
		var next []int32
		n.next(c, has, func(to int32) bool { next = append(next, to); return true })
		calls = append(calls, frame{c, next})
	}
	for root := range channels {
		if number[root] != 0 {
			continue
		}
		enter(root)
		for len(calls) > 0 {
			top := &calls[len(calls)-1]
			c := top.c
			if len(top.next) > 0 {
				to := top.next[0]
				top.next = top.next[1:]
				switch {
				case number[to] == 0:
					enter(to)
				case !closed[to]:
					low[c] = min(low[c], number[to])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].c
				low[up] = min(low[up], low[c])
			}
			if low[c] != number[c] {
				continue
			}
			at := slices.Index(open, c)
			if len(open)-at > 1 {
				rings++
			}
			for _, x := range open[at:] {
				part[x], closed[x] = rings*int32(min(1, len(open)-at-1)), true
			}
			open = open[:at]
		}
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

// judge finds the components that have a ring that neither the old nor the new tables have alone. A component counts
// as such if it has a dependency that the old tables do not have, and a dependency that the new tables do not have.
// It returns part with all other components set to 0.
func (n *network) judge(has, before, after func(dep int) bool) (part []int32, bad bool) {
	part, rings := n.parts(has)
	if rings == 0 {
		return part, false
	}
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
		bad = bad || part[c] > 0
	}
	return part, bad
}
