// SPDX-License-Identifier: Apache-2.0

package walk

import "example.org/ibconsole/fabric"

// Target is what a packet meets next: a switch, by its index from 0 up, or one of the negative targets below.
type Target = fabric.SwitchIndex

// Targets that are no switch. An end port is named by [ToPort].
const (
	// Nowhere is a dead end.
	Nowhere Target = -1
	// Unread is a switch whose table was not read.
	Unread Target = -2
)

// ToPort is the target of a packet that an end port keeps.
func ToPort(endPort fabric.PortIndex) Target { return Target(-3 - endPort) }

// PortOf is the end port of a target that [ToPort] made.
func PortOf(x Target) fabric.PortIndex { return fabric.PortIndex(-3 - x) }

// Wires says what each entry of each switch's table leads to:
// Wires[sw<<8|entry]. It saves a walk the way through nodes, ports and links.
type Wires []Target

// NewWires makes the wires of the switches of t. Entry 0 leads to the switch's own port 0; every entry of a
// switch whose table was not read leads to Unread. O(switches x 256).
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

// Beyond is the target of a packet that comes in by a port: the port's switch, or the port itself elsewhere.
func Beyond(f *fabric.Fabric, port fabric.PortIndex) Target {
	if sw := f.Nodes[f.Ports[port].Node].Switch; sw != fabric.None {
		return sw
	}
	return ToPort(port)
}

// Fate says where the packets of one switch for one destination end.
type Fate uint8

// The fates.
const (
	// Unvisited: nobody asked.
	Unvisited Fate = iota
	// Reaches: at the destination.
	Reaches
	// Lost: in a dead end, a loop or at another port.
	Lost
	// Open: at a switch whose table was not read.
	Open
	// underway: on the path that is being followed.
	underway
)

// Next is what an entry of a switch's table leads to.
func (w Wires) Next(sw fabric.SwitchIndex, entry uint8) Target { return w[int(sw)<<8|int(entry)] }

// Tree is where the packets for one destination go from every switch that was
// asked about. It is scratch memory for many destinations in turn.
type Tree struct {
	wires   Wires
	dst     Target
	entries []uint8
	// next are what the switches visited pass packets on to.
	next []Target
	// Fates are the fates of switches, by switch.
	Fates []Fate
	// Order are the switches visited, each behind the one that it sends to, those of a loop in any order.
	Order []fabric.SwitchIndex
	stack []fabric.SwitchIndex
}

// NewTree makes scratch memory for one goroutine.
func NewTree(w Wires) *Tree {
	return &Tree{wires: w, next: make([]Target, len(w)>>8), Fates: make([]Fate, len(w)>>8)}
}

// Start begins with a destination: entries holds the table entry of each switch
// for it. The tree refers to entries until the next Start.
func (t *Tree) Start(dst Target, entries []uint8) {
	t.dst, t.entries = dst, entries
	clear(t.Fates)
	t.Order = t.Order[:0]
}

// Fate is the fate of packets that meet target x. All calls since Start together take O(switches).
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

// Next is what a switch that was visited passes packets on to.
func (t *Tree) Next(sw fabric.SwitchIndex) Target { return t.next[sw] }

// Entry is the table entry of a switch.
func (t *Tree) Entry(sw fabric.SwitchIndex) uint8 { return t.entries[sw] }
