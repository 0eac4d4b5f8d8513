// SPDX-License-Identifier: Apache-2.0

// Package verify checks the steps of a transition by its definition. It knows nothing of the planner: it follows all
// packets through the steps.
package verify

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/transition"
)

// Options controls [Check].
type Options struct {
	// Drained lists LIDs to which packets may be lost.
	Drained []uint16
	// GroupSL returns the SL of a multicast group, or fabric.NoSL if it is unknown. If GroupSL is nil, all groups have
	// SL 0.
	GroupSL func(mlid uint16) uint8
	// Progress, if set, is called with the number of checked windows and of all windows.
	Progress func(done, total int)
}

// verifier holds what the checks of all windows share.
type verifier struct {
	ctx           context.Context
	opt           Options
	f             *fabric.Fabric // of the nodes and ports
	before, after *fabric.Tables
	maps          [2]*fabric.SL2VL // before and after, nil without VLs
	vls           int
	mapped        int                  // the step in which the SL2VL tables change, the number of steps if they do not
	cut, grow     int                  // likewise: branches of multicast groups are removed and added
	peer          []fabric.PortIndex   // by port
	to            []fabric.SwitchIndex // by port: the switch to which it leads, or None
	ends          []end
	hosts         []source
	changes       map[uint16][]written // by LID, in the order of the steps
	drained       map[uint16]bool
}

// written is the write of an entry.
type written struct {
	step    int
	sw      fabric.SwitchIndex
	was, is uint8
}

// end is a LID of an end port.
type end struct {
	lid  uint16
	port fabric.PortIndex
	host bool
}

// source is the port of a host, with the switch port by which its packets enter.
type source struct {
	port, at fabric.PortIndex
	lid      uint16
}

// Check returns an error for the first fault of the steps. The faults are: a ring of dependencies of unicast and
// multicast packets that neither the old nor the new tables have alone, a packet that is lost or comes to a switch
// twice between ports that both tables connect, and entries that are not the new ones at the end. O(windows x LIDs x
// channels x SLs) on all processors, where a window is the steps from one settling to the next.
func Check(ctx context.Context, before, after *fabric.Tables, steps []transition.Step, opt Options) error {
	v := newVerifier(ctx, before, after, opt)
	v.mapped, v.cut, v.grow = len(steps), len(steps), len(steps)
	if err := v.writes(steps); err != nil {
		return err
	}
	alone := [2]*graph{}
	for i := range alone {
		g, err := v.dependencies(window{alone: i + 1})
		if err != nil {
			return err
		}
		alone[i] = g
	}
	first := 0
	for i := range steps {
		if i < len(steps)-1 && !steps[i].Settle {
			continue // the next step has all of its dependencies
		}
		w := window{first: first, last: i}
		g, err := v.dependencies(w)
		if err != nil {
			return err
		}
		if n := v.mixedRing(g, alone[0], alone[1]); n > 0 {
			return fmt.Errorf("steps %d to %d have a ring among %d channels", first, i, n)
		}
		if err := v.delivery(w); err != nil {
			return err
		}
		if first = i + 1; opt.Progress != nil {
			opt.Progress(first, len(steps))
		}
	}
	return nil
}

func newVerifier(ctx context.Context, before, after *fabric.Tables, opt Options) *verifier {
	f := after.Fabric
	v := &verifier{
		ctx: ctx, opt: opt, f: f, before: before, after: after, vls: 1, maps: [2]*fabric.SL2VL{before.SL2VL,
			after.SL2VL},
		peer: make([]fabric.PortIndex, len(f.Ports)), to: make([]fabric.SwitchIndex, len(f.Ports)),
		changes: map[uint16][]written{}, drained: map[uint16]bool{},
	}
	for i := range v.maps {
		if v.maps[i] == nil {
			v.maps[i] = v.maps[1-i]
		}
	}
	if v.maps[0] != nil {
		v.vls = 16
	}
	for _, lid := range opt.Drained {
		v.drained[lid] = true
	}
	for p := range f.Ports {
		v.to[p] = fabric.None
		if v.peer[p] = before.Fabric.Ports[p].Peer; v.peer[p] == fabric.None {
			v.peer[p] = f.Ports[p].Peer
		}
		if q := v.peer[p]; q != fabric.None && f.Nodes[f.Ports[q].Node].IsSwitch() {
			v.to[p] = f.Nodes[f.Ports[q].Node].Switch
		}
	}
	v.addEnds(f)
	v.addEnds(before.Fabric)
	return v
}

// addEnds adds the end ports that a fabric reaches.
func (v *verifier) addEnds(f *fabric.Fabric) {
	known := map[fabric.PortIndex]bool{}
	for _, e := range v.ends {
		known[e.port] = true
	}
	for _, p := range f.EndPorts {
		port := &f.Ports[p]
		if !f.Reachable(p) || port.LID == 0 || known[p] {
			continue
		}
		host := !f.Nodes[port.Node].IsSwitch()
		for lid := int(port.LID); lid < int(port.LID)+1<<port.LMC; lid++ {
			v.ends = append(v.ends, end{uint16(lid), p, host})
		}
		if host && v.to[p] != fabric.None {
			v.hosts = append(v.hosts, source{p, v.peer[p], port.LID})
		}
	}
}

// writes collects the writes of the steps. It returns an error if they do not fit the tables.
func (v *verifier) writes(steps []transition.Step) error {
	type place struct {
		sw  fabric.SwitchIndex
		lid uint16
	}
	now := map[place]uint8{}
	for i, step := range steps {
		for _, e := range step.Entries {
			k := place{e.Switch, e.LID}
			is, known := now[k]
			if !known {
				is = v.before.Port(e.Switch, e.LID)
			}
			if is != e.Old {
				return fmt.Errorf("step %d: LID %d at switch %d is %d, not %d", i, e.LID, e.Switch, is, e.Old)
			}
			now[k] = e.New
			v.changes[e.LID] = append(v.changes[e.LID], written{i, e.Switch, e.Old, e.New})
		}
		if step.SL2VL {
			v.mapped = i
		}
		switch step.MFT {
		case transition.AllMFT:
			v.cut, v.grow = i, i
		case transition.CutMFT:
			v.cut = i
		case transition.GrowMFT:
			v.grow = i
		}
	}
	if v.grow == len(steps) {
		if err := v.sameGroups(); err != nil {
			return err
		}
	}
	for s := range v.f.NumSwitches() {
		if !v.after.Known[s] {
			continue
		}
		for lid := range max(v.before.LFT.MaxLID, v.after.LFT.MaxLID) + 1 {
			is, known := now[place{s, lid}]
			if !known {
				is = v.before.Port(s, lid)
			}
			if want := v.after.Port(s, lid); lid > 0 && is != want {
				return fmt.Errorf("at the end LID %d at switch %d is %d, not %d", lid, s, is, want)
			}
		}
	}
	return nil
}

// sameGroups returns an error if the multicast tables differ.
func (v *verifier) sameGroups() error {
	b, a := v.before.MFT, v.after.MFT
	if b == nil || a == nil || a == b {
		return nil
	}
	for i := range max(b.LIDs(), a.LIDs()) {
		mlid := uint16(fabric.FirstMLID + i)
		for s := range v.f.NumSwitches() {
			if !slices.Equal(slices.Collect(b.Each(s, mlid)), slices.Collect(a.Each(s, mlid))) {
				return fmt.Errorf("at the end multicast LID 0x%04x at switch %d lacks its new ports", mlid, s)
			}
		}
	}
	return nil
}

// window is steps between which nothing settles. If alone is 1 or 2, it stands for the old or the new tables instead.
type window struct{ first, last, alone int }

// span is a value that is in force in some steps of a window.
type span struct {
	out         uint8
	first, last int32
}

// column holds the values of the entries of a LID, by switch.
type column [][]span

// load sets the column to the entries of a LID.
func (c column) load(v *verifier, lid uint16, w window) {
	t := v.before
	if w.alone == 2 {
		t = v.after
	}
	for s := range c {
		out := t.Port(fabric.SwitchIndex(s), lid)
		if w.alone == 2 && !t.Known[s] {
			out = v.before.Port(fabric.SwitchIndex(s), lid)
		}
		c[s] = append(c[s][:0], span{out, int32(w.first), int32(w.last)})
	}
	if w.alone > 0 {
		return
	}
	for _, x := range v.changes[lid] {
		now := &c[x.sw][len(c[x.sw])-1]
		switch {
		case x.step < w.first:
			now.out = x.is
		case x.step <= w.last:
			now.last = int32(x.step)
			c[x.sw] = append(c[x.sw], span{x.is, int32(x.step), int32(w.last)})
		}
	}
}

// mappings returns the SL2VL tables that are in force in a window, with the steps. There is one without VLs.
func (v *verifier) mappings(w window) []mapping {
	m := []mapping{{v.maps[0], int32(w.first), int32(w.last)}}
	switch {
	case v.maps[0] == nil || w.alone == 1:
	case w.alone == 2 || w.first > v.mapped:
		m[0].table = v.maps[1]
	case w.last >= v.mapped:
		m[0].last = int32(v.mapped)
		m = append(m, mapping{v.maps[1], int32(v.mapped), int32(w.last)})
	}
	return m
}

type mapping struct {
	table       *fabric.SL2VL
	first, last int32
}

// follower follows packets. It is scratch memory for one goroutine.
type follower struct {
	*verifier
	*graph
	w       window
	mapping []mapping
	column  column
	since   []int32 // by channel: 1 + the earliest step since which a packet may be in it, 0 for never
	seen    []int32
	queue   []int32
	fate    [2][]int8
	visited map[state]int8
	dst     end
	err     error
}

func (v *verifier) follower(w window) *follower {
	return &follower{
		verifier: v, graph: newGraph(v), w: w, mapping: v.mappings(w), column: make(column, len(v.f.Switches)),
		since: make([]int32, len(v.f.Ports)*v.vls),
		fate:  [2][]int8{make([]int8, len(v.f.Switches)), make([]int8, len(v.f.Switches))}, visited: map[state]int8{},
	}
}

// each calls work for each of n items on all processors.
func (v *verifier) each(w window, n int, work func(x *follower, i int)) ([]*follower, error) {
	workers := make([]*follower, routing.Workers())
	err := routing.ForEach(v.ctx, n, nil, func(n, i int) {
		if workers[n] == nil {
			workers[n] = v.follower(w)
		}
		if workers[n].err == nil {
			work(workers[n], i)
		}
	})
	workers = slices.DeleteFunc(workers, func(x *follower) bool { return x == nil })
	for _, x := range workers {
		if err == nil {
			err = x.err
		}
	}
	return workers, err
}

// dependencies returns the dependencies of all packets in a window.
func (v *verifier) dependencies(w window) (*graph, error) {
	unicast, err := v.each(w, len(v.ends), func(x *follower, i int) {
		if e := v.ends[i]; e.host {
			x.column.load(v, e.lid, w)
			for _, sl := range v.sls() {
				x.unicast(e, sl)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	first, second := v.before.MFT, v.after.MFT
	if second == nil || w.alone == 1 {
		second = first
	}
	if first == nil || w.alone == 2 {
		first = second
	}
	var multicast []*follower
	if first != nil {
		multicast, err = v.each(w, max(first.LIDs(), second.LIDs()), func(x *follower, i int) {
			x.multicast(first, second, uint16(fabric.FirstMLID+i))
		})
	}
	sum := newGraph(v)
	for _, x := range append(unicast, multicast...) {
		sum.join(x.graph)
	}
	return sum, err
}

// sls returns the SLs that make a difference.
func (v *verifier) sls() []uint8 {
	if v.maps[0] == nil {
		return []uint8{0}
	}
	return []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
}

// unicast follows the packets of all hosts with an SL to an end.
func (x *follower) unicast(e end, sl uint8) {
	for _, src := range x.hosts {
		if src.port == e.port ||
			x.vls > 1 && !x.before.MayHaveSL(src.lid, e.lid, sl) && !x.after.MayHaveSL(src.lid, e.lid, sl) {
			continue
		}
		x.forward(src.at, sl, int32(x.w.first), x.come)
	}
	x.spread(func(in fabric.PortIndex, since int32, reach func(c, since int32)) { x.forward(in, sl, since, reach) })
}

// spread follows packets from channel to channel, and adds the dependencies.
func (x *follower) spread(forward func(in fabric.PortIndex, since int32, reach func(c, since int32))) {
	for len(x.queue) > 0 {
		c := x.queue[len(x.queue)-1]
		x.queue = x.queue[:len(x.queue)-1]
		forward(x.peer[int(c)/x.vls], x.since[c]-1, x.come)
	}
	for _, c := range x.seen {
		forward(x.peer[int(c)/x.vls], x.since[c]-1, func(to, _ int32) { x.add(c, to) })
	}
	for _, c := range x.seen {
		x.since[c] = 0
	}
	x.seen = x.seen[:0]
}

func (x *follower) come(c, since int32) {
	switch was := x.since[c]; {
	case was == 0:
		x.seen = append(x.seen, c)
	case was <= since+1:
		return
	}
	x.since[c] = since + 1
	x.queue = append(x.queue, c)
}

// forward calls the function reach with the channels by which packets leave the switch of the port by which they
// entered. They are there since a step.
func (x *follower) forward(in fabric.PortIndex, sl uint8, since int32, reach func(c, since int32)) {
	node := x.f.Ports[in].Node
	for _, v := range x.column[x.f.Nodes[node].Switch] {
		if from := max(since, v.first); from <= v.last {
			x.leave(in, v.out, sl, span{first: from, last: v.last}, reach)
		}
	}
}

func (x *follower) leave(in fabric.PortIndex, out, sl uint8, when span, reach func(c, since int32)) {
	node := &x.f.Nodes[x.f.Ports[in].Node]
	port := node.FirstPort + fabric.PortIndex(out)
	if out == 0 || int(out) > int(node.NumPorts) || x.to[port] == fabric.None {
		return
	}
	for _, m := range x.mapping {
		from := max(when.first, m.first)
		if from > min(when.last, m.last) {
			continue
		}
		vl := uint8(0)
		if m.table != nil {
			vl = m.table.VL(x.f.Ports[in].Node, uint8(in-node.FirstPort), out, sl)
		}
		if vl != fabric.DropVL {
			reach(int32(port)*int32(x.vls)+int32(vl), from)
		}
	}
}
