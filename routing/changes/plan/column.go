// SPDX-License-Identifier: Apache-2.0

package plan

import "example.org/ibconsole/fabric"

// A switch has one entry for a LID, so the old entries of all switches form a forest, and so do the new entries. Some
// switches are written in the same step, in any order. During the step, packets may meet the old or the new entry of
// each of these switches. Consider the graph with both edges of these switches and the one current edge of each other
// switch. Every possible loop is a cycle in this graph.
//
// The path of a pair that must stay connected needs a second condition. All dead ends are one node of the graph. It has
// an edge to every switch whose packets arrive with both the old and the new tables. If this graph has no cycle, no
// such packet reaches a dead end.
//
// Cycles stay within strongly connected components of the graph of all old and new edges. A switch outside the
// components can be written at any time. In a component, a step is safe if some potential decreases along all edges of
// the step. Two sets of switches have this property:
//
//   - Switches that may come first: the old path from the new next hop to the exit of the component is shorter than the
//     old path from the switch itself, or no switch on the path from there changes any more.
//   - Switches that may come last: the same with old and new exchanged, because a step that is safe backwards in time
//     is safe.
//
// If some switches are in neither set, the component is split again, and the steps of its parts come between the first
// and the last step. For this split, the first switches have only their new edge, and the last switches only their old
// edge. The switch before the end of a new path is always among the first switches, so the splitting terminates.
// Finding schedules with the fewest steps is NP-hard (Ludwig, Marcinkowski, Schmid, "Scheduling Loop-free Network
// Updates", PODC 2015).

// delivered is the next hop of a switch that delivers packets to the destination.
const delivered fabric.SwitchIndex = -1

// turn is when an entry is to be written.
type turn struct {
	kind  kind
	level uint16
}

type kind uint8

const (
	never    kind = iota // the entry does not change
	anytime              // in any step
	atFirst              // in step level+1
	atLast               // in step level+1 from the end
	atEither             // in one of these two
	between              // after step level and before step level from the end
)

// column holds the paths to one LID: the old and the new next hop of each switch. The next hop dead stands for a dead
// end; its value is the number of switches. A column is scratch memory and is reused for each LID.
type column struct {
	dead     fabric.SwitchIndex
	old, new []fabric.SwitchIndex
	// depthOld and depthNew are the hops from each switch to the destination. They exceed the number of switches where
	// packets do not arrive.
	depthOld, depthNew []fabric.SwitchIndex
	changed            []fabric.SwitchIndex
	required           []bool
	turns              []turn

	stack []fabric.SwitchIndex
	// The fields up to tarjan describe the current component.
	member         []fabric.SwitchIndex
	stamp          fabric.SwitchIndex
	potOld, potNew []fabric.SwitchIndex
	finOld, finNew []bool

	tarjan
	todo []component
	// steps is the minimum number of steps that suffices for all columns so far.
	steps int
}

// component is a strongly connected component: switches that lie on cycles with one another. level is the number of
// components from which it was split, one inside the other.
type component struct {
	nodes []fabric.SwitchIndex
	level uint16
}

func newColumn(switches int) *column {
	n := switches + 1
	ints := func() []fabric.SwitchIndex { return make([]fabric.SwitchIndex, n) }
	return &column{
		dead: fabric.SwitchIndex(switches), old: ints(), new: ints(), depthOld: ints(), depthNew: ints(),
		required: make([]bool, n), turns: make([]turn, n), member: ints(),
		potOld: ints(), potNew: ints(), finOld: make([]bool, n), finNew: make([]bool, n),
		tarjan: tarjan{number: ints(), low: ints(), edge: ints()},
	}
}

// order computes the turns of the switches in changed from the fields old and new. The switches in the argument lowered
// keep their old entry until their LinearFDBTop is lowered, and then have no entry. O(switches) where any order is
// safe.
func (c *column) order(lowered []fabric.SwitchIndex) {
	clear(c.turns)
	for _, s := range c.changed {
		c.turns[s] = turn{kind: anytime}
	}
	c.depths(c.old, c.depthOld)
	if len(lowered) > 0 {
		for _, s := range lowered {
			c.new[s] = c.dead
		}
		c.depths(c.new, c.depthNew)
	}
	for s := range c.dead {
		c.required[s] = c.depthOld[s] <= c.dead && (len(lowered) == 0 || c.depthNew[s] <= c.dead)
	}
	for _, s := range lowered {
		c.new[s] = c.old[s]
	}
	c.depths(c.new, c.depthNew)
	if falls(c.changed, c.depthOld, c.new) || falls(c.changed, c.depthNew, c.old) {
		return
	}
	for s := range c.dead {
		c.required[s] = c.required[s] && c.depthNew[s] <= c.dead
	}
	clear(c.member)
	c.stamp = 0
	c.parts(c.changed, 0)
	for len(c.todo) > 0 {
		p := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		c.split(p)
	}
}

// depths computes the number of hops from each switch to the destination. A switch whose packets reach the dead end
// gets a number greater than the number of switches. A loop is broken first: the changed switches of the loop are
// redirected to the dead end, or all switches of the loop if none changes.
func (c *column) depths(next, depth []fabric.SwitchIndex) {
	const unknown, underway = 0, -1
	for s := range c.dead {
		depth[s] = unknown
	}
	depth[c.dead] = c.dead + 1
	for s := range c.dead {
		x := s
		for x != delivered && depth[x] == unknown {
			depth[x] = underway
			c.stack = append(c.stack, x)
			x = next[x]
		}
		if x != delivered && depth[x] == underway {
			c.unloop(next, x)
			for _, y := range c.stack {
				depth[y] = unknown
			}
			for _, y := range c.stack {
				c.depth(next, depth, y)
			}
			c.stack = c.stack[:0]
			continue
		}
		d := fabric.SwitchIndex(0)
		if x != delivered {
			d = depth[x]
		}
		for len(c.stack) > 0 {
			d++
			depth[c.stack[len(c.stack)-1]] = d
			c.stack = c.stack[:len(c.stack)-1]
		}
	}
}

// depth computes the depth of one switch. The paths must have no loops.
func (c *column) depth(next, depth []fabric.SwitchIndex, s fabric.SwitchIndex) {
	d := fabric.SwitchIndex(0)
	x := s
	for ; x != delivered && depth[x] == 0; x = next[x] {
		d++
	}
	if x != delivered {
		d += depth[x]
	}
	for x = s; x != delivered && depth[x] == 0; x = next[x] {
		depth[x] = d
		d--
	}
}

func (c *column) unloop(next []fabric.SwitchIndex, start fabric.SwitchIndex) {
	cut := false
	for x := start; ; {
		y := next[x]
		if c.turns[x].kind != never {
			next[x], cut = c.dead, true
		}
		if x = y; x == start {
			break
		}
	}
	for x := start; !cut; {
		y := next[x]
		c.old[x], c.new[x] = c.dead, c.dead
		if x = y; x == start {
			break
		}
	}
}

// falls reports whether each of the switches has a next hop of lower depth.
func falls(switches, depth, next []fabric.SwitchIndex) bool {
	for _, s := range switches {
		if x := next[s]; x != delivered && depth[x] >= depth[s] {
			return false
		}
	}
	return true
}

// exits reports whether x, a next hop, is outside the current component.
func (c *column) exits(x fabric.SwitchIndex) bool { return x == delivered || c.member[x] != c.stamp }

// split computes the turns of the switches of a component.
func (c *column) split(p component) {
	c.stamp++
	for _, x := range p.nodes {
		c.member[x] = c.stamp
	}
	c.potentials(p.nodes, c.old, c.potOld, c.finOld)
	c.potentials(p.nodes, c.new, c.potNew, c.finNew)
	two := true
	for _, s := range p.nodes {
		if s == c.dead || c.old[s] == c.new[s] {
			continue
		}
		switch a, b := c.early(s, c.new[s], c.potOld, c.finNew), c.early(s, c.old[s], c.potNew, c.finOld); {
		case a && b:
			c.turns[s] = turn{atEither, p.level}
		case a:
			c.turns[s] = turn{atFirst, p.level}
		case b:
			c.turns[s] = turn{atLast, p.level}
		default:
			c.turns[s] = turn{between, p.level + 1}
			two = false
		}
	}
	if two {
		c.steps = max(c.steps, 2*int(p.level)+2)
		return
	}
	c.steps = max(c.steps, 2*int(p.level)+3)
	var rest []fabric.SwitchIndex
	for _, s := range p.nodes {
		if s == c.dead || c.old[s] == c.new[s] {
			continue
		}
		switch c.turns[s].kind {
		case atEither, atFirst:
			c.turns[s].kind = atFirst
			c.old[s] = c.new[s]
		case atLast:
			c.new[s] = c.old[s]
		default:
			rest = append(rest, s)
		}
	}
	c.parts(rest, p.level+1)
}

// early reports whether a switch can be among the first to change its next hop to x. The argument pot is the potential
// of its current edges. The argument final marks the switches whose path does not change any more.
func (c *column) early(s, x fabric.SwitchIndex, pot []fabric.SwitchIndex, final []bool) bool {
	return c.exits(x) || final[x] || pot[x] < pot[s]
}

// potentials computes the number of hops from each of the nodes out of the component. If the dead end is in the
// component, switches whose path leads to the dead end get more hops than the component has switches. The argument
// final marks switches whose path out of the component uses only switches that do not change any more.
func (c *column) potentials(nodes, next, pot []fabric.SwitchIndex, final []bool) {
	for _, x := range nodes {
		pot[x] = 0
	}
	if c.member[c.dead] == c.stamp {
		pot[c.dead], final[c.dead] = fabric.SwitchIndex(len(nodes))+1, false
	}
	for _, s := range nodes {
		x := s
		for !c.exits(x) && pot[x] == 0 {
			c.stack = append(c.stack, x)
			x = next[x]
		}
		d, f := fabric.SwitchIndex(0), true
		if !c.exits(x) {
			d, f = pot[x], final[x]
		}
		for len(c.stack) > 0 {
			x = c.stack[len(c.stack)-1]
			c.stack = c.stack[:len(c.stack)-1]
			d++
			f = f && c.old[x] == c.new[x]
			pot[x], final[x] = d, f
		}
	}
}
