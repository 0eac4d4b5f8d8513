// SPDX-License-Identifier: Apache-2.0

// Package components finds the strongly connected components of a graph.
package components

// None is the component of a vertex that was not visited.
const None = -1

// Of returns the number of the strongly connected component of each of n vertices, and the number of components
// (Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1, 1972). It visits the vertices
// that can be reached from the roots, in their order; nil stands for all vertices. The function next returns the
// successors of a vertex, which must stay valid; it is called once for each vertex. A component has a higher number
// than those to which it leads. Of works without recursion. O(vertices + edges).
func Of(n int, roots []int32, next func(v int32) []int32) (part []int32, count int32) {
	s := search{part: make([]int32, n), number: make([]int32, n), low: make([]int32, n), next: next}
	for v := range s.part {
		s.part[v] = None
	}
	if roots == nil {
		for v := range int32(n) {
			s.visit(v)
		}
	}
	for _, v := range roots {
		s.visit(v)
	}
	return s.part, s.count
}

type search struct {
	part []int32
	// number is the order in which a vertex was visited, from 1. low is the lowest number known to be in the component
	// of a vertex.
	number, low []int32
	next        func(v int32) []int32
	stack       []int32 // visited vertices whose component is not known
	path        []step  // the vertices on the present path
	met, count  int32
}

// step is a vertex on the present path with the successors that are not visited yet.
type step struct {
	vertex int32
	left   []int32
}

func (s *search) visit(start int32) {
	if s.number[start] != 0 {
		return
	}
	for s.meet(start); len(s.path) > 0; {
		top := &s.path[len(s.path)-1]
		v := top.vertex
		if len(top.left) > 0 {
			to := top.left[0]
			top.left = top.left[1:]
			if s.number[to] == 0 {
				s.meet(to)
			} else if s.part[to] == None {
				s.low[v] = min(s.low[v], s.number[to])
			}
			continue
		}
		s.path = s.path[:len(s.path)-1]
		if s.low[v] == s.number[v] {
			s.close(v)
		} else {
			u := s.path[len(s.path)-1].vertex
			s.low[u] = min(s.low[u], s.low[v])
		}
	}
}

func (s *search) meet(v int32) {
	s.met++
	s.number[v], s.low[v] = s.met, s.met
	s.stack, s.path = append(s.stack, v), append(s.path, step{v, s.next(v)})
}

// close makes the vertices visited since v a finished component.
func (s *search) close(v int32) {
	for {
		u := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.part[u] = s.count
		if u == v {
			break
		}
	}
	s.count++
}
