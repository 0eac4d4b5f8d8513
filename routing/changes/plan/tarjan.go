// SPDX-License-Identifier: Apache-2.0

package plan

import "example.org/ibconsole/fabric"

// tarjan is the memory of Tarjan's search for strongly connected components.
type tarjan struct {
	// number is the order in which a switch was visited, from 1. It is 0 for a switch that was not visited, and closed
	// for a switch of a finished component. low is the lowest number known to be in the same component. edge counts the
	// visited edges of a switch.
	number, low, edge []fabric.SwitchIndex
	open, path, met   []fabric.SwitchIndex
	reached           []fabric.SwitchIndex // the switches that must be reached
	count             fabric.SwitchIndex
}

const closed = -1

// parts appends strongly connected components of more than one switch to todo (Tarjan, "Depth-first search and linear
// graph algorithms", SIAM Journal on Computing 1, 1972). It searches only switches with the current stamp that can be
// reached from certain switches. The dead end has edges to all switches whose packets must not reach it.
func (c *column) parts(from []fabric.SwitchIndex, level uint16) {
	c.reached = c.reached[:0]
	if c.member[c.dead] == c.stamp {
		for s := range c.dead {
			if c.required[s] && c.member[s] == c.stamp {
				c.reached = append(c.reached, s)
			}
		}
	}
	c.count = 0
	for _, s := range from {
		if c.number[s] == 0 {
			c.visit(s, level)
		}
	}
	for _, x := range c.met {
		c.number[x] = 0
	}
	c.met = c.met[:0]
}

func (c *column) visit(start fabric.SwitchIndex, level uint16) {
	for c.meet(start); len(c.path) > 0; {
		v := c.path[len(c.path)-1]
		to, more := c.follow(v)
		switch {
		case more && c.exits(to):
		case more && c.number[to] == 0:
			c.meet(to)
		case more && c.number[to] != closed:
			c.low[v] = min(c.low[v], c.number[to])
		case more:
		default:
			c.path = c.path[:len(c.path)-1]
			if c.low[v] == c.number[v] {
				c.shut(v, level)
				continue
			}
			u := c.path[len(c.path)-1]
			c.low[u] = min(c.low[u], c.low[v])
		}
	}
}

// follow returns the next unvisited edge of v.
func (c *column) follow(v fabric.SwitchIndex) (to fabric.SwitchIndex, more bool) {
	i := c.edge[v]
	c.edge[v]++
	switch {
	case v == c.dead && int(i) < len(c.reached):
		return c.reached[i], true
	case v == c.dead:
		return 0, false
	case i == 0:
		return c.old[v], true
	case i == 1 && c.new[v] != c.old[v]:
		return c.new[v], true
	}
	return 0, false
}

func (c *column) meet(v fabric.SwitchIndex) {
	c.count++
	c.number[v], c.low[v], c.edge[v] = c.count, c.count, 0
	c.open, c.path, c.met = append(c.open, v), append(c.path, v), append(c.met, v)
}

// shut makes the switches visited since v a finished component.
func (c *column) shut(v fabric.SwitchIndex, level uint16) {
	i := len(c.open) - 1
	for c.open[i] != v {
		i--
	}
	nodes := c.open[i:]
	for _, x := range nodes {
		c.number[x] = closed
	}
	if len(nodes) > 1 {
		c.todo = append(c.todo, component{append([]fabric.SwitchIndex(nil), nodes...), level})
	}
	c.open = c.open[:i]
}
