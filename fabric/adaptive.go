// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"fmt"
	"slices"
)

// Adaptive holds the adaptive routing of all switches, which supplements their linear forwarding tables. It assigns a
// group of ports to each LID, and states when packets may leave through any port of the group. Adaptive is read-only
// once made.
type Adaptive struct {
	Switches []AdaptiveSwitch // by switch index; the zero value routes by its linear table only
}

// AdaptiveSwitch holds the adaptive routing of one switch.
type AdaptiveSwitch struct {
	Enabled     bool   // adaptive routing is on; a switch may hold groups while it is off
	FastReroute bool   // if the static port is down, the switch uses another port of the group by itself
	SLs         uint16 // bit mask of the SLs whose packets may be routed adaptively
	HashSLs     uint16 // bit mask of the SLs whose packets are spread over groups of [StateHash] by a hash
	Groups      []PortGroup
	// Tables holds the adaptive-routing tables by number. Table 0 supplements the linear forwarding table. The other
	// tables are private: they also hold a static port for each LID, which replaces the port of the linear table.
	Tables []AdaptiveTable
	// Private selects a table: Private[port*16+SL] is the number of the table for packets of the SL that enter through
	// the port. It is nil if all packets use table 0.
	Private []uint8
}

// PortGroup is a group of ports, divided into sub-groups. Switches try the sub-groups in order. A group may be empty.
type PortGroup [][]uint8

// AdaptiveState determines how a switch chooses a port of the group for packets to a LID.
type AdaptiveState uint8

// The states.
const (
	StateStatic  AdaptiveState = iota // use the linear table only
	StateFree                         // any port of the group, chosen for each packet
	StateBounded                      // any port of the group, chosen for each burst
	// StateHash chooses a port of the group by a hash of the flow. It also applies to SLs in AdaptiveSwitch.HashSLs
	// that are not adaptive.
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

// AdaptiveEntry combines the state of a LID with the number of the LID's group. The zero value is [StateStatic] and
// group 0.
type AdaptiveEntry uint16

// MaxGroup is the highest group number. Switches store group numbers in 12 bits.
const MaxGroup = 1<<12 - 1

// NewAdaptiveEntry returns the entry with a state and a group number. It uses the lower 12 bits of group.
func NewAdaptiveEntry(state AdaptiveState, group int) AdaptiveEntry {
	return AdaptiveEntry(uint16(state)<<14 | uint16(group)&MaxGroup)
}

// State returns the state of the LID.
func (e AdaptiveEntry) State() AdaptiveState { return AdaptiveState(e >> 14) }

// Group returns the number of the LID's group.
func (e AdaptiveEntry) Group() int { return int(e & MaxGroup) }

// AdaptiveTable holds one adaptive-routing table of a switch.
type AdaptiveTable struct {
	Top uint16 // the highest LID with an entry
	// Entries holds the entries of table 0, indexed by LID.
	Entries []AdaptiveEntry
	// Private holds the entries of a private table that differ from table 0 or from the linear forwarding table. They
	// are sorted by LID.
	Private []PrivateEntry
}

// PrivateEntry is the entry of one LID in a private table.
type PrivateEntry struct {
	LID   uint16
	Port  uint8 // static
	Entry AdaptiveEntry
}

// MaxTables is the maximum number of tables of a switch.
const MaxTables = 8

// Table returns the number of the table for packets that have a service level and enter through an input port.
func (s *AdaptiveSwitch) Table(in, sl uint8) uint8 {
	if i := int(in)*16 + int(sl); i < len(s.Private) {
		if t := s.Private[i]; int(t) < len(s.Tables) {
			return t
		}
	}
	return 0
}

// Entry returns the static port and the entry of a LID in the table with the given number. The argument static is the
// port for the LID in the linear forwarding table of the switch. O(1) for table 0, O(log entries) for a private table.
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

// Adapts reports whether packets of service level sl to a LID with entry e may leave through any port of the group.
func (s *AdaptiveSwitch) Adapts(e AdaptiveEntry, sl uint8) bool {
	switch e.State() {
	case StateFree, StateBounded:
		return s.Enabled && s.SLs>>(sl&15)&1 != 0
	case StateHash:
		return s.Enabled && (s.SLs|s.HashSLs)>>(sl&15)&1 != 0
	}
	return false
}

// Ports returns the ports of all sub-groups of a group in ascending order, without duplicates. It returns nil if the
// group does not exist.
func (s *AdaptiveSwitch) Ports(group int) []uint8 {
	if group >= len(s.Groups) {
		return nil
	}
	ports := slices.Concat(s.Groups[group]...)
	slices.Sort(ports)
	return slices.Compact(ports)
}

// NumTables returns the number of tables of the switch that has the most tables, at least 1.
func (a *Adaptive) NumTables() int {
	most := 1
	for i := range a.Switches {
		most = max(most, len(a.Switches[i].Tables))
	}
	return most
}

// Enabled returns the number of switches on which adaptive routing is on.
func (a *Adaptive) Enabled() int {
	n := 0
	for i := range a.Switches {
		if a.Switches[i].Enabled {
			n++
		}
	}
	return n
}
