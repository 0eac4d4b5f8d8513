// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"context"

	"example.org/ibconsole/fabric"
)

// paths holds the shortest paths between all switches.
type paths struct {
	*network
	n int
	// first[s] is the number of the first arc of switch s. to is the switch to which each arc leads.
	first, to []int32
	// out holds, at s*n+d, the link by which switch s sends to switch d, or noLink.
	out []uint8
}

const noLink = 0xff

// newPaths takes paths from breadth-first trees, one tree for each switch in the order of numbers. The path from s to d
// follows the first tree in which d is below s. O(switches x (links + switches x depth)).
func newPaths(ctx context.Context, net *network) (*paths, error) {
	n := len(net.switches)
	p := &paths{network: net, n: n, first: net.arcs(), out: make([]uint8, n*n)}
	for i := range p.out {
		p.out[i] = noLink
	}
	for _, links := range net.links {
		for _, l := range links {
			p.to = append(p.to, l.peer)
		}
	}
	t := tree{above: make([]int32, n), by: make([]uint8, n), queue: make([]int32, 0, n)}
	for root := range int32(n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.grow(p, root)
		p.take(&t)
	}
	return p, nil
}

// tree is a breadth-first tree.
type tree struct {
	above []int32 // by switch: the next one towards the root, none for the root
	by    []uint8 // by switch: the link of the switch above that leads to it
	queue []int32 // in the order in which they were found
}

const notFound = -2

func (t *tree) grow(p *paths, root int32) {
	for s := range t.above {
		t.above[s] = notFound
	}
	t.above[root] = fabric.None
	t.queue = append(t.queue[:0], root)
	for i := 0; i < len(t.queue); i++ {
		s := t.queue[i]
		for l, peer := range p.to[p.first[s]:p.first[s+1]] {
			if t.above[peer] == notFound {
				t.above[peer], t.by[peer] = s, uint8(l)
				t.queue = append(t.queue, peer)
			}
		}
	}
}

// take takes from a tree the paths of all pairs that no earlier tree has.
func (p *paths) take(t *tree) {
	for _, d := range t.queue {
		for c, s := d, t.above[d]; s != fabric.None; c, s = s, t.above[s] {
			if out := &p.out[int(s)*p.n+int(d)]; *out == noLink {
				*out = t.by[c]
			}
		}
	}
}

// follow appends the arcs of the path from s to d to a slice.
func (p *paths) follow(list []int32, s, d int32) []int32 {
	for s != d {
		arc := p.first[s] + int32(p.out[int(s)*p.n+int(d)])
		list = append(list, arc)
		s = p.to[arc]
	}
	return list
}
