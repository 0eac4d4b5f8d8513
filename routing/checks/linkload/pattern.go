// SPDX-License-Identifier: Apache-2.0

package linkload

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Pair is a source and a destination, both end ports.
type Pair struct {
	Src, Dst fabric.PortIndex
	// LID is the destination LID of Dst, or 0 for its base LID.
	LID uint16
}

// Hosts returns the end ports of HCAs, including unreachable end ports and without aggregation nodes. They are sorted
// by name, and numbers in names by value: node-2 comes before node-10. Patterns use this order. Ports with the same
// name are sorted by number, then by GUID. O(hosts log hosts).
func Hosts(f *fabric.Fabric) []fabric.PortIndex {
	var hosts []fabric.PortIndex
	for _, e := range slices.Concat(f.EndPorts, f.Unreachable) {
		if f.Nodes[f.Ports[e].Node].Type == mad.NodeCA && !f.IsAggregation(f.Ports[e].Node) {
			hosts = append(hosts, e)
		}
	}
	slices.SortFunc(hosts, func(a, b fabric.PortIndex) int {
		p, q := &f.Ports[a], &f.Ports[b]
		return cmp.Or(prose.Natural(f.Nodes[p.Node].Desc, f.Nodes[q.Node].Desc), cmp.Compare(p.Num, q.Num),
			cmp.Compare(p.GUID, q.GUID))
	})
	return hosts
}

// Shift returns the pattern in which each host sends to the host k positions later, modulo the number of hosts. The
// pattern is a permutation. k may be negative. Gaps in hosts are fabric.None; they neither send nor receive.
func Shift(hosts []fabric.PortIndex, k int) []Pair {
	pairs := make([]Pair, 0, len(hosts))
	for i, src := range hosts {
		j := ((i+k)%len(hosts) + len(hosts)) % len(hosts)
		if i != j && src != fabric.None && hosts[j] != fabric.None {
			pairs = append(pairs, Pair{Src: src, Dst: hosts[j]})
		}
	}
	return pairs
}

// Permutation returns a random permutation: each host sends to one host and receives from one host. Hosts that would
// send to themselves are omitted.
func Permutation(hosts []fabric.PortIndex, r *rand.Rand) []Pair {
	to := r.Perm(len(hosts))
	pairs := make([]Pair, 0, len(hosts))
	for i, src := range hosts {
		if to[i] != i {
			pairs = append(pairs, Pair{Src: src, Dst: hosts[to[i]]})
		}
	}
	return pairs
}

// Bisection divides the hosts at random into two halves. Each host of the first half sends to one host of the second
// half. If the number of hosts is odd, one host is left out.
func Bisection(hosts []fabric.PortIndex, r *rand.Rand) []Pair {
	order := r.Perm(len(hosts))
	half := len(hosts) / 2
	pairs := make([]Pair, half)
	for i := range pairs {
		pairs[i] = Pair{Src: hosts[order[i]], Dst: hosts[order[half+i]]}
	}
	return pairs
}

// Among returns all ordered pairs of distinct hosts, one pair for each LID of the destination. This is the pattern of a
// job with all-to-all communication.
func Among(f *fabric.Fabric, hosts []fabric.PortIndex) []Pair {
	pairs := make([]Pair, 0, len(hosts)*max(0, len(hosts)-1))
	for _, src := range hosts {
		for _, dst := range hosts {
			if src == dst {
				continue
			}
			lid := f.Ports[dst].LID
			pairs = append(pairs, Pair{Src: src, Dst: dst, LID: lid})
			for k := uint16(1); lid != 0 && k < 1<<f.Ports[dst].LMC; k++ {
				pairs = append(pairs, Pair{Src: src, Dst: dst, LID: lid + k})
			}
		}
	}
	return pairs
}
