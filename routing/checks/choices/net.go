// SPDX-License-Identifier: Apache-2.0

// Package choices follows packets through tables of switches that route adaptively. It finds all possible paths of a
// packet.
//
// A packet that may be routed adaptively leaves a switch by any port that is up and belongs to the group of its LID, in
// any sub-group. It leaves by the static port if no port of the group is up, or if it may not be routed adaptively.
// With private tables, the input port and the SL select the table. The result for a pair of ports thus covers all
// choices: whether the destination is reached for sure, by luck, or never; over how many links; and the share of each
// link if all choices are equally likely.
//
// The paths to one LID form a graph over switches and their tables. The graph is visited once for each LID, or not at
// all if it is the same as for an earlier LID.
package choices

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// Net holds tables that are prepared for following packets. It is read-only.
type Net struct {
	Tables *fabric.Tables
	wires  walk.Wires
	tables int // the maximum number of tables of a switch
	// groups[sw][g] lists the ports of group g of switch sw that are up.
	groups [][][]Exit
	// A class is a set of SLs that all switches treat the same. classes holds one SL of each class. classOf holds the
	// class of each SL.
	classes []uint8
	classOf [16]uint8
	plain   *fabric.AdaptiveSwitch
}

// Exit is a port by which packets leave a switch. To is the target at the other end of the link, In the port by which
// packets arrive there.
type Exit struct {
	To       walk.Target
	Port, In uint8
}

// NewNet prepares tables for following packets. O(switches x 256 + ports in groups).
func NewNet(t *fabric.Tables) *Net {
	n := &Net{Tables: t, wires: walk.NewWires(t), tables: 1, groups: make([][][]Exit, len(t.Fabric.Switches)),
		plain: &fabric.AdaptiveSwitch{}}
	if t.Adaptive != nil {
		n.tables = t.Adaptive.NumTables()
		for s := range t.Adaptive.Switches {
			sw := &t.Adaptive.Switches[s]
			n.groups[s] = make([][]Exit, len(sw.Groups))
			for g := range sw.Groups {
				for _, port := range sw.Ports(g) {
					if port > 0 && n.up(fabric.SwitchIndex(s), port) {
						n.groups[s][g] = append(n.groups[s][g], n.exit(fabric.SwitchIndex(s), port))
					}
				}
			}
		}
	}
	n.classify()
	return n
}

// classify fills in classes and classOf.
func (n *Net) classify() {
	for sl := range uint8(16) {
		at := slices.IndexFunc(n.classes, func(as uint8) bool { return n.sameTreatment(sl, as) })
		if at < 0 {
			at = len(n.classes)
			n.classes = append(n.classes, sl)
		}
		n.classOf[sl] = uint8(at)
	}
}

func (n *Net) sameTreatment(a, b uint8) bool {
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

// class returns the class of the SL of packets from one LID to another LID. It assumes SL 0 if SLs were not read.
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
	return port <= node.NumPorts && (port == 0 || n.Tables.Fabric.Ports[node.FirstPort+fabric.PortIndex(port)].Peer !=
		fabric.None)
}

func (n *Net) exit(s fabric.SwitchIndex, port uint8) Exit {
	e := Exit{To: n.wires.Next(s, port), Port: port}
	if e.To >= 0 {
		f := n.Tables.Fabric
		e.In = f.Ports[f.Ports[f.SwitchNode(s).FirstPort+fabric.PortIndex(port)].Peer].Num
	}
	return e
}

// Place is a switch and the table that packets use there. Its value is switch + table x number of switches.
type Place int32

// place returns the place that packets of an SL reach by an exit. The exit must lead to a switch.
func (n *Net) place(e Exit, sl uint8) Place {
	if n.tables == 1 {
		return Place(e.To)
	}
	return Place(e.To) + Place(n.sw(e.To).Table(e.In, sl))*Place(len(n.Tables.Fabric.Switches))
}

// First returns the first place of the packets of an end port. The port must belong to a switch or be linked to one.
func (n *Net) First(end fabric.PortIndex, sl uint8) Place {
	f := n.Tables.Fabric
	if sw := f.Nodes[f.Ports[end].Node].Switch; sw != fabric.None {
		return n.place(Exit{To: sw}, sl)
	}
	return n.place(Exit{To: f.PeerSwitch(end), In: f.Ports[f.Ports[end].Peer].Num}, sl)
}

// Switch returns the switch of a place, and the number of the table there.
func (n *Net) Switch(at Place) (sw fabric.SwitchIndex, table uint8) {
	switches := Place(len(n.Tables.Fabric.Switches))
	return fabric.SwitchIndex(at % switches), uint8(at / switches)
}

// leaves returns the exits by which packets can leave a switch. These are the ports of the group that are up, or the
// static port. The result why is the state by which the switch chooses among the ports, or [fabric.StateStatic] if
// packets use the static port.
func (n *Net) leaves(s fabric.SwitchIndex, table uint8, of *entries, sl uint8, static *[1]Exit) (out []Exit,
	why fabric.AdaptiveState) {
	if !n.Tables.Known[s] {
		static[0] = Exit{To: walk.Unread, Port: fabric.NoPath}
		return static[:], fabric.StateStatic
	}
	sw := n.sw(s)
	port, e := of.ports[s], of.adaptive[s]
	if table > 0 {
		port, e = sw.Entry(table, of.lid, port)
	}
	down := !n.up(s, port)
	if sw.Adapts(e, sl) || sw.FastReroute && down && e != 0 {
		if g := e.Group(); g < len(n.groups[s]) && len(n.groups[s][g]) > 0 {
			if e.State() == fabric.StateStatic {
				return n.groups[s][g], fabric.StateFree
			}
			return n.groups[s][g], e.State()
		}
	}
	static[0] = Exit{To: n.wires.Next(s, port), Port: port}
	if static[0].To >= 0 {
		static[0] = n.exit(s, port)
	}
	return static[:], fabric.StateStatic
}

// entries holds the entries for one LID in the first table of each switch.
type entries struct {
	lid      uint16
	ports    []uint8
	adaptive []fabric.AdaptiveEntry
}

func newEntries(switches int) entries {
	return entries{ports: make([]uint8, switches), adaptive: make([]fabric.AdaptiveEntry, switches)}
}

// copy copies the data of another network, which must have the same number of switches.
func (e *entries) copy(from *entries) {
	e.lid = from.lid
	copy(e.ports, from.ports)
	copy(e.adaptive, from.adaptive)
}

// read reads the entries for several LIDs, switch by switch. O(switches x LIDs).
func (n *Net) read(into []entries, lids []uint16) {
	for i, lid := range lids {
		into[i].lid = lid
	}
	for s := range n.Tables.Fabric.NumSwitches() {
		row, top := n.Tables.LFT.Row(s), int(n.Tables.Top[s])
		var first fabric.AdaptiveTable
		if sw := n.sw(s); len(sw.Tables) > 0 {
			first = sw.Tables[0]
		}
		for i, lid := range lids {
			port, e := uint8(fabric.NoPath), fabric.AdaptiveEntry(0)
			if int(lid) <= top && int(lid) < len(row) {
				port = row[lid]
			}
			if lid <= first.Top && int(lid) < len(first.Entries) {
				e = first.Entries[lid]
			}
			into[i].ports[s], into[i].adaptive[s] = port, e
		}
	}
}

// Flow explores the paths of packets of one SL to one LID, place by place. It is scratch memory for one goroutine.
type Flow struct {
	g  *graph
	of []entries // of one LID
}

// NewFlow returns new scratch memory.
func (n *Net) NewFlow() *Flow {
	return &Flow{newGraph(n), []entries{newEntries(len(n.Tables.Fabric.Switches))}}
}

// Begin starts a search for packets of an SL to a LID. The argument end is the end port that owns the LID.
func (f *Flow) Begin(lid uint16, end fabric.PortIndex, sl uint8) {
	f.g.net.read(f.of, []uint16{lid})
	f.g.begin(&f.of[0], end, sl&15)
}

// Exits returns the ports by which packets leave a place. The result is valid until the next Begin.
func (f *Flow) Exits(at Place) []Exit {
	if f.g.visits[at] == unvisited {
		f.g.look(at)
		f.g.visits[at] = visited
		f.g.order = append(f.g.order, at)
	}
	return f.g.out[at]
}

// Next returns the place to which an exit leads. The exit must lead to a switch.
func (f *Flow) Next(e Exit) Place { return f.g.net.place(e, f.g.sl) }

// Same reports whether packets to another LID leave all visited places by the same exits between switches. If they do,
// the flow continues with this LID.
func (f *Flow) Same(lid uint16, end fabric.PortIndex) bool {
	f.g.net.read(f.of, []uint16{lid})
	return f.g.again(&f.of[0], end)
}

// Ends reports whether an exit leads to the end port of the LID.
func (f *Flow) Ends(e Exit) bool { return e.To == f.g.dst }

// Why returns the state by which the switch of a visited place chooses among its exits.
func (f *Flow) Why(at Place) fabric.AdaptiveState { return f.g.why[at] }

// OutcomesFrom returns a function that returns the outcome of packets from a place. It knows the place in the argument
// at and all places that packets can reach from there.
func (f *Flow) OutcomesFrom(at Place) func(Place) *Outcome {
	f.g.from(at)
	f.g.solve()
	return func(at Place) *Outcome { return &f.g.outcomes[at] }
}

// OutcomeOf returns the outcome of packets that leave by an exit. The exit must not lead to a switch.
func (f *Flow) OutcomeOf(e Exit) Outcome { return end(e.To, f.g.dst) }
