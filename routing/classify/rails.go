// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
)

// Rails assigns the ports of hosts to rails. The leaf of a port determines its rail.
type Rails struct {
	// Names holds the name of each rail: the number of its adapters, or the number of the rail.
	Names []string
	// ByCabling is set if the rails do not follow from the numbers of adapters.
	ByCabling bool
	// Of is the rail of each switch. At is the rail of each adapter of [Classes]. Both are [None] without a rail.
	Of, At []int32
	// Ports counts the ports of hosts on each rail. Leaves counts the switches of each rail.
	Ports, Leaves []int
}

// findRails finds rails by the numbers of the adapters on each leaf. If that fails, it finds rails by the leaves that
// share hosts.
func (s *Structure) findRails(hints *Hints) Rails {
	r := Rails{Of: slices.Repeat([]int32{None}, len(s.Switches))}
	if s.Shape == FatTree || s.Shape == Irregular {
		if !s.railsByNumber(&r) {
			s.railsByCabling(&r)
		}
	}
	s.hintRails(hints, &r)
	s.countRails(&r)
	return r
}

// countRails assigns the ports of hosts to the rails of their leaves.
func (s *Structure) countRails(r *Rails) {
	r.At = slices.Repeat([]int32{None}, len(s.Adapters))
	r.Ports, r.Leaves = make([]int, len(r.Names)), make([]int, len(r.Names))
	for sw, rail := range r.Of {
		if rail != None && s.Switches[sw].Hosts > 0 {
			r.Leaves[rail]++
		}
	}
	for a := range s.Adapters {
		if s.Adapters[a].Role == Aggregation || len(r.Names) == 0 {
			continue
		}
		if r.At[a] = r.Of[s.Adapters[a].Switch]; r.At[a] != None {
			r.Ports[r.At[a]]++
		}
	}
}

// spreadHosts returns the hosts with ports on several leaves, and the number of these leaves.
func (s *Structure) spreadHosts() (hosts []Host, leaves int) {
	met := map[fabric.SwitchIndex]bool{}
	for _, h := range s.hosts {
		first := s.Adapters[h.Adapters[0]].Switch
		if h.Kind == KindHost && slices.ContainsFunc(h.Adapters, func(a int) bool {
			return s.Adapters[a].Switch != first
		}) {
			hosts = append(hosts, h)
			for _, a := range h.Adapters {
				met[s.Adapters[a].Switch] = true
			}
		}
	}
	return hosts, len(met)
}

// railsByNumber finds rails by adapter numbers. The rail of a leaf is the number of most ports on the leaf. It fails if
// more than one port in eight has a different number. If the names of hosts do not identify the ports of one host, it
// fails only if more than one port in four differs, or if there is a single leaf.
func (s *Structure) railsByNumber(r *Rails) bool {
	hosts, leaves := s.spreadHosts()
	strict, fewest := 8, 1
	if leaves == 0 {
		hosts, strict, fewest = s.hosts, 4, 2
	}
	having := votes[int]{}
	for _, h := range hosts {
		for _, a := range h.Adapters {
			if h.Kind == KindHost {
				having.add(s.Adapters[a].Switch, s.number(a))
			}
		}
	}
	usual := map[fabric.SwitchIndex]int{}
	numbers := map[int]int{}
	fit, all := 0, 0
	for sw, n := range having {
		usual[sw] = mostOf(n)
		numbers[usual[sw]]++
		fit += n[usual[sw]]
		for _, ports := range n {
			all += ports
		}
	}
	maps.DeleteFunc(numbers, func(_, leaves int) bool { return leaves < fewest })
	if len(numbers) < 2 || strict*fit < (strict-1)*all {
		return false
	}
	sorted := slices.Sorted(maps.Keys(numbers))
	for _, n := range sorted {
		r.Names = append(r.Names, fmt.Sprint(n))
	}
	for sw, n := range usual {
		r.Of[sw] = int32(slices.Index(sorted, n))
	}
	return true
}

// railsByCabling numbers the planes as rails. Without planes it numbers the leaves of each set of leaves that shares
// hosts, if all sets have the same size.
func (s *Structure) railsByCabling(r *Rails) {
	hosts, leaves := s.spreadHosts()
	if leaves < 2 {
		return
	}
	if s.Planes.Has() {
		copy(r.Of, s.Planes.Of)
		r.name(s.Planes.Count)
		return
	}
	sets := map[int32][]fabric.SwitchIndex{}
	seen := map[fabric.SwitchIndex]bool{}
	for _, h := range hosts {
		for i, a := range h.Adapters {
			sw := s.Adapters[a].Switch
			if slices.ContainsFunc(h.Adapters[:i], func(b int) bool { return s.Adapters[b].Switch == sw }) {
				return // two ports on one leaf: no rails
			}
			if pod := max(s.Pods.Of[sw], 0); !seen[sw] {
				seen[sw] = true
				sets[pod] = append(sets[pod], sw)
			}
		}
	}
	size := 0
	for _, set := range sets {
		if size == 0 {
			size = len(set)
		}
		if len(set) != size {
			return
		}
	}
	for _, set := range sets {
		for i, sw := range s.inOrder(set) {
			r.Of[sw] = int32(i)
		}
	}
	r.name(size)
}

func (r *Rails) name(n int) {
	r.ByCabling = true
	for i := len(r.Names); i < n; i++ {
		r.Names = append(r.Names, fmt.Sprint(i+1))
	}
}
