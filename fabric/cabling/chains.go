// SPDX-License-Identifier: Apache-2.0

package cabling

import (
	"cmp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
)

// chain is a sequence of planned and real cables in turn. Cable i is between points i and i+1. A ring ends at its first
// point.
type chain struct {
	points []point
	edges  []*edge
	pairs  []pair
	left   *edge // the cable that is in no pair, nil if there is none
}

func (ch *chain) isRing() bool { return ch.points[0] == ch.points[len(ch.points)-1] }

// pair is a real cable that becomes a planned cable. One end stays at keep.
type pair struct {
	real, planned *edge
	keep          point
}

func (p *pair) from() point { return p.real.other(p.keep) }
func (p *pair) to() point   { return p.planned.other(p.keep) }

// classify turns the differences into faults and a repair.
func (c *comparer) classify() {
	all := slices.DeleteFunc(c.chains(), func(ch chain) bool { return !c.isChainInScope(ch) })
	for i := range all {
		c.solve(&all[i])
		c.addPairs(&all[i])
	}
	c.addLeft(all)
	slices.SortStableFunc(c.Faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(slices.Index(FaultKinds, a.Kind), slices.Index(FaultKinds, b.Kind)),
			slices.Compare(a.Planned, b.Planned), cmp.Compare(a.Device, b.Device))
	})
	c.repair(all)
}

// chains splits the differing cables into paths and rings. Every point has at most one planned and one real cable.
func (c *comparer) chains() (all []chain) {
	var points []point
	for p := range c.planned {
		points = append(points, p)
	}
	for p := range c.real {
		if c.planned[p] == nil {
			points = append(points, p)
		}
	}
	slices.Sort(points)
	seen := map[*edge]bool{}
	walk := func(p point, next, other map[point]*edge) {
		ch := chain{points: []point{p}}
		for e := next[p]; e != nil && !seen[e]; e = next[p] {
			seen[e] = true
			p = e.other(p)
			ch.points, ch.edges = append(ch.points, p), append(ch.edges, e)
			next, other = other, next
		}
		if len(ch.edges) > 0 {
			all = append(all, ch)
		}
	}
	for _, p := range points { // paths begin at points with one cable
		if c.real[p] == nil {
			walk(p, c.planned, c.real)
		} else if c.planned[p] == nil {
			walk(p, c.real, c.planned)
		}
	}
	for _, p := range points { // the rest are rings
		walk(p, c.planned, c.real)
	}
	return all
}

// pairAt returns cables i and i+1 of a chain as a pair.
func (ch *chain) pairAt(i int) pair {
	n := len(ch.edges)
	a, b := ch.edges[i%n], ch.edges[(i+1)%n]
	if a.planned >= 0 {
		a, b = b, a
	}
	return pair{a, b, ch.points[i%n+1]}
}

// The weights of a pair. They choose one of several repairs with the same number of moves.
const (
	inRack      = 1
	otherRack   = 4
	absentPlace = 64
	otherKind   = 4096
)

// weight returns the weight of a pair. It is low if the moved end stays near.
func (c *comparer) weight(p pair) int {
	w := 0
	if !c.becomes(p.real, p.planned) {
		w += otherKind
	}
	if c.isAbsent(p.to()) {
		w += absentPlace
	}
	if c.device(p.from()) == c.device(p.to()) {
		return w
	}
	from, to := c.end(p.from()), c.end(p.to())
	if from != nil && to != nil && from.Rack != "" && from.Rack == to.Rack {
		return w + inRack
	}
	return w + otherRack
}

// becomes reports whether a real cable can be used for a planned one.
func (c *comparer) becomes(real, planned *edge) bool {
	return c.Plan.Cables[planned.planned].Kind.fits(&c.Fabric.Ports[real.a]) != tooSlow
}

// solve pairs the cables of a chain. A path with an odd number of cables leaves one out. Of the possible solutions, the
// one with the least weight is chosen. O(cables).
func (c *comparer) solve(ch *chain) {
	n := len(ch.edges)
	from := func(first, end int) (pairs []pair, sum int) {
		for i := first; i+1 < end; i += 2 {
			pairs = append(pairs, ch.pairAt(i))
			sum += c.weight(pairs[len(pairs)-1])
		}
		return pairs, sum
	}
	switch {
	case ch.isRing():
		other, sum := from(1, n+1)
		var best int
		if ch.pairs, best = from(0, n); sum < best {
			ch.pairs = other
		}
	case n%2 == 0:
		ch.pairs, _ = from(0, n)
	default:
		_, sum := from(1, n)
		least, best := sum, 0
		for i := 2; i < n; i += 2 { // leave out cable i
			sum += c.weight(ch.pairAt(i-2)) - c.weight(ch.pairAt(i-1))
			if sum < least {
				least, best = sum, i
			}
		}
		before, _ := from(0, best)
		after, _ := from(best+1, n)
		ch.pairs, ch.left = append(before, after...), ch.edges[best]
	}
}

// device returns the name of the device of a point, in upper case.
func (c *comparer) device(p point) string {
	if c.isAbsent(p) {
		return strings.ToUpper(c.end(p).Device)
	}
	return strings.ToUpper(DeviceOf(&c.Fabric.Nodes[c.Fabric.Ports[p].Node]))
}

// end returns the end of the plan at a point, or nil.
func (c *comparer) end(p point) *End {
	if c.isAbsent(p) {
		return c.absentEnd[int(p)-len(c.Fabric.Ports)]
	}
	i, ok := c.owner[p]
	switch {
	case !ok:
		return nil
	case c.ends[i][0] == p:
		return &c.Plan.Cables[i].Ends[0]
	}
	return &c.Plan.Cables[i].Ends[1]
}

func (c *comparer) link(e *edge) fabric.Link {
	return fabric.Link{A: fabric.PortIndex(min(e.a, e.b)), B: fabric.PortIndex(max(e.a, e.b))}
}

// addPairs adds the faults for the pairs of a chain.
func (c *comparer) addPairs(ch *chain) {
	if ch.isRing() && len(ch.pairs) == 2 {
		a, b := ch.pairs[0], ch.pairs[1]
		swapped := Fault{Kind: Swapped, Planned: []int{a.planned.planned, b.planned.planned},
			Cables: []fabric.Link{c.link(a.real), c.link(b.real)}}
		slices.Sort(swapped.Planned)
		slices.SortFunc(swapped.Cables, func(a, b fabric.Link) int { return cmp.Compare(a.A, b.A) })
		c.Faults = append(c.Faults, swapped)
		return
	}
	for _, p := range ch.pairs {
		kind := WrongDevice
		if c.device(p.from()) == c.device(p.to()) {
			kind = WrongPort
		}
		c.Faults = append(c.Faults, Fault{Kind: kind, Planned: []int{p.planned.planned},
			Cables: []fabric.Link{c.link(p.real)}})
	}
}

// addLeft adds the faults for the cables that are in no pair. All cables of a device that the subnet or the plan does
// not have are one fault.
func (c *comparer) addLeft(all []chain) {
	devices := map[string]*Fault{}
	var names []string
	join := func(kind FaultKind, device string) *Fault {
		key := string(kind) + device
		if devices[key] == nil {
			devices[key] = &Fault{Kind: kind, Device: device}
			names = append(names, key)
		}
		return devices[key]
	}
	for _, ch := range all {
		switch e := ch.left; {
		case e == nil:
		case e.planned >= 0 && (c.isAbsent(e.a) || c.isAbsent(e.b)):
			p := e.a
			if !c.isAbsent(p) {
				p = e.b
			}
			fault := join(MissingDevice, absentName(c.end(p)))
			fault.Planned = append(fault.Planned, e.planned)
		case e.planned >= 0:
			c.Faults = append(c.Faults, Fault{Kind: Missing, Planned: []int{e.planned}})
		default:
			l, fault := c.link(e), &Fault{Kind: Extra}
			for _, p := range []fabric.PortIndex{l.A, l.B} {
				if node := c.Fabric.Ports[p].Node; !c.isNamed(node) && fault.Kind == Extra {
					fault = join(ExtraDevice, c.Fabric.NodeName(node))
				}
			}
			fault.Cables = append(fault.Cables, l)
			if fault.Kind == Extra {
				c.Faults = append(c.Faults, *fault)
			}
		}
	}
	for _, key := range names {
		c.Faults = append(c.Faults, *devices[key])
	}
}

// absentName returns the name of a device or adapter that the subnet does not have.
func absentName(e *End) string {
	switch {
	case e.Adapter != "":
		return fabric.Escape(e.Adapter)
	case e.Board != "":
		return fabric.Escape(e.Device + " " + e.Board)
	}
	return fabric.Escape(e.Device)
}
