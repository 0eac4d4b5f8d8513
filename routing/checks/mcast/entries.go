// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"iter"
	"slices"

	"example.org/ibconsole/fabric"
)

// entries counts the ports in the tables of all switches. It reports whether these ports form one tree that includes
// all members.
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
		if sw == fabric.None || m.Join.Receives() && !c.t.MFT.Has(sw, c.lid.MLID, port) ||
			c.joined.Root(sw) != c.joined.Root(c.first()) {
			return false
		}
	}
	return tree
}

// first returns the switch of the first member of the LID.
func (c *checker) first() fabric.SwitchIndex {
	sw, _ := c.f.AttachedSwitch(c.lid.Members[0].End)
	return sw
}

// entry counts one port in the table of a switch. It reports whether the port may belong to a tree.
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
	case !c.t.MulticastKnown(next):
		return false
	case !c.t.MFT.Has(next, c.lid.MLID, c.f.Ports[peer].Num):
		c.counts.OneWays++
		c.fault(OneWay, fabric.None, fabric.None, port)
		return false
	case port > peer:
		return true // counted at the other end
	}
	return c.joined.Join(s, next)
}

// Change is a changed entry of a switch for a multicast LID.
type Change struct {
	// Switch is the index of the switch in the fabric of the new tables.
	Switch fabric.SwitchIndex
	MLID   uint16
	// Gone lists the ports that only the old entry has. Come lists the ports that only the new entry has.
	Gone, Come []uint8
}

// Changes iterates over the changed entries of multicast tables, by switch and LID. It skips a switch that one fabric
// lacks, or whose table was not read in one state. It yields nothing if one state has no multicast tables. O(switches x
// multicast LIDs).
func Changes(before, after *fabric.Tables) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		if before.MFT == nil || after.MFT == nil {
			return
		}
		top := max(before.MFT.Top, after.MFT.Top)
		for s, n := range after.Fabric.Switches {
			old := before.Fabric.SwitchByGUID(after.Fabric.Nodes[n].GUID)
			if old == fabric.None || !before.MulticastKnown(old) || !after.MulticastKnown(fabric.SwitchIndex(s)) {
				continue
			}
			for mlid := uint16(fabric.FirstMLID); mlid <= top; mlid++ {
				c := Change{Switch: fabric.SwitchIndex(s), MLID: mlid}
				c.Gone = only(before.MFT, old, after.MFT, fabric.SwitchIndex(s), mlid)
				c.Come = only(after.MFT, fabric.SwitchIndex(s), before.MFT, old, mlid)
				if len(c.Gone)+len(c.Come) > 0 && !yield(c) {
					return
				}
			}
		}
	}
}

// only returns the ports of an entry of switch sw in t that the same entry in other tables lacks. The argument at is
// the index of the switch in these tables.
func only(t *fabric.MFT, sw fabric.SwitchIndex, other *fabric.MFT, at fabric.SwitchIndex, mlid uint16) []uint8 {
	if slices.Equal(t.Ports(sw, mlid), other.Ports(at, mlid)) {
		return nil
	}
	var ports []uint8
	for port := range t.Each(sw, mlid) {
		if !other.Has(at, mlid, uint8(port)) {
			ports = append(ports, uint8(port))
		}
	}
	return ports
}

// Changed returns the number of [Changes].
func Changed(before, after *fabric.Tables) int {
	n := 0
	for range Changes(before, after) {
		n++
	}
	return n
}
