// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"context"
	"sync/atomic"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// fitOneVL reports whether all paths together cannot deadlock. Then one VL suffices, and the order of edges does not
// matter. It checks a few paths first, because on most fabrics cycles appear early or not at all. O(LIDs x switches) on
// all processors.
func (d *deadlocks) fitOneVL(ctx context.Context) (bool, error) {
	const few = 16
	parts := make([]follower, routing.Workers())
	for i := range parts {
		parts[i] = follower{dependencies: newDependencies(d.graph), met: make([]int32, len(d.hosts))}
	}
	n := len(d.dests)
	for _, span := range [][2]int{{0, n / few}, {n / few, n}} {
		var lost atomic.Bool
		err := routing.ForEach(ctx, span[1]-span[0], nil, func(worker, i int) {
			if !parts[worker].follow(d, span[0]+i) {
				lost.Store(true)
			}
		})
		if err != nil || lost.Load() {
			return false, err
		}
		for i := range parts[1:] {
			for k, word := range parts[i+1].has {
				parts[0].has[k] |= word
			}
		}
		if parts[0].cyclic() {
			return false, nil
		}
	}
	return true, nil
}

// follower records dependencies on paths.
type follower struct {
	dependencies
	met []int32 // by switch, the last destination to which paths were followed from there, counted from 1
}

// follow records the dependencies on the paths of all groups to a destination. It reports whether all groups have a
// path.
func (f *follower) follow(d *deadlocks, t int) bool {
	to, ports := d.dests[t].sw, d.portsTo(&d.dests[t])
	mark := int32(t + 1)
	for _, g := range d.groups {
		before := int32(fabric.None)
		for s := g.sw; s != to; {
			if ports[s] == fabric.NoPath {
				return false
			}
			c := f.arc(s, ports[s])
			if before != fabric.None {
				f.add(before, c)
			}
			if f.met[s] == mark {
				break
			}
			f.met[s] = mark
			before, s = c, f.to[c]
		}
	}
	return true
}
