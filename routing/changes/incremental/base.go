// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"bytes"
	"context"
	"math"
	"slices"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
)

// Base holds tables that serve as the start for routing many failures, one after another. It is read-only and as large
// as its forest.
type Base struct {
	*trees.Forest
	// used counts, for each switch, the entries by port.
	used [][]uint16
	// least is set only by [Base.Measured].
	least *least
	spare sync.Pool
}

// NewBase prepares tables as the start for routing failures. O(switches x LIDs) on all processors.
func NewBase(ctx context.Context, t *fabric.Tables) (*Base, error) {
	forest, err := trees.NewForest(ctx, t)
	if err != nil {
		return nil, err
	}
	b := &Base{Forest: forest, used: newCounts(t.Fabric)}
	last := min(t.Fabric.MaxLID, t.LFT.MaxLID)
	return b, routing.ForEach(ctx, len(b.used), nil, func(_, s int) {
		countEntries(b.used[s], t.LFT.Row(fabric.SwitchIndex(s))[1:int(last)+1])
	})
}

// Route is like the function [Route], starting from the tables of the base. If f is a part of their fabric
// ([fabric.Removed]), the cost depends only on the changes of the failure: O(switches + removed links x LIDs + touched
// entries x ports).
func (b *Base) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*Result, error) {
	removed, ok := fabric.Removed(b.Tables.Fabric, f)
	if !ok || !b.Takes(f) {
		return Route(ctx, f, b.Tables, opt)
	}
	w, _ := b.spare.Get().(*Worker)
	if w == nil {
		w = b.NewWorker()
	}
	defer b.spare.Put(w)
	w.begin(f, removed)
	if err := w.run(ctx, w.todo(), w.lid, opt.Progress); err != nil {
		return nil, err
	}
	w.unreached = slices.Clone(w.unreached)
	return w.result(b.Tables.LFT.Patched(slices.Clone(w.edits))), nil
}

// Takes reports whether the tables of the base are complete for f, a part of the fabric of the base. They are complete
// if every switch of f was read and has entries up to the highest LID of f.
func (b *Base) Takes(f *fabric.Fabric) bool {
	if f.MaxLID > b.Tables.LFT.MaxLID {
		return false
	}
	for s, n := range f.Switches {
		if f.Nodes[n].InSubnet && (!b.Tables.Known[s] || b.Tables.Top[s] < f.MaxLID) {
			return false
		}
	}
	return true
}

// Worker routes failures one after another. It is scratch memory for one goroutine.
type Worker struct {
	*repair
	base    *Base
	part    *routing.Subgraph
	removed []fabric.Link
	losses  losses
	// firstOf is indexed by switch: 1 + the index of the first word of the switch in the cables of the current loss, or
	// 0 if the loss has no words for this switch.
	firstOf []int32
	// nearAll is the result of gather. near is the part of nearAll that keepAll has not used yet.
	nearAll, near []uint64
	// only is scratch memory of the method preferred. Its 256 bits suffice for the ports of any switch.
	only [4]uint64

	// The fields below are the results of the method todo and its scratch memory.
	dead, deadBefore []uint64
	switches         []fabric.SwitchIndex
	tasks            []task
}

// NewWorker returns new scratch memory.
func (b *Base) NewWorker() *Worker {
	w := &Worker{base: b, part: b.Graph.Without(b.Tables.Fabric, nil)}
	w.repair = &repair{
		wasFabric: b.Tables.Fabric, unread: unreadOf(b.Tables), links: func(s fabric.SwitchIndex) []routing.SwitchLink {
			return w.part.Of(s)
		}, column: b.Column,
		depth:    func(lid uint16, _ fabric.SwitchIndex) []uint8 { return b.Depth(lid) },
		attached: func(lid uint16) (fabric.SwitchIndex, uint8) { return b.At[lid], b.Local[lid] },
		count:    w.countOf,
		oldPeer: func(s fabric.SwitchIndex, port uint8) fabric.SwitchIndex {
			return max(fabric.None, b.Wires.Next(s, port))
		},
	}
	w.repair.init(b.Tables.Fabric)
	w.losses.at, w.firstOf = make([]int32, len(b.used)), make([]int32, len(b.used))
	return w
}

// gone is the count of a port without a link. It exceeds the number of entries of any switch, so a choice of the port
// with the fewest entries never takes such a port.
const gone = math.MaxUint16

// countOf counts the entries of a switch by port and writes the counts to the slice used. It counts only LIDs that
// still exist. The count of ports without a link is the constant gone.
func (w *Worker) countOf(s fabric.SwitchIndex, used []uint16) {
	copy(used, w.base.used[s])
	t := w.base.Tables
	for lid := int(w.f.MaxLID) + 1; lid <= int(min(t.Fabric.MaxLID, t.LFT.MaxLID)); lid++ {
		if port := t.LFT.Row(s)[lid]; int(port) < len(used) {
			used[port]--
		}
	}
	if !w.part.HasLost(s) {
		return
	}
	for _, l := range w.removed {
		for _, p := range [2]fabric.PortIndex{l.A, l.B} {
			if port := &t.Fabric.Ports[p]; t.Fabric.Nodes[port.Node].Switch == s {
				used[port.Num] = gone
			}
		}
	}
}

// Edits routes a failure and returns the entries that change. It calls the function visit for every affected LID in
// ascending order, with the changed entries for this LID and the switches without a path to it. All results are valid
// until the next call.
//
// f determines which LIDs exist. It is the part of the fabric without the removed links. If the removed links
// disconnect nothing, f may also be the whole fabric. Every LID must have been reachable before the failure.
func (w *Worker) Edits(f *fabric.Fabric, removed []fabric.Link, visit func(lid uint16, edits []fabric.Edit,
	unreached []Unreached)) []fabric.Edit {
	w.begin(f, removed)
	for _, d := range w.todo() {
		edited, unreached := len(w.edits), len(w.unreached)
		w.lid(d)
		visit(d.lid, w.edits[edited:], w.unreached[unreached:])
	}
	return w.edits
}

// lid repairs the entries for one LID.
func (w *Worker) lid(d task) {
	if w.base.least != nil && w.base.least.lids[d.lid] {
		w.keepHops(d)
	} else {
		w.repair.lid(d)
	}
}

// begin discards the previous failure.
func (w *Worker) begin(f *fabric.Fabric, removed []fabric.Link) {
	w.removed = removed
	w.part.Change(w.base.Tables.Fabric, removed)
	w.losses.forget()
	for _, s := range w.counted {
		w.isIn[s] = false
	}
	w.counted = w.counted[:0]
	w.f, w.edits, w.unreached, w.looked = f, w.edits[:0], w.unreached[:0], 0
}

// todo finds the entries that use removed links. The result is valid until the next call.
func (w *Worker) todo() []task {
	w.dead = w.dead[:0]
	w.eachEnd(w.findDead)
	w.group(slices.Compact(w.dead))
	if w.base.least != nil {
		w.gather()
	}
	return w.tasks
}

// eachEnd calls do for each end of a removed link that is a port of a switch in the subnet.
func (w *Worker) eachEnd(do func(s fabric.SwitchIndex, port uint8)) {
	f := w.base.Tables.Fabric
	for _, l := range w.removed {
		for _, p := range [2]fabric.PortIndex{l.A, l.B} {
			if sw := f.Nodes[f.Ports[p].Node].Switch; sw != fabric.None && w.f.SwitchNode(sw).InSubnet {
				do(sw, f.Ports[p].Num)
			}
		}
	}
}

// findDead adds to w.dead the entries of a switch that use a port. w.dead is ordered by LID and then by switch.
func (w *Worker) findDead(sw fabric.SwitchIndex, port uint8) {
	w.deadBefore = append(w.deadBefore[:0], w.dead...)
	w.dead = w.dead[:0]
	before := w.deadBefore
	row := w.base.Tables.LFT.Row(sw)[:int(w.f.MaxLID)+1]
	for from := 0; ; {
		i := bytes.IndexByte(row[from:], port)
		if i < 0 {
			break
		}
		from += i + 1
		w.looked++
		lid := uint16(from - 1)
		if !w.owned(lid) {
			continue
		}
		x := uint64(lid)<<32 | uint64(sw)
		for len(before) > 0 && before[0] < x {
			w.dead = append(w.dead, before[0])
			before = before[1:]
		}
		w.dead = append(w.dead, x)
	}
	w.dead = append(w.dead, before...)
}

// group groups broken entries into tasks, one for each LID.
func (w *Worker) group(found []uint64) {
	w.switches, w.tasks = slices.Grow(w.switches[:0], len(found))[:len(found)], w.tasks[:0]
	for i, x := range found {
		w.switches[i] = fabric.SwitchIndex(uint32(x))
		if lid := uint16(x >> 32); len(w.tasks) == 0 || w.tasks[len(w.tasks)-1].lid != lid {
			w.tasks = append(w.tasks, task{lid: lid, broken: w.switches[i:i]})
		}
		last := &w.tasks[len(w.tasks)-1]
		last.broken = w.switches[i-len(last.broken) : i+1]
	}
}
