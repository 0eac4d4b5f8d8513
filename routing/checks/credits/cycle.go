// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"slices"

	"example.org/ibconsole/routing/components"
)

// cycle returns a shortest cycle, or nil. Among several shortest cycles it returns the cycle with the lowest vertex;
// this vertex comes first. It sets Cyclic and Rings of r.
func (n *net) cycle(ctx context.Context, r *Result) ([]int32, error) {
	part, _ := components.Of(len(n.channels), nil, n.of)
	size := make([]int32, len(n.channels))
	self := make([]bool, len(n.channels))
	for v := range part {
		size[part[v]]++
		self[v] = slices.Contains(n.of(int32(v)), int32(v))
	}
	s := &search{net: n, part: part, before: make([]int32, len(part)), round: make([]int32, len(part))}
	counted := map[int32]bool{}
	for v, p := range part {
		if size[p] < 2 && !self[v] {
			continue
		}
		r.Cyclic++
		counted[p] = true
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.from(int32(v))
	}
	r.Rings = len(counted)
	return s.best, nil
}

// search finds a shortest cycle by breadth-first searches from one vertex after another.
type search struct {
	*net
	part []int32
	best []int32
	// before is the previous vertex on the path to each vertex. It is valid only if round is the number of the current
	// search.
	before, round []int32
	now, next     []int32
	rounds        int32
}

// The method from searches for a cycle through a vertex that is shorter than the best cycle so far. It is a
// breadth-first search within the component of this vertex.
func (s *search) from(start int32) {
	s.rounds++
	s.now = append(s.now[:0], start)
	for length := 1; len(s.now) > 0 && (s.best == nil || length < len(s.best)); length++ {
		s.next = s.next[:0]
		for _, v := range s.now {
			for _, to := range s.of(v) {
				if to == start {
					s.keep(v, start)
					return
				}
				if s.part[to] == s.part[start] && s.round[to] != s.rounds {
					s.round[to], s.before[to] = s.rounds, v
					s.next = append(s.next, to)
				}
			}
		}
		s.now, s.next = s.next, s.now
	}
}

func (s *search) keep(last, start int32) {
	s.best = s.best[:0]
	for v := last; v != start; v = s.before[v] {
		s.best = append(s.best, v)
	}
	s.best = append(s.best, start)
	slices.Reverse(s.best)
}
