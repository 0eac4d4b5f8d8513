// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"example.org/ibconsole/fabric"
)

// Target is the next target of a packet: a switch, given by its index from 0, or one of the negative targets below.
type Target = fabric.SwitchIndex

// Targets that are not a switch. [ToPort] returns the target of an end port.
const (
	// Nowhere is a dead end.
	Nowhere Target = -1
	// Unread stands for a switch whose table was not read.
	Unread Target = -2
)

// ToPort returns the target of packets that reach an end port.
func ToPort(endPort fabric.PortIndex) Target { return Target(-3 - endPort) }

// PortOf returns the end port of a target that [ToPort] returned.
func PortOf(x Target) fabric.PortIndex { return fabric.PortIndex(-3 - x) }

// Wires holds the target of each entry of each switch's table: Wires[sw<<8|entry]. It replaces the lookups of nodes,
// ports and links in a walk.
type Wires []Target

// NewWires returns the wires of the switches of t. Entry 0 leads to port 0 of the switch itself. Every entry of an
// unread table leads to Unread. O(switches x 256).
func NewWires(t *fabric.Tables) Wires {
	f := t.Fabric
	w := make(Wires, len(f.Switches)<<8)
	for i := range w {
		w[i] = Nowhere
	}
	for s, n := range f.Switches {
		row := w[s<<8 : (s+1)<<8]
		if !t.Known[s] {
			for i := range row {
				row[i] = Unread
			}
			continue
		}
		node := &f.Nodes[n]
		row[0] = ToPort(node.FirstPort)
		for p := 1; p <= int(node.NumPorts); p++ {
			if peer := f.Ports[node.FirstPort+fabric.PortIndex(p)].Peer; peer != fabric.None {
				row[p] = Beyond(f, peer)
			}
		}
	}
	return w
}

// Beyond returns the target of a packet that arrives at a port. The target is the switch of the port, or the port
// itself if it does not belong to a switch.
func Beyond(f *fabric.Fabric, port fabric.PortIndex) Target {
	if sw := f.Nodes[f.Ports[port].Node].Switch; sw != fabric.None {
		return sw
	}
	return ToPort(port)
}

// Fate is how the packets of one switch to one destination end.
type Fate uint8

// The fates.
const (
	// Unvisited: not computed.
	Unvisited Fate = iota
	// Reaches: they reach the destination.
	Reaches
	// Lost: the packets end in a dead end, in a loop or at another port.
	Lost
	// UnreadTable: the packets reach a switch whose table was not read.
	UnreadTable
	// underway: the switch is on the path that Fate is following.
	underway
)

// Next returns the target to which an entry of a switch's table leads.
func (w Wires) Next(sw fabric.SwitchIndex, entry uint8) Target { return w[int(sw)<<8|int(entry)] }

// Tree holds the paths to one destination from every switch that was requested. It is scratch memory that is reused for
// each destination.
type Tree struct {
	wires   Wires
	dst     Target
	entries []uint8
	// next holds the next target of packets at each visited switch.
	next []Target
	// Fates holds the fates, by switch.
	Fates []Fate
	// Order lists the visited switches. Each switch comes after its next switch, except that the switches of a loop
	// come in any order.
	Order []fabric.SwitchIndex
	stack []fabric.SwitchIndex
}

// NewTree returns a tree without a destination. It is for one goroutine.
func NewTree(w Wires) *Tree {
	return &Tree{wires: w, next: make([]Target, len(w)>>8), Fates: make([]Fate, len(w)>>8)}
}

// Start sets the destination and forgets the previous tree. The argument entries holds the table entry of each switch
// for the destination. The tree refers to entries until the next Start.
func (t *Tree) Start(dst Target, entries []uint8) {
	t.dst, t.entries = dst, entries
	clear(t.Fates)
	t.Order = t.Order[:0]
}

// Fate returns the fate of packets that are at target x. All calls since Start together take O(switches).
func (t *Tree) Fate(x Target) Fate {
	for x >= 0 && t.Fates[x] == Unvisited {
		t.Fates[x] = underway
		t.stack = append(t.stack, x)
		next := t.wires.Next(x, t.entries[x])
		t.next[x] = next
		x = next
	}
	var fate Fate
	switch {
	case x >= 0 && t.Fates[x] != underway:
		fate = t.Fates[x]
	case x == t.dst:
		fate = Reaches
	case x == Unread:
		fate = UnreadTable
	default:
		fate = Lost
	}
	for i := len(t.stack) - 1; i >= 0; i-- {
		t.Fates[t.stack[i]] = fate
		t.Order = append(t.Order, t.stack[i])
	}
	t.stack = t.stack[:0]
	return fate
}

// Next returns the target to which a visited switch forwards packets.
func (t *Tree) Next(sw fabric.SwitchIndex) Target { return t.next[sw] }

// Entry returns the table entry of a switch.
func (t *Tree) Entry(sw fabric.SwitchIndex) uint8 { return t.entries[sw] }

// Columns transposes rows of tables: it sets cols[i][sw] to the entry of switch sw for lids[i]. It is fast for
// neighbouring LIDs, because their entries share a cache line. It allocates nothing. O(switches x LIDs).
func Columns(t *fabric.Tables, lids []uint16, cols [][]uint8) {
	for s := range t.Fabric.NumSwitches() {
		row := t.LFT.Row(s)
		top := min(int(t.Top[s]), len(row)-1)
		for i, lid := range lids {
			entry := uint8(fabric.NoPath)
			if int(lid) <= top {
				entry = row[lid]
			}
			cols[i][s] = entry
		}
	}
}
