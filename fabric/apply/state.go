// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// writeStates brings ports up in three rounds. It reads their states, arms them, and activates a port once both ends of
// its link are armed.
func (a *applier) writeStates() {
	byPort := make(map[fabric.PortIndex]int, len(a.w.States))
	for i, s := range a.w.States {
		byPort[s.Port] = i
	}
	a.each(len(a.w.States), func(i int) {
		s := &a.w.States[i]
		a.ask(s.Port, s.Get(a.f), func(r *mad.Reply) {
			_ = r.Decode(&a.infos[i]) // the answer is valid
			a.checkState(i)
		}, nil)
	})
	a.each(len(a.w.States), func(i int) {
		if a.infos[i].PortState == mad.PortInit {
			a.arm(i, byPort)
		}
	})
	a.each(len(a.w.States), func(i int) {
		if a.infos[i].PortState == mad.PortArmed && !a.states[i].done {
			a.raise(i, mad.PortActive)
		}
	})
}

// checkState ends the step of port i if the port is already up or cannot come up.
func (a *applier) checkState(i int) {
	s := &a.w.States[i]
	switch state := a.infos[i].PortState; {
	case state >= s.New:
		a.wrote(&a.states[i])
	case state < mad.PortInit:
		a.fail(s.Port, fmt.Errorf("port %d is %v and cannot become %v", a.f.Ports[s.Port].Num, state, s.New))
	}
}

// arm changes a port from Initialize to Armed. If the port at the other end of the link is also to come up, arm sets
// the MTU and the VLs that both ports support.
func (a *applier) arm(i int, byPort map[fabric.PortIndex]int) {
	info := &a.infos[i]
	if j, ok := byPort[a.f.Ports[a.w.States[i].Port].Peer]; ok && a.infos[j].PortState != mad.PortNoChange {
		peer := &a.infos[j]
		info.NeighborMTU = min(info.MTUCap, peer.MTUCap)
		info.OperVLs = min(info.VLCap, peer.VLCap)
	}
	a.raise(i, mad.PortArmed)
}

// raise sets a port to a state. If the port refuses, raise reads its state again: the port may have reached this state
// or a higher state by itself.
func (a *applier) raise(i int, to mad.PortState) {
	s := &a.w.States[i]
	get := s.Get(a.f)
	reached := func(state mad.PortState) {
		a.infos[i].PortState = state
		if state >= s.New {
			a.wrote(&a.states[i])
		}
	}
	req := get
	s.Raise(a.f, a.infos[i], to, &req)
	a.ask(s.Port, req, func(*mad.Reply) { reached(to) }, func() bool {
		a.ask(s.Port, get, func(r *mad.Reply) {
			var now mad.PortInfo
			_ = r.Decode(&now) // the answer is valid
			if now.PortState >= to {
				reached(now.PortState)
				return
			}
			a.fail(s.Port, fmt.Errorf("port %d stays %v and does not become %v", a.f.Ports[s.Port].Num,
				now.PortState, to))
			a.infos[i].PortState = mad.PortNoChange
		}, nil)
		return true
	})
}
