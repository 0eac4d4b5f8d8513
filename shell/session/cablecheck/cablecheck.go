// SPDX-License-Identifier: Apache-2.0

// Package cablecheck keeps the faults of the last check of the cabling in the state of a session.
package cablecheck

import (
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/shell/session"
)

// Check is the result of a check, by port. It is immutable.
type Check struct {
	Plan    string // the file, escaped
	Command string // repeats the check
	When    time.Time
	Faults  int
	marks   map[counters.Key][]Mark
	faulty  map[uint64]int
}

// Mark is a fault at a port.
type Mark struct {
	Kind cabling.FaultKind
	// Planned and Found are the cables of the fault, "" if there are none.
	Planned, Found string
	// Other is the other end of the planned cable at the port, "" if the plan has no cable there.
	Other string
	// peer is the other end of the cable at the port when it was checked, zero for no cable.
	peer counters.Key
}

// Texts describes the cables of a fault, and the planned end of a cable.
type Texts struct {
	Fault func(*cabling.Fault) (planned, found string)
	End   func(cable, end int) string
}

// New returns the marks of a result.
func New(res *cabling.Result, command string, when time.Time, text Texts) *Check {
	f := res.Fabric
	c := &Check{Plan: res.Plan.File, Command: command, When: when, Faults: len(res.Faults),
		marks: map[counters.Key][]Mark{}, faulty: map[uint64]int{}}
	for i := range res.Faults {
		fault := &res.Faults[i]
		at, others := portsOf(res, fault, text.End)
		nodes := map[uint64]bool{}
		planned, found := text.Fault(fault)
		for _, p := range at {
			mark := Mark{Kind: fault.Kind, Planned: planned, Found: found, Other: others[p]}
			if peer := f.Ports[p].Peer; peer != fabric.None {
				mark.peer = counters.KeyOf(f, peer)
			}
			key := counters.KeyOf(f, p)
			c.marks[key] = append(c.marks[key], mark)
			nodes[key.GUID] = true
		}
		for guid := range nodes {
			c.faulty[guid]++
		}
	}
	return c
}

// portsOf returns the ports of the cables of a fault, and the planned other end where the plan has one.
func portsOf(res *cabling.Result, fault *cabling.Fault, end func(cable, end int) string) (at []fabric.PortIndex,
	others map[fabric.PortIndex]string) {
	others = map[fabric.PortIndex]string{}
	seen := map[fabric.PortIndex]bool{fabric.None: true}
	add := func(p fabric.PortIndex) {
		if !seen[p] {
			seen[p] = true
			at = append(at, p)
		}
	}
	for _, i := range fault.Planned {
		for j, p := range res.Ports[i] {
			others[p] = end(i, 1-j)
			add(p)
		}
	}
	for _, l := range fault.Cables {
		add(l.A)
		add(l.B)
	}
	return at, others
}

// At returns the faults at a port of a fabric.
func (c *Check) At(f *fabric.Fabric, p fabric.PortIndex) []Mark {
	if c == nil || p == fabric.None {
		return nil
	}
	return c.marks[counters.KeyOf(f, p)]
}

// Of returns the number of faults at the ports of a node.
func (c *Check) Of(guid uint64) int {
	if c == nil {
		return 0
	}
	return c.faulty[guid]
}

// IsAt reports whether the cable at a port is the same as when it was checked.
func (m *Mark) IsAt(f *fabric.Fabric, p fabric.PortIndex) bool {
	peer := f.Ports[p].Peer
	if peer == fabric.None {
		return m.peer == counters.Key{}
	}
	return m.peer == counters.KeyOf(f, peer)
}

var slot = session.NewSlot[*Check]()

// Last returns the result of the last check, or nil if the cabling was not checked.
func Last(st *session.State) *Check { return slot.Of(st) }

// Publish replaces the result of the last check.
func Publish(s *session.Session, c *Check) {
	s.Publish(session.ChangeLive, func(st *session.State) { slot.Put(st, c) })
}
