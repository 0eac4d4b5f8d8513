// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"example.org/ibconsole/fabric"
)

// Target is the next target of a packet: a switch, by its index from 0 up, or one of the negative targets below.
type Target = fabric.SwitchIndex

// Targets that are no switch. [ToPort] returns the target of an end port.
const (
	// Nowhere is a dead end.
	Nowhere Target = -1
	// Unread is a switch whose table was not read.
	Unread Target = -2
)

// ToPort returns the target of a packet that reaches an end port.
func ToPort(endPort fabric.PortIndex) Target { return Target(-3 - endPort) }

// PortOf returns the end port of a target from [ToPort].
func PortOf(x Target) fabric.PortIndex { return fabric.PortIndex(-3 - x) }

// Wires holds the target of each entry of each switch's table: Wires[sw<<8|entry]. It replaces the lookups of nodes,
// ports and links in a walk.
type Wires []Target

// NewWires returns the wires of the switches of t. Entry 0 leads to the switch's own port 0, and every entry of an
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

// Beyond returns the target of a packet that arrives at a port: the port's switch, or the port itself of another node.
func Beyond(f *fabric.Fabric, port fabric.PortIndex) Target {
	if sw := f.Nodes[f.Ports[port].Node].Switch; sw != fabric.None {
		return sw
	}
	return ToPort(port)
}

// Fate is the end of the packets of one switch for one destination.
type Fate uint8

// The fates.
const (
	// Unvisited: not computed.
	Unvisited Fate = iota
	// Reaches: they reach the destination.
	Reaches
	// Lost: they end in a dead end, a loop or at another port.
	Lost
	// Open: they reach a switch whose table was not read.
	Open
	// underway: the switch is on the path that is being followed.
	underway
)

// Next returns the target of an entry of a switch's table.
func (w Wires) Next(sw fabric.SwitchIndex, entry uint8) Target { return w[int(sw)<<8|int(entry)] }

// Tree holds the paths of the packets for one destination from every switch that was requested. It is scratch memory
// for one destination after another.
type Tree struct {
	wires   Wires
	dst     Target
	entries []uint8
	// next holds the targets of the visited switches.
	next []Target
	// Fates holds the fates, by switch.
	Fates []Fate
	// Order lists the visited switches, each after its next one, those of a loop in any order.
	Order []fabric.SwitchIndex
	stack []fabric.SwitchIndex
}

// NewTree returns scratch memory for one goroutine.
func NewTree(w Wires) *Tree {
	return &Tree{wires: w, next: make([]Target, len(w)>>8), Fates: make([]Fate, len(w)>>8)}
}

// Start begins with a destination. entries holds the table entry of each switch for it. The tree refers to entries
// until the next Start.
func (t *Tree) Start(dst Target, entries []uint8) {
	t.dst, t.entries = dst, entries
	clear(t.Fates)
	t.Order = t.Order[:0]
}

// Fate returns the fate of packets at target x. All calls since Start together take O(switches).
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
		fate = Open
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

// Next returns the next target of a visited switch.
func (t *Tree) Next(sw fabric.SwitchIndex) Target { return t.next[sw] }

// Entry returns the table entry of a switch.
func (t *Tree) Entry(sw fabric.SwitchIndex) uint8 { return t.entries[sw] }

// Columns transposes rows: cols[i][sw] becomes the entry of each switch for lids[i]. Neighbouring LIDs share a cache
// line of a switch. It allocates nothing. O(switches x LIDs).
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
