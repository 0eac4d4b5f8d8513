// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// turn is the effect of a step on the following steps of a search. The search goes from the destination outwards,
// against the direction of packets.
type turn uint8

const (
	// A free step is always allowed. Every step may follow it.
	free turn = iota
	// A step that narrows is always allowed. A barred step must not follow it immediately.
	narrows
	// A barred step is allowed only after a free or a barred step.
	barred
)

// step is one step out of a switch. It holds the peer from bit 10 on, the port of the peer from bit 2 on, and the turn
// in the low bits. A search reads all steps for each destination, so they are small.
type step uint32

// noStep is the step into a port that is not linked to a switch.
const noStep = ^step(0)

func newStep(peer fabric.SwitchIndex, port uint8, turn turn) step {
	return step(peer)<<10 | step(port)<<2 | step(turn)
}

func (s step) peer() fabric.SwitchIndex { return fabric.SwitchIndex(s >> 10) }
func (s step) port() uint8              { return uint8(s >> 2) }
func (s step) turn() turn               { return turn(s & 3) }

// steps holds the steps out of all switches, by port.
type steps struct {
	// slot is the index of port 0 of each switch among all ports, followed by the number of ports.
	slot []int32
	// into holds, for each port index, the step that leads into the port. The end of the step is the port where it
	// begins.
	into []step
	// all holds the steps out of switches. allowed holds those that are not barred, bars the barred ones.
	all, allowed, bars stepList
}

// unrestricted reports whether no step is ever forbidden and no step leads back to its own switch.
func unrestricted(g *routing.Graph, turnOf func(from, to fabric.SwitchIndex) turn) bool {
	for s := range fabric.SwitchIndex(g.Switches()) {
		for _, l := range g.Of(s) {
			if l.Peer == s || turnOf(s, l.Peer) == narrows {
				return false
			}
		}
	}
	return true
}

func newSteps(f *fabric.Fabric, g *routing.Graph, turnOf func(from, to fabric.SwitchIndex) turn) steps {
	t := steps{slot: make([]int32, 1, len(f.Switches)+1)}
	for s := range f.NumSwitches() {
		t.slot = append(t.slot, t.slot[s]+int32(f.SwitchNode(s).NumPorts)+1)
	}
	t.into = make([]step, t.slot[len(f.Switches)])
	fill(t.into, noStep)
	for s := range fabric.SwitchIndex(len(f.Switches)) {
		for _, l := range g.Of(s) {
			turn := turnOf(s, l.Peer)
			st := newStep(l.Peer, l.PeerPort, turn)
			t.into[t.slot[l.Peer]+int32(l.PeerPort)] = newStep(s, l.Port, turn)
			t.all.list = append(t.all.list, st)
			if turn == barred {
				t.bars.list = append(t.bars.list, st)
			} else {
				t.allowed.list = append(t.allowed.list, st)
			}
		}
		t.all.end()
		t.allowed.end()
		t.bars.end()
	}
	return t
}

// stepList holds steps in a flat array. The steps of switch 0 come first.
type stepList struct {
	list []step
	ends []int32
}

func (l *stepList) end() { l.ends = append(l.ends, int32(len(l.list))) }

func (l *stepList) of(sw fabric.SwitchIndex) []step {
	if sw == 0 {
		return l.list[:l.ends[0]]
	}
	return l.list[l.ends[sw-1]:l.ends[sw]]
}

// comparePorts finds the least-hop ports of switch sw towards each switch. It compares the least counts of sw with the
// counts from which the neighbours of sw tried their steps to it, for 64 switches at once. O(links of sw x switches x
// bits of a count / 64).
func (m *matrix) comparePorts(sw fabric.SwitchIndex, sets routing.PortSets) {
	sets.Clear()
	slots := m.steps.into[m.steps.slot[sw]:m.steps.slot[sw+1]]
	var less [8]uint64
	wanted := less[:m.leastBits.depth]
	for word := range m.leastBits.words {
		known := oneLess(wanted, m.leastBits.at(int(sw), word))
		for begin := 0; begin < len(slots); begin += 64 {
			var ports [64]uint64
			for i, st := range slots[begin:min(begin+64, len(slots))] {
				if st == noStep {
					continue
				}
				from := m.leastBits
				if st.turn() == barred {
					from = m.barredBits
				}
				ports[i] = known &^ differ(wanted, from.at(int(st.peer()), word))
			}
			sets.PutByPort(word, uint8(begin/64), &ports)
		}
	}
}
