// SPDX-License-Identifier: Apache-2.0

package ucastcache

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// comparison compares the subnet for which routes were computed with the present subnet.
type comparison struct {
	was, now *fabric.Fabric
	to, from []fabric.NodeIndex // by node: its index in the other subnet
	leaf     []bool             // by node of was: it is a switch with a CA
	verdict  Verdict
}

func compare(was, now *fabric.Fabric) *comparison {
	c := &comparison{was: was, now: now, to: counterparts(was, now), from: counterparts(now, was), leaf: leaves(was)}
	c.view()
	c.goneNodes()
	c.goneLinks()
	c.newNodes()
	c.newLinks()
	c.lids()
	return c
}

func (c *comparison) invalid(kind Kind, format string, args ...any) {
	c.verdict.Reasons = append(c.verdict.Reasons, Reason{kind, fmt.Sprintf(format, args...)})
}

// counterparts returns, for each node of the subnet of f, the same node in g. It returns None for a node that the
// subnet of g lacks.
func counterparts(f, g *fabric.Fabric) []fabric.NodeIndex {
	out := make([]fabric.NodeIndex, len(f.Nodes))
	for i := range f.Nodes {
		n := &f.Nodes[i]
		j := g.NodeByGUID(n.GUID)
		if !n.InSubnet || j == fabric.None || !g.Nodes[j].InSubnet || g.Nodes[j].Type != n.Type ||
			g.Nodes[j].NumPorts != n.NumPorts {
			j = fabric.None
		}
		out[i] = j
	}
	return out
}

func leaves(f *fabric.Fabric) []bool {
	leaf := make([]bool, len(f.Nodes))
	for _, l := range f.Links() {
		a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
		isA, isB := f.Nodes[a].IsSwitch(), f.Nodes[b].IsSwitch()
		leaf[a] = leaf[a] || isA && !isB
		leaf[b] = leaf[b] || isB && !isA
	}
	return leaf
}

// view checks that the subnet still exists and that it is discovered from the same port.
func (c *comparison) view() {
	left := false
	for _, n := range c.now.Switches {
		left = left || c.now.Nodes[n].InSubnet
	}
	if !left {
		c.invalid(NoSwitch, "no switch is left")
	}
	if c.was.SMPort == fabric.None || c.now.SMPort == fabric.None {
		return
	}
	p, q := &c.was.Ports[c.was.SMPort], &c.now.Ports[c.now.SMPort]
	if c.was.Nodes[p.Node].GUID != c.now.Nodes[q.Node].GUID || p.Num != q.Num {
		c.invalid(ViewMoved, "the subnet manager's port is %s now and was %s", c.now.PortName(c.now.SMPort),
			c.was.PortName(c.was.SMPort))
	}
}

func (c *comparison) goneNodes() {
	for i := range c.was.NumNodes() {
		n := &c.was.Nodes[i]
		if !n.InSubnet || c.to[i] != fabric.None {
			continue
		}
		c.verdict.Nodes++
		if n.IsSwitch() && !c.leaf[i] {
			c.invalid(SwitchGone, "%s is gone, a switch without CAs", c.was.NodeName(i))
		}
	}
}

func (c *comparison) goneLinks() {
	for _, l := range c.was.Links() {
		if !c.was.Discovered(l.A) || linked(c.was, c.now, c.to, l) {
			continue
		}
		c.verdict.Links++
		a, b := c.was.Ports[l.A].Node, c.was.Ports[l.B].Node
		isA, isB := c.was.Nodes[a].IsSwitch(), c.was.Nodes[b].IsSwitch()
		thereA, thereB := c.to[a] != fabric.None, c.to[b] != fabric.None
		switch {
		case !isA && !isB:
			c.invalid(AdapterLinkGone, "the link %s between two CAs is gone", linkName(c.was, l))
		case !isA || !isB || !thereA && !thereB:
		case thereA && thereB:
			c.invalid(LinkGone, "the link %s is gone, and both its switches are present", linkName(c.was, l))
		case c.leaf[a] && c.leaf[b]:
			c.invalid(LeafLinkGone, "the link %s is gone; it was between two switches with CAs, and only one "+
				"of the switches is present",
				linkName(c.was, l))
		}
	}
}

// linked reports whether g has a link of f.
func linked(f, g *fabric.Fabric, to []fabric.NodeIndex, l fabric.Link) bool {
	a, b := &f.Ports[l.A], &f.Ports[l.B]
	x, y := to[a.Node], to[b.Node]
	return x != fabric.None && y != fabric.None && g.Ports[g.Port(x, a.Num)].Peer == g.Port(y, b.Num)
}

func (c *comparison) newNodes() {
	for i := range c.now.NumNodes() {
		if c.now.Nodes[i].InSubnet && c.from[i] == fabric.None {
			c.invalid(NodeNew, "%s is new", c.now.NodeName(i))
		}
	}
}

func (c *comparison) newLinks() {
	for _, l := range c.now.Links() {
		a, b := c.from[c.now.Ports[l.A].Node], c.from[c.now.Ports[l.B].Node]
		if a == fabric.None || b == fabric.None || !c.now.Discovered(l.A) || linked(c.now, c.was, c.from, l) {
			continue
		}
		led := ""
		for _, p := range [2]fabric.PortIndex{l.A, l.B} {
			before := c.was.Port(c.from[c.now.Ports[p].Node], c.now.Ports[p].Num)
			if peer := c.was.Ports[before].Peer; peer != fabric.None && led == "" {
				led = fmt.Sprintf("; %s led to %s", c.was.PortName(before), c.was.PortName(peer))
			}
		}
		c.invalid(LinkNew, "the link %s is new%s", linkName(c.now, l), led)
	}
}

func (c *comparison) lids() {
	for _, e := range c.now.EndPorts {
		p := &c.now.Ports[e]
		node := c.from[p.Node]
		if node == fabric.None {
			continue
		}
		old := &c.was.Ports[c.was.Port(node, p.Num)]
		if old.Linked() || p.Num == 0 {
			c.lid(e, p, old)
		}
	}
}

func (c *comparison) lid(e fabric.PortIndex, p, old *fabric.Port) {
	switch {
	case p.LID != old.LID:
		c.invalid(LIDChanged, "%s has LID %d and had %d", c.now.PortName(e), p.LID, old.LID)
	case p.LMC != old.LMC:
		c.invalid(LIDChanged, "%s has LMC %d and had %d", c.now.PortName(e), p.LMC, old.LMC)
	}
}

func linkName(f *fabric.Fabric, l fabric.Link) string {
	return f.PortName(l.A) + " -- " + f.PortName(l.B)
}
