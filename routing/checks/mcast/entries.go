// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"example.org/ibconsole/fabric"
)

// entries looks at the ports of all switches. It reports whether they are one tree on which all members are.
func (c *checker) entries() (tree bool) {
	tree = true
	for _, s := range c.switches {
		node := c.f.SwitchNode(s)
		for out := range c.t.MFT.Each(s, c.lid.MLID) {
			c.counts.Entries++
			if out > int(node.NumPorts) {
				c.counts.DeadPorts++
				c.fault(DeadPort, fabric.None, fabric.None, node.FirstPort)
				continue
			}
			tree = c.entry(s, node.FirstPort+fabric.PortIndex(out), out) && tree
		}
	}
	for _, m := range c.lid.Members {
		sw, port := c.f.AttachedSwitch(m.End)
		if sw == fabric.None || m.Join.Receives() && !c.t.MFT.Has(sw, c.lid.MLID, port) || c.joined.Root(sw) != c.joined.Root(c.first()) {
			return false
		}
	}
	return tree
}

// first is the switch that the first member is attached to.
func (c *checker) first() fabric.SwitchIndex {
	sw, _ := c.f.AttachedSwitch(c.lid.Members[0].End)
	return sw
}

// entry looks at one port of a table, and reports whether it may be one of a tree.
func (c *checker) entry(s fabric.SwitchIndex, port fabric.PortIndex, out int) bool {
	if end := c.f.EndBehind(s, out); end != fabric.None {
		switch {
		case !c.in[end]:
			c.counts.Strangers++
			c.fault(Stranger, fabric.None, end, port)
		case !c.join[end].Receives():
			c.counts.SendOnly++
		}
		return true
	}
	next := c.f.PeerSwitch(port)
	if next == fabric.None {
		c.counts.DeadPorts++
		c.fault(DeadPort, fabric.None, fabric.None, port)
		return true
	}
	peer := c.f.Ports[port].Peer
	switch {
	case !c.t.Known[next]:
		return false
	case !c.t.MFT.Has(next, c.lid.MLID, c.f.Ports[peer].Num):
		c.counts.OneWays++
		c.fault(OneWay, fabric.None, fabric.None, port)
		return false
	case port > peer:
		return true // counted from the other end
	}
	return c.joined.Join(s, next)
}
