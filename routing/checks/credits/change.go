// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// CheckChange is like [Check] for the time while tables change. Packets that took the old entry of one switch may meet
// the new entry of the next switch, and vice versa. The argument turns holds, in place of each entry, the step in which
// the entry changes. A packet that took a new entry does not meet an old entry of an earlier step. A turn of 0, or nil
// turns, means that an entry may change at any time.
//
// Both tables must be for fabrics with the same nodes and ports. If SL2VL tables change too, each port may have its old
// or its new SL2VL table at any time. If only one of the two states has SL2VL tables, they do not change. With VLs,
// CheckChange counts only dependencies that the old or the new tables cause alone, with the VLs of either state. A
// dependency that neither state causes alone has no LID.
//
// CheckChange assumes SL 0 and VL 0 where SLs and VLs were not read.
//
// It takes the time of one [Check], of a second one if there are VLs, and O(LIDs x switches).
func CheckChange(ctx context.Context, before, after *fabric.Tables, turns *fabric.LFT, opt Options) (*Result, error) {
	b, a := *before, *after
	if b.SL2VL == nil {
		b.SL2VL = a.SL2VL
	}
	if a.SL2VL == nil {
		a.SL2VL = b.SL2VL
	}
	x := &change{before: newChecker(&b, opt), after: newChecker(&a, opt), turns: turns}
	if a.SL2VL != b.SL2VL {
		x.before.also, x.after.also = a.SL2VL, b.SL2VL
	}
	r, err := x.check(ctx)
	if err != nil {
		return nil, fmt.Errorf("find credit loops between %s and %s: %w", before.Origin, after.Origin, err)
	}
	return r, nil
}

// change is a change from one set of tables to another.
type change struct {
	before, after *checker
	turns         *fabric.LFT
}

func (x *change) check(ctx context.Context) (*Result, error) {
	g, err := x.before.dependencies(ctx)
	if err != nil {
		return nil, err
	}
	if g.vls == 1 && x.before.ends.Tables.MFT == x.after.ends.Tables.MFT {
		err = x.cross(ctx, g)
	} else {
		err = x.join(ctx, g)
	}
	if err != nil {
		return nil, err
	}
	r := &Result{}
	n := g.net(r)
	ring, err := n.cycle(ctx, r)
	if err != nil || ring == nil {
		return r, err
	}
	r.Ring, r.Verdict = n.dependencies(ring), Loop
	return r, x.explain(ctx, r.Ring)
}

// explain finds packets for each dependency: packets of the old tables if possible, otherwise packets of the new
// tables.
func (x *change) explain(ctx context.Context, ring []Dependency) error {
	if err := x.before.explain(ctx, ring); err != nil {
		return err
	}
	for i := range ring {
		if ring[i].LID == 0 {
			if err := x.after.explain(ctx, ring[i:i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// join adds the dependencies of the new tables. Without VLs it also adds the dependencies of packets that meet entries
// of both tables.
func (x *change) join(ctx context.Context, g *graph) error {
	after, err := x.after.dependencies(ctx)
	if err != nil {
		return err
	}
	g.merge(after)
	if g.vls > 1 {
		return nil
	}
	return x.cross(ctx, g)
}

// cross adds the dependencies of packets that meet entries of both tables, or only entries of the new tables.
func (x *change) cross(ctx context.Context, g *graph) error {
	lids := x.changed()
	wires := [2]walk.Wires{walk.NewWires(x.before.ends.Tables), walk.NewWires(x.after.ends.Tables)}
	workers := make([]*crosser, routing.Workers())
	err := routing.ForEach(ctx, len(lids), nil, func(n, i int) {
		if workers[n] == nil {
			workers[n] = newCrosser(x, wires)
		}
		workers[n].lid(lids[i])
	})
	for _, w := range workers {
		if w != nil && err == nil {
			g.merge(w.graph)
		}
	}
	return err
}

// flow is the traffic from all ends to a LID, in one of the two states.
type flow struct {
	*trees.Ends
	trees.LID
}

// changed returns the flows to LIDs with changed entries, and flows that only the new state has.
func (x *change) changed() []flow {
	old, new := x.before.ends.Tables, x.after.ends.Tables
	const differs, known = 1, 2
	lids := make([]uint8, 1<<16)
	for s := range x.before.f.NumSwitches() {
		for lid := range max(old.Top[s], new.Top[s]) + 1 {
			if old.Port(s, lid) != new.Port(s, lid) {
				lids[lid] |= differs
			}
		}
	}
	var flows []flow
	for _, l := range x.before.ends.LIDs {
		if lids[l.LID]&differs != 0 {
			flows = append(flows, flow{x.before.ends, l})
		}
		if x.before.ends.Ports[l.End] == x.after.f.PortByLID(l.LID) {
			lids[l.LID] |= known
		}
	}
	for _, l := range x.after.ends.LIDs {
		if lids[l.LID]&known == 0 {
			flows = append(flows, flow{x.after.ends, l})
		}
	}
	return flows
}

// crosser follows packets by the entries of both tables. It is scratch memory for one goroutine.
type crosser struct {
	*change
	*graph
	wires [2]walk.Wires
	seen  []bool
	all   []fabric.SwitchIndex
}

func newCrosser(x *change, wires [2]walk.Wires) *crosser {
	return &crosser{
		change: x, graph: newGraph(x.before.f, 1), wires: wires, seen: make([]bool, len(x.before.f.Switches)),
	}
}

// lid follows the packets of all sources to one LID.
func (w *crosser) lid(l flow) {
	lid := l.LID.LID
	for g, group := range l.Groups {
		if group.At >= 0 && l.Sources(g, l.End) > 0 {
			w.meet(group.At)
		}
	}
	for i := 0; i < len(w.all); i++ {
		sw := w.all[i]
		for h := range w.hops(sw, lid) {
			from := w.number(w.f.SwitchNode(sw).FirstPort+fabric.PortIndex(h.out), 0)
			w.used[from] = true
			for onward := range w.hops(h.next, lid) {
				if h.new && onward.old && onward.turn < h.turn {
					continue
				}
				w.depend(from, h.next, onward.out, 0)
			}
			w.meet(h.next)
		}
	}
	for _, sw := range w.all {
		w.seen[sw] = false
	}
	w.all = w.all[:0]
}

func (w *crosser) meet(sw fabric.SwitchIndex) {
	if !w.seen[sw] {
		w.seen[sw] = true
		w.all = append(w.all, sw)
	}
}

// hop is a step from a switch to the next switch. If the step of the plan in which the entry changes is known, old
// marks a hop of the old tables only, new a hop of the new tables only.
type hop struct {
	next     fabric.SwitchIndex
	turn     uint8
	out      uint8
	old, new bool
}

// hops iterates over the hops from a switch to other switches, by its old and its new entry.
func (w *crosser) hops(sw fabric.SwitchIndex, lid uint16) func(yield func(hop) bool) {
	return func(yield func(hop) bool) {
		old, new := w.before.ends.Tables.Port(sw, lid), w.after.ends.Tables.Port(sw, lid)
		h := hop{next: w.wires[0].Next(sw, old), out: old}
		if w.turns != nil && old != new {
			if h.turn = w.turns.Port(sw, lid); h.turn == fabric.NoPath {
				h.turn = 0
			}
		}
		h.old = h.turn > 0
		if old != 0 && h.next >= 0 && !yield(h) || old == new {
			return
		}
		h.next, h.out, h.old, h.new = w.wires[1].Next(sw, new), new, false, h.old
		if new != 0 && h.next >= 0 {
			yield(h)
		}
	}
}
