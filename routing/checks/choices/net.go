// SPDX-License-Identifier: Apache-2.0

// Package choices follows packets through tables where switches route adaptively: not one path, but all that packets
// can take.
//
// A packet that may be routed adaptively leaves a switch by any port of the group of its LID that is up, those of all
// sub-groups; where none is up, or where the packet may not, by the static port. With private tables the port of entry
// and the SL choose the table. What a pair of ports can count on is so a question about every choice: reached for sure,
// by luck, or never; over how many links; which links carry which share if all choices are alike.
//
// Paths to one LID make a graph over switches and their tables. It is gone through once for each LID, and not at all
// where it is that of a LID before.
package choices

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// Net is tables made ready to be followed. It is read-only.
type Net struct {
	Tables *fabric.Tables
	wires  walk.Wires
	tables int // of the switch with the most
	// groups[sw][g] are the ports of a group that are up.
	groups [][][]edge
	// classes are SLs of which all switches treat packets alike, classOf the class of each SL.
	classes []uint8
	classOf [16]uint8
	plain   *fabric.AdaptiveSwitch
}

// edge is a port by which packets leave a switch, what they meet, and the port there by which they come in.
type edge struct {
	to   walk.Target
	port uint8
	in   uint8
}

// NewNet takes O(switches x 256 + ports in groups).
func NewNet(t *fabric.Tables) *Net {
	n := &Net{Tables: t, wires: walk.NewWires(t), tables: 1, groups: make([][][]edge, len(t.Fabric.Switches)), plain: &fabric.AdaptiveSwitch{}}
	if t.Adaptive != nil {
		n.tables = t.Adaptive.NumTables()
		for s := range t.Adaptive.Switches {
			sw := &t.Adaptive.Switches[s]
			n.groups[s] = make([][]edge, len(sw.Groups))
			for g := range sw.Groups {
				for _, port := range sw.Ports(g) {
					if port > 0 && n.up(fabric.SwitchIndex(s), port) {
						n.groups[s][g] = append(n.groups[s][g], n.edge(fabric.SwitchIndex(s), port))
					}
				}
			}
		}
	}
	n.classify()
	return n
}

// classify finds SLs that no switch treats otherwise than another.
func (n *Net) classify() {
	for sl := range uint8(16) {
		at := slices.IndexFunc(n.classes, func(as uint8) bool { return n.alike(sl, as) })
		if at < 0 {
			at = len(n.classes)
			n.classes = append(n.classes, sl)
		}
		n.classOf[sl] = uint8(at)
	}
}

func (n *Net) alike(a, b uint8) bool {
	if n.Tables.Adaptive == nil {
		return true
	}
	for i := range n.Tables.Adaptive.Switches {
		s := &n.Tables.Adaptive.Switches[i]
		if s.SLs>>a&1 != s.SLs>>b&1 || s.HashSLs>>a&1 != s.HashSLs>>b&1 {
			return false
		}
		for at := 0; at+15 < len(s.Private); at += 16 {
			if s.Private[at+int(a)] != s.Private[at+int(b)] {
				return false
			}
		}
	}
	return true
}

// class is the place in classes of the packets from one LID to another: that of SL 0 where nobody read the SLs.
func (n *Net) class(src, dst uint16) uint8 {
	sl, _ := n.Tables.SL(src, dst)
	return n.classOf[sl&15]
}

func (n *Net) sw(s fabric.SwitchIndex) *fabric.AdaptiveSwitch {
	if n.Tables.Adaptive == nil {
		return n.plain
	}
	return &n.Tables.Adaptive.Switches[s]
}

func (n *Net) up(s fabric.SwitchIndex, port uint8) bool {
	node := n.Tables.Fabric.SwitchNode(s)
	return port <= node.NumPorts && (port == 0 || n.Tables.Fabric.Ports[node.FirstPort+fabric.PortIndex(port)].Peer != fabric.None)
}

func (n *Net) edge(s fabric.SwitchIndex, port uint8) edge {
	e := edge{to: n.wires.Next(s, port), port: port}
	if e.to >= 0 {
		f := n.Tables.Fabric
		e.in = f.Ports[f.Ports[f.SwitchNode(s).FirstPort+fabric.PortIndex(port)].Peer].Num
	}
	return e
}

// node is a switch and the table that packets meet there: switch + table x switches.
type node int32

func (n *Net) node(e edge, sl uint8) node {
	if n.tables == 1 {
		return node(e.to)
	}
	return node(e.to) + node(n.sw(e.to).Table(e.in, sl))*node(len(n.Tables.Fabric.Switches))
}

func (n *Net) switchOf(at node) (sw fabric.SwitchIndex, table uint8) {
	switches := node(len(n.Tables.Fabric.Switches))
	return fabric.SwitchIndex(at % switches), uint8(at / switches)
}

// leaves are the ports by which packets can leave a switch: those of the group that are up, or the static one. Why is
// the state by which they choose, [fabric.StateStatic] where they go by the static port.
func (n *Net) leaves(s fabric.SwitchIndex, table uint8, lid uint16, sl uint8, static *[1]edge) (out []edge, why fabric.AdaptiveState) {
	if !n.Tables.Known[s] {
		static[0] = edge{to: walk.Unread, port: fabric.NoPath}
		return static[:], fabric.StateStatic
	}
	sw := n.sw(s)
	port, e := sw.Entry(table, lid, n.Tables.Port(s, lid))
	down := !n.up(s, port)
	if sw.Adapts(e, sl) || sw.FastReroute && down && e != 0 {
		if g := e.Group(); g < len(n.groups[s]) && len(n.groups[s][g]) > 0 {
			if e.State() == fabric.StateStatic {
				return n.groups[s][g], fabric.StateFree
			}
			return n.groups[s][g], e.State()
		}
	}
	static[0] = edge{to: n.wires.Next(s, port), port: port}
	if static[0].to >= 0 {
		static[0] = n.edge(s, port)
	}
	return static[:], fabric.StateStatic
}
