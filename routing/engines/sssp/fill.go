// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"context"
	"slices"
	"sync/atomic"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// fill computes the first VL, which contains the paths of all units. Paths are added port by port, and for each port
// group by group to all LIDs of the port. Workers take consecutive ports. Their VLs are then merged in the same order.
// O(LIDs x switches) on all processors.
func (d *deadlocks) fill(ctx context.Context) (*layer, error) {
	parts := routing.Workers()
	layers := make([]*layer, parts)
	lost := make([]*dest, parts) // a destination to which a switch has no path
	ends := len(d.spans) - 1
	var done atomic.Int64
	done.Store(int64(d.done))
	err := routing.ForEach(ctx, parts, nil, func(_, i int) {
		w := newFiller(d)
		layers[i] = w.layer
		for k := i * ends / parts; k < (i+1)*ends/parts && lost[i] == nil && ctx.Err() == nil; k++ {
			to := d.dests[d.spans[k]:d.spans[k+1]]
			lost[i] = w.fill(to)
			n := int(done.Add(int64(len(to))))
			if n/stepsAtOnce != (n-len(to))/stepsAtOnce && d.opt.Progress != nil {
				d.opt.Progress(n, d.total)
			}
		}
	})
	if err == nil {
		d.done = d.total - 1 // ports that map no SLs have no steps here
		err = d.step(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range lost {
		if t != nil {
			return nil, d.refuse(false, "a switch has no path to LID %d", t.lid)
		}
	}
	for _, l := range layers[1:] {
		layers[0].merge(l)
	}
	return layers[0], nil
}

// filler adds the paths of all groups to a VL.
type filler struct {
	*deadlocks
	layer *layer
	trees []*pathTree // one for each LID of a port
}

// pathTree holds the paths of groups to one LID.
type pathTree struct {
	*filler
	to    *dest
	ports []uint8
	// met holds, for each switch, the destination for which it was last met. channel is the channel by which the switch
	// sends there. pairs is the number of pairs whose paths pass through the switch.
	met     []*dest
	channel []int32
	pairs   []uint32
	// branches lists the switches of the tree. For each group it contains the switches from the group's own switch to
	// the first switch that was met before. begins holds the start of each of these branches.
	branches []fabric.SwitchIndex
	begins   []int32
}

func newFiller(d *deadlocks) *filler { return &filler{deadlocks: d, layer: newLayer(d.graph)} }

// fill adds the paths to the LIDs of a port. It returns a destination to which a switch has no path, or nil.
func (w *filler) fill(to []dest) *dest {
	n := len(w.hosts)
	for len(w.trees) < len(to) {
		w.trees = append(w.trees, &pathTree{filler: w, met: make([]*dest, n), channel: make([]int32, n),
			pairs: make([]uint32, n)})
	}
	trees := w.trees[:len(to)]
	for i, t := range trees {
		t.to, t.ports, t.branches, t.begins = &to[i], w.portsTo(&to[i]), t.branches[:0], t.begins[:0]
	}
	for g := range w.groups {
		for _, t := range trees {
			if !t.branch(&w.groups[g]) {
				return t.to
			}
		}
	}
	for _, t := range trees {
		t.count()
	}
	return nil
}

// branch adds the new part of the path of a group. It reports whether the group has a path.
func (t *pathTree) branch(g *group) bool {
	t.begins = append(t.begins, int32(len(t.branches)))
	if g.sw == t.to.sw {
		return true
	}
	var before int32 = fabric.None // the channel to s
	for s := g.sw; s != t.to.sw; {
		known := t.met[s] == t.to
		if !known {
			if t.ports[s] == fabric.NoPath {
				return false
			}
			t.met[s], t.channel[s], t.pairs[s] = t.to, t.arc(s, t.ports[s]), 0
			t.branches = append(t.branches, s)
			t.layer.see(t.channel[s])
		}
		c := t.channel[s]
		if before != fabric.None {
			t.layer.join(before, c)
		}
		if known {
			break
		}
		before, s = c, t.graph.to[c]
	}
	t.pairs[g.sw] += uint32(g.lids)
	return true
}

// count counts the pairs on the edges of the tree. Each branch joins an earlier branch.
func (t *pathTree) count() {
	end := int32(len(t.branches))
	for _, begin := range slices.Backward(t.begins) {
		for _, s := range t.branches[begin:end] {
			if next := t.graph.to[t.channel[s]]; next != t.to.sw {
				t.layer.pairs[t.layer.slot[t.channel[s]]+t.channel[next]] += t.pairs[s]
				t.pairs[next] += t.pairs[s]
			}
		}
		end = begin
	}
}

// merge appends the paths of another VL to those of the layer.
func (l *layer) merge(more *layer) {
	for _, c := range more.seen {
		l.see(c)
	}
	for _, c := range more.seen {
		for e := more.head[c]; e != 0; e = more.edges[e].next {
			to := more.edges[e].target
			l.join(c, to)
			slot := l.slot[c] + to
			l.pairs[slot] += more.pairs[slot]
		}
	}
}
