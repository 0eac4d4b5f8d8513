// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
)

// cycle returns a shortest cycle, or nil. Among several shortest cycles it returns the cycle with the lowest vertex;
// this vertex comes first. It sets Cyclic and Rings of r.
func (n *net) cycle(ctx context.Context, r *Result) ([]int32, error) {
	part := n.parts()
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

// parts returns the number of the strongly connected component of each vertex (Tarjan, "Depth-first search and linear
// graph algorithms", SIAM Journal on Computing 1, 1972). It works without recursion. O(channels + dependencies).
func (n *net) parts() []int32 {
	size := len(n.channels)
	p := parter{net: n, part: make([]int32, size), number: make([]int32, size), low: make([]int32, size),
		at: slices.Clone(n.first)}
	for v := range p.part {
		p.part[v] = fabric.None
	}
	for v := range p.part {
		if p.number[v] == 0 {
			p.visit(int32(v))
		}
	}
	return p.part
}

type parter struct {
	*net
	part []int32
	// number is the order in which a vertex was visited, from 1. low is the lowest number known to be in the component
	// of a vertex.
	number, low []int32
	at          []int32 // the next edge to visit
	stack       []int32 // visited vertices whose component is not known
	path        []int32 // the vertices on the present path
	met, count  int32
}

func (p *parter) visit(start int32) {
	for p.meet(start); len(p.path) > 0; {
		v := p.path[len(p.path)-1]
		if p.at[v] < p.first[v+1] {
			to := p.to[p.at[v]]
			p.at[v]++
			if p.number[to] == 0 {
				p.meet(to)
			} else if p.part[to] == fabric.None {
				p.low[v] = min(p.low[v], p.number[to])
			}
			continue
		}
		p.path = p.path[:len(p.path)-1]
		if p.low[v] == p.number[v] {
			p.close(v)
		} else {
			u := p.path[len(p.path)-1]
			p.low[u] = min(p.low[u], p.low[v])
		}
	}
}

func (p *parter) meet(v int32) {
	p.met++
	p.number[v], p.low[v] = p.met, p.met
	p.stack, p.path = append(p.stack, v), append(p.path, v)
}

// close makes the vertices visited since v a finished component.
func (p *parter) close(v int32) {
	for {
		u := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		p.part[u] = p.count
		if u == v {
			break
		}
	}
	p.count++
}
