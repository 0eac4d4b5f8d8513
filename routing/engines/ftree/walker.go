// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"context"

	"example.org/ibconsole/fabric"
)

// walker routes one target at a time. Slices are indexed by switch unless their comment says otherwise.
type walker struct {
	*tree
	ctx context.Context
	err error
	// routed is [Engine.Routed].
	routed func(lid uint16)

	*columns
	// kept holds the hop counts of LIDs that may be routed again.
	kept map[uint16][]uint8

	// out and hops hold the entry and the hop count of each slot for the current target. lid is 0 for an absent target.
	// Each link is a hop, including the link to the target.
	out, hops []uint8
	lid       uint16
	// absent is out for an absent target.
	absent []uint8
	// record stores the hop counts of the paths to switches.
	record *record
	// toSwitch is set if the target is a switch.
	toSwitch bool

	at []place
	// reordered marks the switches whose down groups were sorted at least once.
	reordered []bool
	// turn counts the paths below a root.
	turn []uint64
	memo
	runs

	// leafHops holds the number of hops from the last leaf to each switch. hopsToLeaf holds the number of hops from the
	// switch of each slot to the last leaf.
	leafHops, hopsToLeaf []uint8

	steps, allSteps int
	ticks           uint
}

func newWalker(ctx context.Context, t *tree, base *base) *walker {
	n := len(t.rank)
	w := &walker{
		tree: t, ctx: ctx, record: newRecord(t, base),
		kept: map[uint16][]uint8{}, hops: make([]uint8, n), absent: make([]uint8, n), at: make([]place, n),
		reordered: make([]bool, n), turn: make([]uint64, n), leafHops: make([]uint8, n),
	}
	for s := range n {
		at := &w.at[s]
		at.root, at.bottom, at.unordered = t.rank[s] == 0, len(t.side[s]) == 0, true
		for i := range t.down[s] {
			if t.down[s][i].remote == fabric.None {
				at.hosts = true
			} else {
				at.bottom = false
			}
		}
	}
	w.memo = newMemo(t, w.at)
	w.columns = newColumns(t.f, t.setSlots(w.at))
	w.runs = newRuns(t, w.at)
	w.allSteps = len(t.leaves)*t.maxCNs + len(t.rank)
	for i := range t.adapters {
		if !t.adapters[i].cn {
			w.allSteps++
		}
	}
	return w
}

// place holds the data of a switch that walks need most often.
type place struct {
	// class is the class of the switch in memo, and lowerSet the number of its set of lower neighbours. slot is the
	// index of the switch in a column.
	class, lowerSet, slot int32
	// root is set if the rank is 0. hosts is set if the switch has adapters. bottom is set if it has neither lower
	// switches nor neighbours of the same rank.
	root, hosts, bottom bool
	// tree is set if exactly one path leads to each switch below, so that the order of groups does not matter.
	tree bool
	// counted is set if paths up were counted on a down group since the groups were sorted. unordered is set if paths
	// down were counted on an up group.
	counted, unordered bool
}

// routeAll routes first to the compute nodes, leaf by leaf, then to other adapters, and then to switches.
func (w *walker) routeAll() error {
	for _, s := range w.leaves {
		w.routeLeaf(s)
		w.keep()
	}
	for i := range w.adapters {
		if a := &w.adapters[i]; !a.cn && w.err == nil {
			credit := uint16(0)
			if a.io {
				credit = w.opt.MaxReverseHops
			}
			w.routeTo(w.f.Ports[a.end].LID, a.sw, a.port, credit)
			w.keep()
		}
	}
	w.record.base.wait()
	if err := cmp.Or(w.err, w.record.base.err); err != nil {
		return err
	}
	for s := range fabric.SwitchIndex(len(w.rank)) {
		if w.ranked(s) && w.err == nil {
			w.routeToSwitch(s)
		}
		if !w.opt.ConnectRoots {
			w.keep()
		}
		w.step()
	}
	if w.err != nil {
		return w.err
	}
	if w.opt.ConnectRoots {
		w.connectRoots()
	}
	w.record.finish()
	if w.opt.Progress != nil {
		w.opt.Progress(w.allSteps, w.allSteps)
	}
	return nil
}

// routeLeaf routes to the compute nodes of a switch. If the switch has fewer compute nodes than the fullest leaf, it
// then routes to absent targets until the numbers are equal. Therefore paths stay the same when nodes disappear and
// come back. The order of the list may change meanwhile.
func (w *walker) routeLeaf(s fabric.SwitchIndex) {
	routed := 0
	for i := 0; i < len(w.down[s]) && w.err == nil; i++ {
		if g := &w.down[s][i]; w.isCN(g) {
			lid := w.f.Ports[w.adapters[g.first].end].LID
			if w.routed != nil {
				w.routed(lid)
			}
			w.routeTo(lid, s, g.near, 0)
			if !w.at[s].bottom {
				w.kept[lid] = append([]uint8(nil), w.hops...)
			}
			routed++
		}
	}
	for ; routed < w.maxCNs && w.err == nil; routed++ {
		w.begin(0)
		w.hops[w.at[s].slot] = 1
		w.climb(s, true, 0, 1)
		w.step()
	}
}

// routeTo routes to an adapter that is attached to a port of a switch.
func (w *walker) routeTo(lid uint16, s fabric.SwitchIndex, port uint8, credit uint16) {
	w.begin(lid)
	slot := w.at[s].slot
	w.out[slot], w.hops[slot] = port, 1
	w.climb(s, true, credit, 1)
	w.step()
}

// routeToSwitch routes to a switch.
func (w *walker) routeToSwitch(s fabric.SwitchIndex) {
	w.begin(w.f.SwitchLID(s))
	w.record.begin(s)
	w.toSwitch = true
	slot := w.at[s].slot
	w.out[slot], w.hops[slot] = 0, 0
	w.climb(s, false, 0, 0)
	last := w.leaves[len(w.leaves)-1]
	w.leafHops[s] = w.hops[w.at[last].slot]
	if s == last {
		w.hopsToLeaf = append([]uint8(nil), w.hops...)
	}
}

// begin prepares the walk to a target. A target that was routed before keeps its entries.
func (w *walker) begin(lid uint16) {
	w.lid = lid
	w.forget(lid != 0)
	if hops, ok := w.kept[lid]; ok {
		w.out = w.of(lid)
		copy(w.hops, hops)
		return
	}
	copy(w.hops, w.columns.blank)
	if w.out = w.absent; lid != 0 {
		w.out = w.columns.begin(lid)
	}
	copy(w.out, w.columns.blank)
}

func (w *walker) climb(s fabric.SwitchIndex, main bool, credit uint16, cur uint8) {
	if w.opt.NoBullMinHop && w.opt.NoBullSecondary {
		w.earlyUp(s, fabric.None, main, credit, cur)
	} else {
		w.goUp(s, fabric.None, main, credit, cur)
	}
}

// stepsPerReport is the number of targets between two progress reports.
const stepsPerReport = 64

// step counts a target.
func (w *walker) step() {
	if w.steps++; w.opt.Progress != nil && w.steps%stepsPerReport == 0 && w.steps < w.allSteps {
		w.opt.Progress(w.steps, w.allSteps)
	}
	w.cancelled()
}

// cancelled reports whether the context has ended.
func (w *walker) cancelled() bool {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	return w.err != nil
}

// connectRoots adds paths between switches above the leaf rank that have no path to each other. The paths lead over the
// last leaf, where they turn from down to up.
func (w *walker) connectRoots() {
	n := len(w.rank)
	last := w.leaves[len(w.leaves)-1]
	toLeaf := w.of(w.f.SwitchLID(last))
	for dst := range fabric.SwitchIndex(n) {
		if !w.ranked(dst) || w.leafHops[dst] == fabric.NoPath {
			continue
		}
		column := w.of(w.f.SwitchLID(dst))
		w.record.begin(dst)
		for s := range fabric.SwitchIndex(n) {
			slot := w.at[s].slot
			if !w.ranked(s) || w.rank[s] >= uint32(w.leafRank) || column[slot] != fabric.NoPath ||
				toLeaf[slot] == fabric.NoPath {
				continue
			}
			column[slot] = toLeaf[slot]
			w.record.put(s, toLeaf[slot], w.hopsToLeaf[slot]+w.leafHops[dst])
		}
	}
}
