// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// columns computes the outcome of the packets of all ends to one LID. It is scratch memory for one goroutine, which
// reuses it for each LID.
type columns struct {
	net    *Net
	ends   *trees.Ends
	enter  *Net     // determines the first place of packets
	graphs []*graph // by class of SLs
	solved []bool   // for the current LID
	lids   []uint16
	of     []entries // of a batch of LIDs
	at     *entries  // of the current LID
	// outer is the memory of the method each, inner that of the method graph. Both iterate over sources, and each calls
	// graph during its iteration.
	outer, inner source
}

func newColumns(net *Net, ends *trees.Ends) *columns {
	return &columns{
		net: net, ends: ends, enter: net, graphs: make([]*graph, len(net.classes)),
		solved: make([]bool, len(net.classes)),
	}
}

// lot reads the entries for some LIDs and calls the function visit for each of these LIDs. The argument places holds
// their indexes in ends.LIDs.
func (c *columns) lot(places []int32, visit func(at int32)) {
	c.begin(places)
	for i, at := range places {
		c.turn(i)
		visit(at)
	}
}

// begin reads the entries of some LIDs.
func (c *columns) begin(places []int32) {
	c.lids = c.lids[:0]
	for _, at := range places {
		c.lids = append(c.lids, c.ends.LIDs[at].LID)
	}
	for len(c.of) < len(places) {
		c.of = append(c.of, newEntries(len(c.net.Tables.Fabric.Switches)))
	}
	c.net.read(c.of, c.lids)
}

// turn selects one LID of the batch.
func (c *columns) turn(i int) {
	c.at = &c.of[i]
	clear(c.solved)
}

// source is a set of ends whose packets to the current LID have the same paths.
type source struct {
	group *trees.Group
	ends  []int32 // may include the one that owns the LID; n counts the others
	n     int
	class uint8
	at    Place // the first place, if that is a switch
}

// sources calls the function visit for each set of ends whose packets to a LID have the same paths. It reuses s for
// each call.
func (c *columns) sources(l trees.LID, s *source, visit func(s *source)) {
	for g := range c.ends.Groups {
		group := &c.ends.Groups[g]
		if len(c.net.classes) == 1 && c.net.tables == 1 {
			if n := c.ends.Sources(g, l.End); n > 0 {
				*s = source{group: group, ends: group.Ends, n: n, at: Place(group.At)}
				visit(s)
			}
			continue
		}
		for i, end := range group.Ends {
			if end == l.End {
				continue
			}
			*s = source{
				group: group, ends: group.Ends[i : i+1], n: 1,
				class: c.net.class(c.net.Tables.Fabric.Ports[c.ends.Ports[end]].LID, l.LID),
			}
			if group.At >= 0 {
				s.at = c.enter.First(c.ends.Ports[end], c.net.classes[s.class])
			}
			visit(s)
		}
	}
}

// each calls the function visit with each source of packets to a LID and the outcome of these packets.
func (c *columns) each(l trees.LID, visit func(s *source, o *Outcome)) {
	c.sources(l, &c.outer, func(s *source) {
		o := c.outcome(l, s)
		visit(s, &o)
	})
}

func (c *columns) outcome(l trees.LID, s *source) Outcome {
	links := int32(s.group.Links)
	var o Outcome
	if s.group.At < 0 {
		o = end(s.group.At, walk.ToPort(c.ends.Ports[l.End]))
	} else {
		o = c.graph(l, s.class).outcomes[s.at]
	}
	if o.Endings&Arrives != 0 {
		o.Fewest += links
		if o.Most >= 0 {
			o.Most += links
		}
	}
	return o
}

// graph returns the solved graph of paths to a LID for a class of SLs.
func (c *columns) graph(l trees.LID, class uint8) *graph {
	g := c.graphs[class]
	if g == nil {
		g = newGraph(c.net)
		c.graphs[class] = g
	}
	if c.solved[class] {
		return g
	}
	c.solved[class] = true
	if g.again(c.at, c.ends.Ports[l.End]) {
		return g
	}
	g.begin(c.at, c.ends.Ports[l.End], c.net.classes[class])
	c.sources(l, &c.inner, func(s *source) {
		if s.class == class && s.group.At >= 0 {
			g.from(s.at)
		}
	})
	g.solve()
	return g
}
