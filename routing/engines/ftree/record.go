// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/parallel"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/engines/minhop"
)

// base holds min-hop's hop counts. They are computed concurrently with the routing.
type base struct {
	done chan struct{}
	hops assign.Matrix
	err  error
	// crash is a panic of that computation.
	crash parallel.Crash
}

func baseHops(ctx context.Context, f *fabric.Fabric, opt *routing.Options) *base {
	b := &base{done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.crash.Recover(func() { b.hops, b.err = minhop.Hops(ctx, f, routing.NewGraph(f), opt) })
	}()
	return b
}

func (b *base) wait() {
	<-b.done
	b.crash.Repanic()
}

// record holds hop counts as OpenSM has them after fat-tree routing. These are min-hop's counts, partly overwritten by
// the counts of the paths to switches. It implements [routing.Hops].
type record struct {
	base *base
	// entries holds, for each target switch, the counts that differ from min-hop's. They are ordered by switch, and for
	// one switch in the order of writing.
	entries [][]entry

	dst fabric.SwitchIndex
	// from holds min-hop's counts from the target switch. It is nil if ports have weights.
	from []uint8
	// marked holds, for each switch, 1 + the last target for which the switch has an entry.
	marked []fabric.SwitchIndex
}

type entry struct {
	sw         fabric.SwitchIndex
	port, hops uint8
}

func newRecord(t *tree, b *base) *record {
	n := len(t.rank)
	return &record{base: b, entries: make([][]entry, n), marked: make([]fabric.SwitchIndex, n)}
}

// begin starts a new target.
func (r *record) begin(dst fabric.SwitchIndex) {
	r.dst, r.from = dst, nil
	if d, ok := r.base.hops.(*routing.Distances); ok {
		r.from = d.From(dst)
	}
}

// agrees reports whether the links of switch s need no entries because min-hop's counts are the same. The argument hops
// is the number of hops from s to the target.
func (r *record) agrees(s fabric.SwitchIndex, hops uint8) bool {
	return r.from != nil && r.from[s] == hops && len(r.entries[r.dst]) == 0
}

// note records the hop count of all links of a group of switch s, at the switch at the other end of the group.
func (r *record) note(t *tree, g *group, s fabric.SwitchIndex, hops uint8) {
	if r.from != nil && r.from[s] == hops-1 && r.marked[g.remote] != r.dst+1 {
		return
	}
	if g.n == 1 {
		r.put(g.remote, g.far, hops)
		return
	}
	for _, p := range t.portsOf(g) {
		r.put(g.remote, p.far, hops)
	}
}

func (r *record) put(sw fabric.SwitchIndex, port, hops uint8) {
	if r.marked[sw] != r.dst+1 && r.base.hops.Through(sw, port, r.dst) == hops {
		return
	}
	r.marked[sw] = r.dst + 1
	r.entries[r.dst] = append(r.entries[r.dst], entry{sw, port, hops})
}

// finish sorts the entries for reading.
func (r *record) finish() {
	for _, list := range r.entries {
		slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.sw, b.sw) })
	}
}

func (r *record) of(sw, dst fabric.SwitchIndex) []entry {
	list := r.entries[dst]
	first, ok := slices.BinarySearchFunc(list, sw, func(e entry, sw fabric.SwitchIndex) int {
		return cmp.Compare(e.sw, sw)
	})
	if !ok {
		return nil
	}
	last := first
	for last < len(list) && list[last].sw == sw {
		last++
	}
	return list[first:last]
}

// Least implements [routing.Hops].
func (r *record) Least(sw, dst fabric.SwitchIndex) uint8 {
	least := r.base.hops.Least(sw, dst)
	for _, e := range r.of(sw, dst) {
		least = min(least, e.hops)
	}
	return least
}

// Through implements [routing.Hops].
func (r *record) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	if port == 0 {
		return r.Least(sw, dst)
	}
	for _, e := range slices.Backward(r.of(sw, dst)) {
		if e.port == port {
			return e.hops
		}
	}
	return r.base.hops.Through(sw, port, dst)
}
