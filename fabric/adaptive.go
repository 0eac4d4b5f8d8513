// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"fmt"
	"slices"
)

// Adaptive is what switches that route adaptively hold beside their linear forwarding tables: for each LID a group of
// ports, and when packets may leave by any of them. It is read-only once made.
type Adaptive struct {
	Switches []AdaptiveSwitch // by switch index; the zero value routes by its linear table alone
}

// AdaptiveSwitch is what one switch holds.
type AdaptiveSwitch struct {
	Enabled     bool   // adaptive routing is on; groups can be there while it is off
	FastReroute bool   // where the static port is down another port of the group is taken, without a subnet manager
	SLs         uint16 // the SLs whose packets may be routed adaptively, a bit each
	HashSLs     uint16 // the SLs whose packets a hash spreads over groups of [StateHash]
	Groups      []PortGroup
	// Tables are the groups of LIDs: the first is beside the linear table, the others are private ones, which have
	// linear tables of their own.
	Tables []AdaptiveTable
	// Private has the table of packets by port of entry and SL, at port*16+SL; nil where all go by the first.
	Private []uint8
}

// PortGroup is a group of ports, by sub-groups that are tried in order; without ports it is empty.
type PortGroup [][]uint8

// AdaptiveState says how packets to a LID choose among the ports of its group.
type AdaptiveState uint8

// The states.
const (
	StateStatic  AdaptiveState = iota // by the linear table alone
	StateFree                         // any port of the group, packet by packet
	StateBounded                      // any port of the group, which a burst keeps
	// a port of the group by a hash of the flow, also where the packet's SL is not adaptive
	StateHash
)

var adaptiveStateNames = [...]string{"static", "free", "bounded", "hash"}

// String returns the state in lower case.
func (s AdaptiveState) String() string {
	if int(s) >= len(adaptiveStateNames) {
		return fmt.Sprintf("state %d", uint8(s))
	}
	return adaptiveStateNames[s]
}

// AdaptiveEntry is the state of a LID and the number of its group. The zero value is [StateStatic], group 0.
type AdaptiveEntry uint16

// MaxGroup is the highest number of a group: switches keep it in 12 bits.
const MaxGroup = 1<<12 - 1

// NewAdaptiveEntry makes an entry. Of group the lower 12 bits count.
func NewAdaptiveEntry(state AdaptiveState, group int) AdaptiveEntry {
	return AdaptiveEntry(uint16(state)<<14 | uint16(group)&MaxGroup)
}

// State returns the state of the LID.
func (e AdaptiveEntry) State() AdaptiveState { return AdaptiveState(e >> 14) }

// Group returns the number of the LID's group.
func (e AdaptiveEntry) Group() int { return int(e & MaxGroup) }

// AdaptiveTable has the entries of one table of a switch.
type AdaptiveTable struct {
	Top uint16 // the highest LID with an entry
	// Entries are those of the first table, by LID.
	Entries []AdaptiveEntry
	// Private are, of a private table, those that differ from the first one and its linear table, ascending by LID.
	Private []PrivateEntry
}

// PrivateEntry is what a private table has for a LID.
type PrivateEntry struct {
	LID   uint16
	Port  uint8 // static
	Entry AdaptiveEntry
}

// MaxTables is how many tables a switch can have at the most.
const MaxTables = 8

// Table returns the table of a switch for packets of an SL that came in by a port.
func (s *AdaptiveSwitch) Table(in, sl uint8) uint8 {
	if i := int(in)*16 + int(sl); i < len(s.Private) {
		if t := s.Private[i]; int(t) < len(s.Tables) {
			return t
		}
	}
	return 0
}

// Entry is what a table of a switch says of a LID whose port in the linear table is static: its own static port, and
// its entry. O(1) for the first table, O(log entries) for a private one.
func (s *AdaptiveSwitch) Entry(table uint8, lid uint16, static uint8) (port uint8, e AdaptiveEntry) {
	if len(s.Tables) == 0 {
		return static, 0
	}
	if table > 0 && int(table) < len(s.Tables) {
		p := s.Tables[table].Private
		i, ok := slices.BinarySearchFunc(p, lid, func(e PrivateEntry, lid uint16) int {
			return cmp.Compare(e.LID, lid)
		})
		if ok {
			return p[i].Port, p[i].Entry
		}
	}
	first := &s.Tables[0]
	if lid <= first.Top && int(lid) < len(first.Entries) {
		e = first.Entries[lid]
	}
	return static, e
}

// Adapts reports whether packets of an SL to a LID with this entry leave by any port of its group.
func (s *AdaptiveSwitch) Adapts(e AdaptiveEntry, sl uint8) bool {
	switch e.State() {
	case StateFree, StateBounded:
		return s.Enabled && s.SLs>>(sl&15)&1 != 0
	case StateHash:
		return s.Enabled && (s.SLs|s.HashSLs)>>(sl&15)&1 != 0
	}
	return false
}

// Ports returns the ports of a group of a switch in all its sub-groups, ascending, each once; nil where there is no
// such group.
func (s *AdaptiveSwitch) Ports(group int) []uint8 {
	if group >= len(s.Groups) {
		return nil
	}
	ports := slices.Concat(s.Groups[group]...)
	slices.Sort(ports)
	return slices.Compact(ports)
}

// NumTables returns the most tables that a switch has, 1 at least.
func (a *Adaptive) NumTables() int {
	most := 1
	for i := range a.Switches {
		most = max(most, len(a.Switches[i].Tables))
	}
	return most
}

// Enabled counts the switches on which adaptive routing is on.
func (a *Adaptive) Enabled() int {
	n := 0
	for i := range a.Switches {
		if a.Switches[i].Enabled {
			n++
		}
	}
	return n
}
