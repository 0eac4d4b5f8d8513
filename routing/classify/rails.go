// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
)

// Rails say which ports of hosts are on which leaves: those of one number on leaves of one rail.
type Rails struct {
	// Names are by rail: the number of the adapters, or that of the rail.
	Names []string
	// ByCabling says that numbers of adapters do not tell them.
	ByCabling bool
	// Of is the rail by switch, and At by adapter of [Classes], None for none.
	Of, At []int32
	// Ports are how many ports of hosts are on each, Leaves how many switches it has.
	Ports, Leaves []int
}

// findRails tells rails by the numbers of the adapters that are on a leaf, else by which leaves share hosts.
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

// countRails puts the ports of hosts on the rails of their leaves.
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

// spread are the hosts that have ports on several leaves, and how many leaves those have.
func (s *Structure) spread() (hosts []Host, leaves int) {
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

// railsByNumber takes the number that most ports on a leaf have for that leaf's rail, and fails where those of more
// than one port in eight are others. Where the names of hosts do not say which ports are of one, one in four may be
// others, and one leaf makes no rail.
func (s *Structure) railsByNumber(r *Rails) bool {
	hosts, leaves := s.spread()
	strict, fewest := 8, 1
	if leaves == 0 {
		hosts, strict, fewest = s.hosts, 4, 2
	}
	having := map[fabric.SwitchIndex]map[int]int{}
	for _, h := range hosts {
		for _, a := range h.Adapters {
			sw := s.Adapters[a].Switch
			if h.Kind != KindHost {
				continue
			}
			if having[sw] == nil {
				having[sw] = map[int]int{}
			}
			having[sw][s.number(a)]++
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

// railsByCabling numbers the planes, or else the leaves of each set that shares hosts, where all sets have as many.
func (s *Structure) railsByCabling(r *Rails) {
	hosts, leaves := s.spread()
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
		slices.SortFunc(set, func(a, b fabric.SwitchIndex) int {
			return cmp.Compare(s.Fabric.SwitchNode(a).GUID, s.Fabric.SwitchNode(b).GUID)
		})
		for i, sw := range set {
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
