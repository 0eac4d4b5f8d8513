// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
)

// Base is an old state that is prepared for comparisons with many new states, each of which differs from it in few
// places. It is read-only.
type Base struct {
	forest *trees.Forest
	m      *matching
	// total counts the pairs. all is set if every pair is delivered and every table was read. If all is not set,
	// Compare compares the two states completely, as the function [Compare].
	total int64
	all   bool
	// hostOf is indexed by LID: the index of the host with this base LID, or -1. groupsAt lists, for each switch, the
	// groups of hosts whose packets enter the fabric there.
	hostOf   []int32
	groupsAt [][]int32
	// entries and paths count the table entries and the paths of each port. ranked lists the ports between switches,
	// most paths first. ends describes the ports of switches for results.
	entries []int
	paths   []int64
	ranked  []fabric.PortIndex
	ends    []End
}

// NewBase prepares the state whose paths the argument forest holds. O(switches x LIDs) on all processors.
func NewBase(ctx context.Context, forest *trees.Forest) (*Base, error) {
	t := forest.Tables
	b := &Base{forest: forest, m: match(t, t), paths: make([]int64, len(t.Fabric.Ports))}
	w, err := b.m.walk(ctx, Options{})
	if err != nil {
		return nil, fmt.Errorf("prepare %s to compare with: %w", t.Origin, err)
	}
	var sum Result
	w.result(&sum)
	b.total = sum.Pairs.Total
	b.all = sum.Pairs.Same == sum.Pairs.Total
	for s, n := range t.Fabric.Switches {
		b.all = b.all && (t.Known[s] || !t.Fabric.Nodes[n].InSubnet)
	}
	for _, x := range w.workers {
		add(b.paths, x.old.paths)
	}
	b.entries = b.m.old.entryCounts()
	b.index()
	return b, nil
}

func (b *Base) index() {
	f := b.forest.Tables.Fabric
	b.hostOf = slices.Repeat([]int32{-1}, int(b.forest.Tables.LFT.MaxLID)+1)
	for i, h := range b.m.hosts {
		lid := b.m.old.lid(h.old)
		if lid == 0 || int(lid) >= len(b.hostOf) {
			b.all = false
			continue
		}
		b.hostOf[lid] = int32(i)
		b.all = b.all && b.m.old.numLIDs(h.old) == 1 // others are compared LID by LID
	}
	b.groupsAt = make([][]int32, len(f.Switches))
	for g := range b.m.groups {
		if at := b.m.groups[g].old; at >= 0 {
			b.groupsAt[at] = append(b.groupsAt[at], int32(g))
		} else {
			b.all = false
		}
	}
	b.ends = make([]End, len(f.Ports))
	for _, n := range f.Switches {
		node := &f.Nodes[n]
		for p := range node.Slots() {
			b.ends[p] = b.m.old.end(p)
			if b.paths[p] > 0 && f.PeerSwitch(p) != fabric.None {
				b.ranked = append(b.ranked, p)
			}
		}
	}
	slices.SortFunc(b.ranked, func(x, y fabric.PortIndex) int {
		return cmp.Or(cmp.Compare(b.paths[y], b.paths[x]), cmp.Compare(x, y))
	})
}

// Compare is like the function [Compare] with the base as the old state. If all pairs of the base are delivered and
// [trees.Forest.Against] finds the difference, the cost depends only on the changed links and entries and the paths
// through them.
func (b *Base) Compare(ctx context.Context, after *fabric.Tables, opt Options) (*Result, error) {
	if opt.Examples == 0 {
		opt.Examples = defaultExamples
	}
	if d, ok := b.forest.Against(after); ok && b.all && b.forest.Tables.Adaptive == nil && after.Adaptive == nil {
		if r := b.compare(after, d, opt); r != nil {
			return r, ctx.Err()
		}
	}
	return Compare(ctx, b.forest.Tables, after, opt)
}
