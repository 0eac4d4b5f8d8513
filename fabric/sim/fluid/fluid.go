// SPDX-License-Identifier: Apache-2.0

// Package fluid computes the rates of flows through a lossless network with credits, as a fluid.
//
// A link is one direction of a cable. The buffer at its far end is a queue: data leaves it in the order of arrival. If
// the data at the head of a queue waits for its next link, all data behind it waits as well (head-of-line blocking). So
// a link takes only as much as the slowest next link of its queue takes of its share. A link whose queues want more
// than it takes divides its rate among them: each queue gets the same rate, or less if it wants less. Rates are found
// by iteration to a fixed point.
//
// In a ring of links that wait for each other, nothing moves. Such a deadlock is found as a cycle of waiting links.
package fluid

import (
	"cmp"
	"math"
	"slices"
)

// Flow is a stream of data over a path.
type Flow struct {
	Path   []int   // links; the first one is that of the source
	Demand float64 // bytes per second that the source has for the flow
}

// Net is a network with its flows. Capacity holds the bytes per second that each link can carry. Drain holds the bytes
// per second that the far end of each link can take, infinite for no limit.
type Net struct {
	Capacity, Drain []float64
	Flows           []Flow
}

// Rates is the state to which a network settles.
type Rates struct {
	Flows []float64 // bytes per second of each flow
	Load  []float64 // bytes per second of each link
	// Wait holds the share of time, from 0 to 1, in which a link has data to send and no credit.
	Wait []float64
	// Busy marks the links that have data to send all the time.
	Busy []bool
	// Stuck marks the links of a deadlock.
	Stuck []bool
}

const (
	iterations = 3000
	precise    = 1e-4 // relative difference at which the iteration ends
	// damping is the share of a correction that is applied in the first steps. It falls to a half after a number of
	// steps, because queues that limit each other swing if all are corrected at once.
	damping, halfway = 0.5, 1000
	// near is the relative difference up to which a queue counts as limited.
	near  = 0.02
	trace = 1e-9 // share of its demand that a blocked flow counts with in the composition of a queue
)

// solver is the state of the iteration.
type solver struct {
	*Net
	used   []int         // links with flows
	first  []bool        // it is the link of a source
	demand []float64     // of the flows that begin with the link
	takes  []float64     // what a link takes
	level  []float64     // most that a link takes from one queue
	limit  []float64     // what the queue at the end of a link takes
	next   []map[int]int // by link and next link: index in passes
	passes []float64     // data from a queue to a link
	feeds  [][]int       // by link: the passes to it
	wants  []float64     // scratch memory
	out    Rates
}

// Solve returns the rates to which a network settles. O(iterations x lengths of paths).
func Solve(n *Net) *Rates {
	s := &solver{Net: n}
	s.prepare()
	for {
		s.settle()
		ring := s.ring()
		if len(ring) == 0 {
			return &s.out
		}
		for _, l := range ring {
			s.out.Stuck[l] = true
		}
	}
}

func (s *solver) prepare() {
	links := len(s.Capacity)
	s.first, s.demand, s.takes = make([]bool, links), make([]float64, links), make([]float64, links)
	s.level, s.limit = make([]float64, links), make([]float64, links)
	s.next, s.feeds = make([]map[int]int, links), make([][]int, links)
	s.out = Rates{make([]float64, len(s.Flows)), make([]float64, links), make([]float64, links), make([]bool, links),
		make([]bool, links)}
	for _, f := range s.Flows {
		s.first[f.Path[0]] = true
		s.demand[f.Path[0]] += f.Demand
		for i, l := range f.Path {
			if s.next[l] == nil {
				s.next[l] = map[int]int{}
				s.used = append(s.used, l)
			}
			if i+1 < len(f.Path) {
				if _, known := s.next[l][f.Path[i+1]]; !known {
					s.next[l][f.Path[i+1]] = len(s.passes)
					s.feeds[f.Path[i+1]] = append(s.feeds[f.Path[i+1]], len(s.passes))
					s.passes = append(s.passes, 0)
				}
			}
		}
	}
	slices.Sort(s.used)
	s.order()
}

// order sorts the links so that each comes after its next links, as far as they form no ring.
func (s *solver) order() {
	const most = 100 // hops, which only a ring reaches
	height := map[int]int{}
	for changed, rounds := true, 0; changed && rounds < most; rounds++ {
		changed = false
		for _, l := range s.used {
			for n := range s.next[l] {
				if height[l] <= height[n] {
					height[l], changed = height[n]+1, true
				}
			}
		}
	}
	slices.SortStableFunc(s.used, func(a, b int) int { return cmp.Compare(height[a], height[b]) })
}

// settle finds the fixed point.
func (s *solver) settle() {
	for _, l := range s.used {
		s.level[l] = s.capacity(l)
	}
	for i := range iterations {
		done := s.correct(damping / (1 + float64(i)/halfway))
		if steady := s.flow(); done && steady {
			return
		}
	}
}

func (s *solver) capacity(l int) float64 {
	if s.out.Stuck[l] {
		return 0
	}
	return s.Capacity[l]
}

// correct computes what the links take, from the ends of the paths on, and moves their levels towards those at which
// they take as much. It reports whether no level had to move.
func (s *solver) correct(share float64) bool {
	done := true
	for _, l := range s.used {
		s.limit[l] = s.Drain[l]
		whole := s.out.Load[l]
		for n, i := range s.next[l] {
			if s.passes[i] > 0 {
				s.limit[l] = min(s.limit[l], s.level[n]*max(whole, s.passes[i])/s.passes[i])
			}
		}
		s.takes[l] = min(s.capacity(l), s.limit[l])
		if s.first[l] {
			continue
		}
		was, to := s.level[l], s.divide(l)
		if done = done && math.Abs(to-was) <= precise*to; len(s.feeds[l]) > 1 && to > 0 && was > 0 {
			to = was * math.Pow(to/was, share)
		}
		s.level[l] = to
	}
	return done
}

// flow computes the rates of the flows. It reports whether they are the last ones.
func (s *solver) flow() (steady bool) {
	clear(s.out.Load)
	clear(s.passes)
	steady = true
	for i, f := range s.Flows {
		l := f.Path[0]
		was := s.out.Flows[i]
		s.out.Flows[i] = f.Demand
		if s.demand[l] > 0 {
			s.out.Flows[i] *= min(1, s.takes[l]/s.demand[l])
		}
		steady = steady && math.Abs(was-s.out.Flows[i]) <= precise*f.Demand
		for k, l := range f.Path {
			s.out.Load[l] += s.out.Flows[i]
			if k+1 < len(f.Path) {
				s.passes[s.next[l][f.Path[k+1]]] += s.out.Flows[i] + trace*f.Demand
			}
		}
	}
	return steady
}

// divide returns the level at which a link divides what it takes among its queues. A queue below the present level
// wants no more than it has, the others want all.
func (s *solver) divide(l int) float64 {
	wants := s.wants[:0]
	for _, i := range s.feeds[l] {
		want := s.passes[i]
		if want >= s.level[l]*(1-precise) {
			want = math.Inf(1)
		}
		wants = append(wants, want)
	}
	slices.Sort(wants)
	s.wants = wants
	left := s.takes[l]
	for i, want := range wants {
		if fair := left / float64(len(wants)-i); want > fair {
			return fair
		}
		left -= want
	}
	return s.takes[l]
}

// blocked returns a copy of a cycle of links if one of its queues takes less than its link carries, otherwise nil.
func (s *solver) blocked(cycle []int) []int {
	if slices.ContainsFunc(cycle, func(l int) bool { return s.limit[l] < s.Capacity[l]*(1-near) }) {
		return slices.Clone(cycle)
	}
	return nil
}

// ring computes the waits. It returns the links of a cycle of links that wait for each other, nil if there is none.
func (s *solver) ring() []int {
	const fresh, open, neard = 0, 1, 2
	state := map[int]int{}
	var path, ring []int
	var visit func(l int)
	visit = func(l int) {
		state[l] = open
		path = append(path, l)
		s.out.Busy[l] = true
		if c := s.Capacity[l]; c > 0 {
			s.out.Wait[l] = max(0, 1-s.out.Load[l]/c)
		}
		if s.out.Load[l] >= s.limit[l]*(1-near) {
			for n, i := range s.next[l] {
				if s.takes[l] > 0 && s.level[n] > s.passes[i]*(1+near) || s.takes[l] <= 0 && s.takes[n] > 0 {
					continue
				}
				switch {
				case state[n] == fresh:
					visit(n)
				case state[n] == open && ring == nil && !s.out.Stuck[n]:
					ring = s.blocked(path[slices.Index(path, n):])
				}
			}
		}
		path = path[:len(path)-1]
		state[l] = neard
	}
	clear(s.out.Wait)
	clear(s.out.Busy)
	for _, l := range s.used {
		if s.first[l] && s.demand[l] > s.takes[l]*(1+precise*10) && state[l] == fresh {
			visit(l)
		}
	}
	return ring
}
