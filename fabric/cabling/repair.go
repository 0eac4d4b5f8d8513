// SPDX-License-Identifier: Apache-2.0

package cabling

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// Repair is the cheapest way to make the cables as planned. Moving one end of a cable costs 1. Adding or removing a
// cable costs 2. Cables of one kind are interchangeable.
type Repair struct {
	Moves, Added, Removed int
	Cost                  int
	// Exact is false if cables of several kinds are involved and Cost is only an upper bound.
	Exact bool
	Steps []Step
}

// Action is what a [Step] does.
type Action string

// The actions.
const (
	Remove Action = "remove"      // remove the cable between Keep and From
	Lift   Action = "unplug both" // as Remove, but the cable is used again in a later Reuse
	Move   Action = "move"        // move the end at From to the port To; the other end stays at Keep
	Reuse  Action = "plug in"     // connect Keep with To, with a cable of an earlier Lift
	Add    Action = "add"         // connect Keep with To, with a new cable
)

var actions = []Action{Remove, Lift, Move, Reuse, Add}

// Step is a step of a repair. The steps are in an order in which To is free.
type Step struct {
	Action         Action
	Keep, From, To Place
	// Hanging is set for the first move in a ring of cables: its end is unplugged first and plugged in after the other
	// moves of the ring.
	Hanging bool
}

// Place is an end of a cable.
type Place struct {
	Port fabric.PortIndex // None if the subnet does not have the port
	End  *End             // the end of the plan at this port, nil if there is none
}

// IsNone reports whether the step has no such place.
func (p Place) IsNone() bool { return p.Port == fabric.None && p.End == nil }

func (c *comparer) place(p point) Place { return Place{c.port(p), c.end(p)} }

var noPlace = Place{Port: fabric.None}

// rackOf returns the location by which steps are sorted.
func (s *Step) rackOf() (rack, unit string) {
	for _, p := range []Place{s.From, s.To, s.Keep} {
		if p.End != nil && p.End.Rack != "" {
			return p.End.Rack, p.End.Unit
		}
	}
	return "", ""
}

// repair makes the steps of the repair and computes its cost.
func (c *comparer) repair(all []chain) {
	var moves [][]Step // by chain
	var extra, missing []*edge
	for i := range all {
		ch := &all[i]
		if e := ch.left; e != nil && e.planned >= 0 {
			missing = append(missing, e)
		} else if e != nil {
			extra = append(extra, e)
		}
		var steps []Step
		for _, p := range ch.inOrder(c) {
			if !c.becomes(p.real, p.planned) {
				extra, missing = append(extra, p.real), append(missing, p.planned)
				continue
			}
			steps = append(steps, Step{Action: Move, Keep: c.place(p.keep), From: c.place(p.from()),
				To: c.place(p.to())})
		}
		if len(steps) > 0 {
			steps[0].Hanging = ch.isRing() && len(steps) == len(ch.pairs)
			moves = append(moves, steps)
		}
		c.Repair.Moves += len(steps)
	}
	reused := c.reuse(extra, missing)
	c.Repair.Moves += len(reused) // two ends of each cable that is used again
	for _, e := range extra {
		action := Remove
		if reused[e] {
			action = Lift
		}
		moves = append(moves, []Step{{Action: action, Keep: c.place(e.a), From: c.place(e.b), To: noPlace}})
	}
	for _, e := range missing {
		action := Add
		if reused[e] {
			action = Reuse
		}
		moves = append(moves, []Step{{Action: action, Keep: c.place(e.a), From: noPlace, To: c.place(e.b)}})
	}
	r := &c.Repair
	r.Removed, r.Added = len(extra)-len(reused)/2, len(missing)-len(reused)/2
	r.Cost = r.Moves + 2*(r.Added+r.Removed)
	r.Exact = r.Cost == c.bound(all) && c.lengths(all) < 2
	slices.SortStableFunc(moves, func(a, b []Step) int {
		rackA, unitA := a[0].rackOf()
		rackB, unitB := b[0].rackOf()
		return cmp.Or(cmp.Compare(slices.Index(actions, a[0].Action), slices.Index(actions, b[0].Action)),
			cmp.Compare(rackA, rackB), cmp.Compare(unitA, unitB), cmp.Compare(a[0].Keep.Port, b[0].Keep.Port))
	})
	r.Steps = slices.Concat(moves...)
}

// inOrder returns the pairs of a chain in an order in which the port to which an end moves is free. In a ring no port
// is free before one end is unplugged. A ring with a cable that is replaced begins with this cable.
func (ch *chain) inOrder(c *comparer) []pair {
	freedBy := map[point]int{}
	for i := range ch.pairs {
		freedBy[ch.pairs[i].from()] = i
	}
	var ordered []pair
	done := make([]bool, len(ch.pairs))
	follow := func(i int) { // i, after the pairs whose places it needs
		var wait []int
		for ok := true; ok && !done[i]; i, ok = freedBy[ch.pairs[i].to()] {
			done[i] = true
			wait = append(wait, i)
		}
		for _, i := range slices.Backward(wait) {
			ordered = append(ordered, ch.pairs[i])
		}
	}
	if !ch.isRing() {
		for i := range ch.pairs {
			follow(i)
		}
		return ordered
	}
	first := max(slices.IndexFunc(ch.pairs, func(p pair) bool { return !c.becomes(p.real, p.planned) }), 0)
	if next, ok := freedBy[ch.pairs[first].to()]; ok {
		follow(next)
	}
	return ordered
}

// reuse finds removed cables that can be used for missing ones by moving both ends. It returns the cables of both
// kinds.
func (c *comparer) reuse(extra, missing []*edge) map[*edge]bool {
	free := map[Kind][]*edge{}
	var kinds []Kind
	for _, e := range slices.SortedStableFunc(slices.Values(missing), func(a, b *edge) int {
		return cmp.Compare(c.absentEnds(a), c.absentEnds(b))
	}) {
		k := c.Plan.Cables[e.planned].Kind
		if free[k] == nil {
			kinds = append(kinds, k)
		}
		free[k] = append(free[k], e)
	}
	reused := map[*edge]bool{}
	for _, e := range extra {
		for _, k := range kinds {
			if list := free[k]; len(list) > 0 && c.becomes(e, list[0]) {
				reused[e], reused[list[0]] = true, true
				free[k] = list[1:]
				break
			}
		}
	}
	return reused
}

func (c *comparer) absentEnds(e *edge) int {
	n := 0
	for _, p := range []point{e.a, e.b} {
		if c.isAbsent(p) {
			n++
		}
	}
	return n
}

// lengths returns the number of different planned lengths among the differences.
func (c *comparer) lengths(all []chain) int {
	lengths := map[string]bool{}
	for _, ch := range all {
		for _, e := range ch.edges {
			if e.planned >= 0 && c.Plan.Cables[e.planned].Kind.Length != "" {
				lengths[c.Plan.Cables[e.planned].Kind.Length] = true
			}
		}
	}
	return len(lengths)
}

// realKind is the kind of a real cable.
type realKind struct {
	speed fabric.Speed
	width fabric.Width
}

// bound returns a lower bound of the cost. If cables are interchangeable, a repair with r real and p planned cables, of
// which s pairs share a point, costs at least 2*max(r, p)-s: a pair that shares a point costs 1 instead of 2. The kinds
// of cables divide the differences into groups whose cables cannot replace each other, so the bounds of the groups add
// up.
func (c *comparer) bound(all []chain) int {
	group := map[any]any{}
	var root func(x any) any
	root = func(x any) any {
		if up, ok := group[x]; ok && up != x {
			group[x] = root(up)
			return group[x]
		}
		return x
	}
	reals, kinds := map[realKind]*edge{}, map[Kind]*edge{}
	kindOf := func(e *edge) any {
		if e.planned >= 0 {
			k := c.Plan.Cables[e.planned].Kind
			kinds[k] = e
			return k
		}
		p := &c.Fabric.Ports[e.a]
		k := realKind{p.Speed, p.Width}
		reals[k] = e
		return k
	}
	for i := range all {
		for _, e := range all[i].edges {
			group[root(kindOf(e))] = root(&all[i])
		}
	}
	for rk, real := range reals {
		for pk, planned := range kinds {
			if c.becomes(real, planned) {
				group[root(rk)] = root(pk)
			}
		}
	}
	type counts struct{ real, planned, sharing int }
	of := map[any]counts{}
	for i := range all {
		ch := &all[i]
		n := of[root(&all[i])]
		for _, e := range ch.edges {
			if e.planned >= 0 {
				n.planned++
			} else {
				n.real++
			}
		}
		n.sharing += len(ch.pairs)
		of[root(&all[i])] = n
	}
	sum := 0
	for _, n := range of {
		sum += 2*max(n.real, n.planned) - n.sharing
	}
	return sum
}
