// SPDX-License-Identifier: Apache-2.0

package transition

import (
	"math"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// network holds the channels between switches. A channel is a link in one direction together with a VL: channel
// link*vls+vl. The channels that leave a switch have consecutive numbers. A dependency is a pair of channels of which
// the first leads to the switch that the second leaves. Dependencies are numbered, so that sets of them are slices.
type network struct {
	f        *fabric.Fabric
	switches int
	wires    walk.Wires // of the old fabric, and of the new fabric where the old one has no link
	vls      int
	link     []int32              // by switch<<8|port: the number of the link to another switch, or -1
	first    []int32              // by switch: the number of its first link; one more at the end
	into     []fabric.SwitchIndex // by link: where it leads
	entry    []uint8              // by link: the port by which it enters that switch
	ports    []fabric.PortIndex   // by link
	lasting  []bool               // by link: whether both fabrics have it
	offset   []int32              // by link: its dependencies begin at offset*vls*vls; one more at the end
	dests    []dest
	hosts    []int32 // by switch: the number of host ports attached to it
	all      [1]flow // packets from all hosts with SL 0, where the VL does not depend on the SL
	size     int     // the number of dependencies
}

// dest is a LID.
type dest struct {
	lid  uint16
	end  walk.Target
	at   fabric.SwitchIndex // the switch of the end port, or -1
	host bool               // the LID belongs to a host; only packets to hosts make dependencies
	flow []flow
}

// flow is packets with one SL to a destination, by the places where they enter the network.
type flow struct {
	sl     uint8
	starts []start
}

// start is a switch and the port by which packets of a host enter.
type start struct {
	sw    fabric.SwitchIndex
	entry uint8
}

func newNetwork(before, after *fabric.Tables) *network {
	f := before.Fabric
	n := &network{
		f: f, switches: len(f.Switches), wires: walk.NewWires(before), vls: vlsOf(before.SL2VL, after.SL2VL),
		link: make([]int32, len(f.Switches)<<8), first: make([]int32, len(f.Switches)+1),
		hosts: make([]int32, len(f.Switches)),
	}
	now, then := slices.Clone(n.wires), walk.NewWires(after)
	for i, target := range then {
		if n.wires[i] == walk.Nowhere || n.wires[i] == walk.Unread {
			n.wires[i] = target
		}
	}
	peer := func(port fabric.PortIndex) fabric.PortIndex {
		if p := f.Ports[port].Peer; p != fabric.None {
			return p
		}
		return after.Fabric.Ports[port].Peer
	}
	for s, node := range f.Switches {
		n.first[s] = int32(len(n.into))
		for p := range 256 {
			n.link[s<<8|p] = -1
			if next := n.wires[s<<8|p]; p > 0 && next >= 0 {
				port := f.Nodes[node].FirstPort + fabric.PortIndex(p)
				n.link[s<<8|p] = int32(len(n.into))
				n.into = append(n.into, next)
				n.entry = append(n.entry, uint8(peer(port)-f.SwitchNode(next).FirstPort))
				n.ports = append(n.ports, port)
				n.lasting = append(n.lasting, now[s<<8|p] == then[s<<8|p])
			}
		}
	}
	n.first[n.switches] = int32(len(n.into))
	size := int32(0)
	for _, to := range n.into {
		n.offset = append(n.offset, size)
		size += n.first[to+1] - n.first[to]
	}
	n.offset = append(n.offset, size)
	n.size = int(size) * n.vls * n.vls
	n.addDests(before, after)
	return n
}

// vlsOf returns the number of VLs that SL2VL tables use, counted from VL 0.
func vlsOf(tables ...*fabric.SL2VL) int {
	vls := 1
	for _, t := range tables {
		if t != nil {
			vls = max(vls, int(t.HighestVL())+1)
		}
	}
	return vls
}

// addDests lists the LIDs of all end ports that the old or the new fabric reaches, and other LIDs with an entry.
func (n *network) addDests(before, after *fabric.Tables) {
	all := [2]*trees.Ends{trees.NewEnds(after, true), trees.NewEnds(before, true)}
	var hosts []attached
	counted := map[fabric.PortIndex]bool{}
	for _, ends := range all {
		f := ends.Tables.Fabric
		for _, e := range ends.Ports {
			s, p := f.AttachedSwitch(e)
			if s >= 0 && !f.Nodes[f.Ports[e].Node].IsSwitch() && !counted[e] {
				counted[e] = true
				n.hosts[s]++
				hosts = append(hosts, attached{start{s, p}, e, f.Ports[e].LID})
			}
		}
	}
	for s := range fabric.SwitchIndex(n.switches) {
		if n.hosts[s] > 0 {
			n.all[0].starts = append(n.all[0].starts, start{s, 0})
		}
	}
	known := map[uint16]bool{}
	for _, ends := range all {
		f := ends.Tables.Fabric
		for _, l := range ends.LIDs {
			if known[l.LID] {
				continue
			}
			known[l.LID] = true
			port := ends.Ports[l.End]
			d := dest{lid: l.LID, end: walk.ToPort(port), host: !f.Nodes[f.Ports[port].Node].IsSwitch(), flow: n.all[:]}
			d.at, _ = f.AttachedSwitch(port)
			if n.vls > 1 && d.host {
				d.flow = flows(before, after, hosts, &d, port)
			}
			n.dests = append(n.dests, d)
		}
	}
	for lid := range max(before.LFT.MaxLID, after.LFT.MaxLID) + 1 {
		if lid > 0 && !known[lid] {
			n.dests = append(n.dests, dest{lid: lid, end: math.MinInt32, at: -1})
		}
	}
}

// attached is the port of a host.
type attached struct {
	start
	port fabric.PortIndex
	lid  uint16
}

// flows returns the packets to a destination by SL: the SLs that connections may hold by the old or the new tables.
func flows(before, after *fabric.Tables, hosts []attached, d *dest, to fabric.PortIndex) []flow {
	var by [16]flow
	for _, src := range hosts {
		if src.port == to {
			continue
		}
		was, is := before.SLRange(src.lid, d.lid), after.SLRange(src.lid, d.lid)
		for sl := range uint8(16) {
			if was.Has(sl) || is.Has(sl) {
				by[sl].sl = sl
				by[sl].starts = append(by[sl].starts, src.start)
			}
		}
	}
	return slices.DeleteFunc(by[:], func(f flow) bool { return len(f.starts) == 0 })
}

// dependency returns the number of the dependency of one channel on another.
func (n *network) dependency(from, to int32) int {
	v := int32(n.vls)
	l := from / v
	return int((n.offset[l]+to/v-n.first[n.into[l]])*v*v + from%v*v + to%v)
}

// next iterates over the channels on which a channel depends, by a set of dependencies.
func (n *network) next(c int32, has func(dep int) bool, yield func(to int32) bool) {
	v := int32(n.vls)
	to := n.into[c/v]
	dep := int(n.offset[c/v]*v*v + c%v*v)
	for l := n.first[to]; l < n.first[to+1]; l++ {
		for vl := range v {
			if has(dep+int(vl)) && !yield(l*v+vl) {
				return
			}
		}
		dep += int(v * v)
	}
}

// channels returns the number of channels.
func (n *network) channels() int32 { return int32(len(n.into) * n.vls) }

func (n *network) channel(c int32) credits.Channel {
	return credits.Channel{Port: n.ports[int(c)/n.vls], VL: uint8(int(c) % n.vls)}
}

// columns returns the entries of tables by destination and switch. For switches whose new table is not known, the
// argument kept has the tables. O(switches x LIDs).
func (n *network) columns(t, kept *fabric.Tables) [][]uint8 {
	slab := make([]uint8, len(n.dests)*n.switches)
	cols := make([][]uint8, len(n.dests))
	for d := range cols {
		cols[d] = slab[d*n.switches : (d+1)*n.switches : (d+1)*n.switches]
	}
	for s := range t.Fabric.NumSwitches() {
		from := t
		if !t.Known[s] {
			from = kept
		}
		row, top := from.LFT.Row(s), int(from.Top[s])
		for d := range n.dests {
			entry := uint8(fabric.NoPath)
			if lid := int(n.dests[d].lid); lid < len(row) && lid <= top {
				entry = row[lid]
			}
			cols[d][s] = entry
		}
	}
	return cols
}
