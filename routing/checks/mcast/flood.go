// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// follow follows the packets of each switch with members. It is used if the tables do not form a tree.
func (c *checker) follow() {
	c.counts.Pairs = pairs(c.lid.Members)
	senders := map[fabric.SwitchIndex][]Member{}
	var from []fabric.SwitchIndex
	for _, m := range c.lid.Members {
		sw, _ := c.f.AttachedSwitch(m.End)
		if senders[sw] == nil {
			from = append(from, sw)
		}
		senders[sw] = append(senders[sw], m)
	}
	cycle := false
	for _, sw := range from {
		if c.ctx.Err() != nil {
			return
		}
		if sw != fabric.None {
			ring := c.flood.from(sw, c.lid.MLID)
			cycle = c.ring(ring, senders[sw][0].End, cycle)
		} else {
			c.flood.reset()
		}
		c.compare(sw, senders[sw])
	}
	// Loops are also possible for packets that no member sends.
	for _, sw := range c.switches {
		if c.ctx.Err() != nil || cycle {
			return
		}
		if senders[sw] == nil && c.onRing(sw) {
			cycle = c.ring(c.flood.from(sw, c.lid.MLID), fabric.None, cycle)
		}
	}
}

// onRing reports whether a switch can be on a ring, because it has two ports to switches.
func (c *checker) onRing(sw fabric.SwitchIndex) bool {
	n := 0
	for out := range c.t.MFT.Each(sw, c.lid.MLID) {
		if out > 0 && out <= int(c.f.SwitchNode(sw).NumPorts) &&
			c.f.PeerSwitch(c.f.SwitchNode(sw).FirstPort+fabric.PortIndex(out)) != fabric.None {
			n++
		}
	}
	return n > 1
}

func (c *checker) ring(ring []fabric.PortIndex, src fabric.PortIndex, before bool) bool {
	if ring == nil {
		return before
	}
	if !before {
		c.counts.Cycles = 1
	}
	c.fault(Cycle, src, fabric.None, ring...)
	return true
}

// compare counts how often the members receive the packets of those members that are attached to switch sw (argument
// senders).
func (c *checker) compare(sw fabric.SwitchIndex, senders []Member) {
	fl := c.flood
	if fl.unread >= 0 && len(senders) > 0 {
		c.fault(NotRead, senders[0].End, fabric.None, fl.unread)
	}
	for _, m := range c.lid.Members {
		local, port := c.f.AttachedSwitch(m.End)
		later := int(fl.copies[m.End])
		n := int64(len(senders)) // of the members that send to m
		if local == sw {
			n--
			if later > 0 {
				c.counts.Echoes++
				c.fault(Echo, m.End, m.End, c.f.SwitchNode(sw).FirstPort+fabric.PortIndex(port))
			}
		}
		if !m.Join.Receives() || n == 0 {
			continue
		}
		got := later
		if sw != fabric.None && local == sw && c.t.MFT.Has(sw, c.lid.MLID, port) && c.t.MulticastKnown(sw) {
			got++
		}
		src := senders[0].End
		if src == m.End {
			src = senders[1].End
		}
		switch {
		case got <= 1 && fl.unread >= 0:
			c.counts.Unknown += n
		case got == 0:
			c.counts.Missing += n
			c.fault(Missing, src, m.End)
		case got > 1:
			c.counts.Double += n
			c.fault(Double, src, m.End)
		}
	}
}

// flood follows the copies of a packet. A state is the port by which a copy enters a switch. All copies in the same
// state are forwarded in the same way.
type flood struct {
	t *fabric.Tables
	f *fabric.Fabric
	// copies counts the copies that enter a switch by a port, or that arrive at an end port. color is the state of the
	// search. touched and ends list the ports whose values must be reset.
	copies  []int32
	color   []uint8
	touched []fabric.PortIndex
	order   []fabric.PortIndex
	ends    []fabric.PortIndex
	// unread is a port that leads to a switch whose table was not read, or -1.
	unread fabric.PortIndex
	ring   []fabric.PortIndex
	path   []fabric.PortIndex // ports by which copies leave, up to the present state
	mlid   uint16
}

const (
	white = iota
	gray
	black
)

func newFlood(t *fabric.Tables) *flood {
	n := len(t.Fabric.Ports)
	return &flood{t: t, f: t.Fabric, copies: make([]int32, n), color: make([]uint8, n), unread: -1}
}

func (fl *flood) reset() {
	for _, s := range fl.touched {
		fl.copies[s], fl.color[s] = 0, white
	}
	for _, e := range fl.ends {
		fl.copies[e] = 0
	}
	fl.touched, fl.order, fl.ends, fl.path = fl.touched[:0], fl.order[:0], fl.ends[:0], fl.path[:0]
	fl.unread, fl.ring = -1, nil
}

// from follows a packet that a host sends into a switch. It returns the ports of a cycle that copies reach, or nil.
func (fl *flood) from(sw fabric.SwitchIndex, mlid uint16) []fabric.PortIndex {
	fl.reset()
	fl.mlid = mlid
	if !fl.t.MulticastKnown(sw) {
		fl.unread = fl.f.SwitchNode(sw).FirstPort
		return nil
	}
	first := fl.nexts(sw, fabric.None)
	for _, out := range first {
		fl.path = append(fl.path[:0], out)
		fl.search(fl.f.Ports[out].Peer)
	}
	for _, out := range first {
		fl.copies[fl.f.Ports[out].Peer]++
	}
	for _, in := range slices.Backward(fl.order) {
		fl.pass(in)
	}
	return fl.ring
}

// nexts returns the ports to other switches by which a switch forwards copies of a packet. The argument in is the port
// by which the packet entered.
func (fl *flood) nexts(sw fabric.SwitchIndex, in fabric.PortIndex) []fabric.PortIndex {
	node := fl.f.SwitchNode(sw)
	var outs []fabric.PortIndex
	for out := range fl.t.MFT.Each(sw, fl.mlid) {
		port := node.FirstPort + fabric.PortIndex(out)
		if out == 0 || out > int(node.NumPorts) || port == in {
			continue
		}
		next := fl.f.PeerSwitch(port)
		switch {
		case next == fabric.None:
		case !fl.t.MulticastKnown(next):
			fl.unread = port
		default:
			outs = append(outs, port)
		}
	}
	return outs
}

// search adds the states that can be reached from a state to fl.order, each after its successors. If it finds a cycle,
// it records the cycle.
func (fl *flood) search(in fabric.PortIndex) {
	type step struct {
		in   fabric.PortIndex
		outs []fabric.PortIndex
	}
	if fl.color[in] != white {
		return
	}
	open := func(in fabric.PortIndex) step {
		fl.color[in] = gray
		fl.touched = append(fl.touched, in)
		return step{in, fl.nexts(fl.f.Nodes[fl.f.Ports[in].Node].Switch, in)}
	}
	stack := []step{open(in)}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.outs) == 0 {
			fl.color[top.in] = black
			fl.order = append(fl.order, top.in)
			stack = stack[:len(stack)-1]
			fl.path = fl.path[:len(fl.path)-1]
			continue
		}
		out := top.outs[0]
		top.outs = top.outs[1:]
		next := fl.f.Ports[out].Peer
		switch fl.color[next] {
		case white:
			fl.path = append(fl.path, out)
			stack = append(stack, open(next))
		case gray:
			if fl.ring == nil {
				fl.ring = append(fl.since(next), out)
			}
		}
	}
}

// since returns the ports of the current path after the port that leads to a state.
func (fl *flood) since(in fabric.PortIndex) []fabric.PortIndex {
	for i, out := range fl.path {
		if fl.f.Ports[out].Peer == in {
			return slices.Clone(fl.path[i+1:])
		}
	}
	return nil
}

// many is the maximum count of copies. Without this limit, counts could double from switch to switch.
const many = 1 << 20

// pass forwards the copies that enter a switch by a port. Copies that loop are counted once.
func (fl *flood) pass(in fabric.PortIndex) {
	sw := fl.f.Nodes[fl.f.Ports[in].Node].Switch
	node := fl.f.SwitchNode(sw)
	n := fl.copies[in]
	for out := range fl.t.MFT.Each(sw, fl.mlid) {
		port := node.FirstPort + fabric.PortIndex(out)
		if out > int(node.NumPorts) || port == in {
			continue
		}
		if end := fl.f.EndBehind(sw, out); end != fabric.None {
			fl.ends = append(fl.ends, end)
			fl.copies[end] = min(fl.copies[end]+n, many)
			continue
		}
		if next := fl.f.PeerSwitch(port); next != fabric.None && fl.t.MulticastKnown(next) {
			peer := fl.f.Ports[port].Peer
			fl.copies[peer] = min(fl.copies[peer]+n, many)
		}
	}
}
