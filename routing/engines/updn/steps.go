// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// turn is what a step does to the steps after it. The search goes from the
// destination outwards, against the direction of travel.
type turn uint8

const (
	// free steps are always allowed and leave the next one free.
	free turn = iota
	// narrows steps are always allowed, but no barred one may follow at once.
	narrows
	// barred steps are allowed after free and barred ones.
	barred
)

// step is one way out of a switch: from bit 10 on where it leads to, from bit 2 on the port there, and the turn it
// takes. A search reads all steps for each destination, so they are small.
type step uint32

// noStep leads into a port that no switch is behind.
const noStep = ^step(0)

func newStep(peer fabric.SwitchIndex, port uint8, turn turn) step {
	return step(peer)<<10 | step(port)<<2 | step(turn)
}

func (s step) peer() fabric.SwitchIndex { return fabric.SwitchIndex(s >> 10) }
func (s step) port() uint8              { return uint8(s >> 2) }
func (s step) turn() turn               { return turn(s & 3) }

// steps are the ways out of all switches, by port.
type steps struct {
	// slot is the place of port 0 of each switch among all ports, then their number.
	slot []int32
	// into is by place the step that leads into a port, with the port that it comes from as its end.
	into []step
	// all are the ways out, allowed those that are not barred, bars those that are.
	all, allowed, bars stepList
}

// unrestricted says that no step is ever forbidden, nor leads to where it began.
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

// stepList are steps in a flat array, those of switch 0 first.
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
