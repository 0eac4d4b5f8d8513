// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// graph holds the possible paths to one LID of packets of a class of SLs. It is scratch memory that is reused for each
// LID.
type graph struct {
	net *Net
	of  entries
	sl  uint8
	dst walk.Target
	// home is the switch of the LID. alone is set if packets can reach end ports only from this switch.
	home  fabric.SwitchIndex
	alone bool

	// out lists, for each visited place, the exits by which packets leave. own is memory for static ports.
	out [][]Exit
	why []fabric.AdaptiveState
	own [][1]Exit
	// visits is the state of each place since the last call of begin. order lists the visited places. Each place comes
	// after its successors, except where packets loop.
	visits []visit
	order  []Place
	// outcomes are by place.
	outcomes []Outcome
	stack    []frame
	cyclic   bool
}

type visit uint8

const (
	unvisited visit = iota
	underway
	visited
)

type frame struct {
	at   Place
	next int32
}

func newGraph(net *Net) *graph {
	n := len(net.Tables.Fabric.Switches) * net.tables
	return &graph{
		net: net, of: newEntries(len(net.Tables.Fabric.Switches)), out: make([][]Exit, n),
		why: make([]fabric.AdaptiveState, n), own: make([][1]Exit, n), visits: make([]visit, n),
		outcomes: make([]Outcome, n),
	}
}

// begin resets the graph for packets of an SL to a LID. The argument end is the end port that owns the LID.
func (g *graph) begin(of *entries, end fabric.PortIndex, sl uint8) {
	g.of.copy(of)
	g.sl, g.dst, g.cyclic = sl, walk.ToPort(end), false
	g.home, _ = g.net.Tables.Fabric.AttachedSwitch(end)
	g.alone = true
	clear(g.visits)
	g.order = g.order[:0]
}

// again reports whether the last solution is also valid for another LID, and if so, adapts the graph to this LID. The
// LID must have the same switch, and packets to it must leave all other switches by the same ports.
func (g *graph) again(of *entries, end fabric.PortIndex) bool {
	home, local := g.net.Tables.Fabric.AttachedSwitch(end)
	if len(g.order) == 0 || !g.alone || home != g.home || home == fabric.None || local == 0 ||
		g.visits[home] == unvisited || g.net.tables > 1 || len(g.net.classes) > 1 {
		return false
	}
	if out := g.out[home]; len(out) != 1 || out[0].To != g.dst || out[0].Port == 0 {
		return false
	}
	var own [1]Exit
	out, _ := g.net.leaves(home, 0, of, g.sl, &own)
	if len(out) != 1 || out[0].To != walk.ToPort(end) {
		return false
	}
	var other [1]Exit
	for _, at := range g.order {
		sw := fabric.SwitchIndex(at)
		same := of.adaptive[sw] == g.of.adaptive[sw] &&
			(of.ports[sw] == g.of.ports[sw] || g.why[at] != fabric.StateStatic &&
				g.net.sw(sw).Adapts(of.adaptive[sw], g.sl))
		if !same && sw != home {
			out, _ := g.net.leaves(sw, 0, of, g.sl, &other)
			if was := g.out[at]; len(out) != len(was) || out[0] != was[0] || len(out) > 1 && &out[0] != &was[0] {
				return false
			}
		}
	}
	g.own[home] = own
	g.out[home] = g.own[home][:]
	g.of.copy(of)
	g.dst = walk.ToPort(end)
	return true
}

// from visits all places that packets can reach from a place.
func (g *graph) from(at Place) {
	if g.visits[at] != unvisited {
		return
	}
	g.enter(at)
	for len(g.stack) > 0 {
		top := &g.stack[len(g.stack)-1]
		if int(top.next) == len(g.out[top.at]) {
			g.visits[top.at] = visited
			g.order = append(g.order, top.at)
			g.stack = g.stack[:len(g.stack)-1]
			continue
		}
		e := &g.out[top.at][top.next]
		top.next++
		if e.To < 0 {
			if e.To < walk.Unread && top.at != Place(g.home) {
				g.alone = false
			}
			continue
		}
		switch next := g.net.place(*e, g.sl); g.visits[next] {
		case unvisited:
			g.enter(next)
		case underway:
			g.cyclic = true
		}
	}
}

func (g *graph) enter(at Place) {
	g.look(at)
	g.visits[at] = underway
	g.stack = append(g.stack, frame{at: at})
}

// look determines the ports by which packets leave a place.
func (g *graph) look(at Place) {
	sw, table := g.net.Switch(at)
	g.out[at], g.why[at] = g.net.leaves(sw, table, &g.of, g.sl, &g.own[at])
}

// solve computes the outcome of packets from each visited place. O(exits), times the length of loops.
func (g *graph) solve() {
	if g.cyclic {
		g.unwind()
		return
	}
	for _, at := range g.order {
		g.outcomes[at] = g.outcome(at)
	}
}

func (g *graph) outcome(at Place) Outcome {
	var o Outcome
	for i := range g.out[at] {
		e := &g.out[at][i]
		link := int32(1)
		if e.Port == 0 {
			link = 0
		}
		if e.To >= 0 {
			o.then(&g.outcomes[g.net.place(*e, g.sl)], link)
			continue
		}
		next := end(e.To, g.dst)
		o.then(&next, link)
	}
	o.Share /= float64(len(g.out[at]))
	return o
}

// unwind solves a graph in which packets can loop. It first solves the places from which packets cannot loop, each
// after its successors. Then it repeats the computation for the other places until nothing changes.
func (g *graph) unwind() {
	order, loops := g.peel()
	for _, at := range order {
		g.outcomes[at] = g.outcome(at)
	}
	for _, at := range loops {
		g.outcomes[at] = Outcome{Endings: Loops, Most: -1}
	}
	for changed := true; changed; {
		changed = false
		for _, at := range loops {
			o := g.outcome(at)
			o.Endings |= Loops
			o.Most, o.Paths, o.Share = -1, 0, 0
			if o != g.outcomes[at] {
				g.outcomes[at], changed = o, true
			}
		}
	}
}

// peel divides the visited places. The result order lists the places from which packets cannot loop, each after its
// successors. The result loops lists the places from which packets can loop.
func (g *graph) peel() (order, loops []Place) {
	left := make(map[Place]int, len(g.order))
	into := make(map[Place][]Place, len(g.order))
	for _, at := range g.order {
		for i := range g.out[at] {
			if e := &g.out[at][i]; e.To >= 0 {
				next := g.net.place(*e, g.sl)
				left[at]++
				into[next] = append(into[next], at)
			}
		}
		if left[at] == 0 {
			order = append(order, at)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, before := range into[order[i]] {
			if left[before]--; left[before] == 0 {
				order = append(order, before)
			}
		}
	}
	for _, at := range g.order {
		if left[at] > 0 {
			loops = append(loops, at)
		}
	}
	return order, loops
}
