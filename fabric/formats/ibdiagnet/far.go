// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"
	"iter"
	"math/bits"

	"example.org/ibconsole/fabric"
)

// Far holds the port groups and the tables of each switch from the file ibdiagnet2.far. It does not refer to a fabric.
// ReadFDBs also returns a Far, for the file ibdiagnet2.fdbs. That Far has no groups and no choices of groups.
type Far struct {
	Version  int // version of the file, 0 if the file states no version
	Switches []Switch
}

// Switch holds the data of one switch.
type Switch struct {
	GUID uint64
	Line int // the line of its heading
	// Words holds the words after the switch GUID, up to the first group. They state for example whether adaptive
	// routing is supported and enabled, as in "en: 1".
	Words  []string
	Groups []Group // in the order of the file
	Tables []Table // in the order of the file; a single table 0 if the switch has no private tables
}

// Word returns the value that follows a name in the heading, as in "top: 0x2ebd" or "en=1". It returns "" if the
// heading does not have the name.
func (s *Switch) Word(name string) string {
	for i, w := range s.Words {
		if len(w) <= len(name) || w[:len(name)] != name || w[len(name)] != ':' && w[len(name)] != '=' {
			continue
		}
		if rest := w[len(name)+1:]; rest != "" {
			return rest
		}
		if i+1 < len(s.Words) {
			return s.Words[i+1]
		}
	}
	return ""
}

// Table returns the table with number n, or nil if the switch has no such table.
func (s *Switch) Table(n int) *Table {
	for i := range s.Tables {
		if s.Tables[i].Number == n {
			return &s.Tables[i]
		}
	}
	return nil
}

// Group is a sub-group of a group of ports. It may be empty. Switches try the sub-groups of a group in the order of
// their numbers.
type Group struct {
	Number uint16
	Sub    uint8
	Weight uint8 // column WHBF, for hash-based forwarding by weights
	Ports  Ports
}

// Ports is a set of ports.
type Ports [4]uint64

// Add adds a port to the set.
func (p *Ports) Add(port uint8) { p[port>>6] |= 1 << (port & 63) }

// Has reports whether a port is in the set.
func (p *Ports) Has(port uint8) bool { return p[port>>6]>>(port&63)&1 != 0 }

// Len returns the number of ports in the set.
func (p *Ports) Len() (n int) {
	for _, w := range p {
		n += bits.OnesCount64(w)
	}
	return n
}

// All returns the ports in ascending order.
func (p *Ports) All() iter.Seq[uint8] {
	return func(yield func(uint8) bool) {
		for i, w := range p {
			for ; w != 0; w &= w - 1 {
				if !yield(uint8(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Table is a forwarding table of a switch: the switch's only table, or one of its private tables.
type Table struct {
	Number int
	Top    uint16 // the highest LID that the file states for this table, 0 if it states no highest LID
	// Ports holds the static port for each LID, [fabric.NoPath] for a LID without a port. LIDs beyond the end of Ports
	// have no port.
	Ports []uint8
	// Choices holds the state and the group of each LID. It has the length of Ports, or is nil for a file without
	// groups.
	Choices []Choice
}

// State determines how a switch chooses the egress port for packets to a LID.
type State uint8

// The states. Their values are the numbers in the switch.
const (
	Bounded State = iota // any port of the group, the same port during a burst
	Free                 // any port of the group
	Static               // the static port
	Hash                 // a port of the group, chosen by a hash of the flow
)

var stateNames = [...]string{"Bounded", "Free", "Static", "HBF"}

// String returns the state as ibdiagnet2.far contains it.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// MaxGroup is the highest group number.
const MaxGroup = 1<<12 - 1

// Choice combines the state of a LID with the number of the LID's group.
type Choice uint16

const static = Choice(Static) << 12

func choice(s State, group uint16) Choice { return Choice(s)<<12 | Choice(group) }

// State returns the state of the LID.
func (c Choice) State() State { return State(c >> 12) }

// Group returns the number of the group. The switch uses the group unless the state is Static.
func (c Choice) Group() uint16 { return uint16(c) & MaxGroup }

// Port returns the static port to a LID, or [fabric.NoPath] if the LID has no static port.
func (t *Table) Port(lid uint16) uint8 {
	if int(lid) >= len(t.Ports) {
		return fabric.NoPath
	}
	return t.Ports[lid]
}

// Choice returns the state and the group of a LID. If the file has none for the LID, the state is Static.
func (t *Table) Choice(lid uint16) Choice {
	if int(lid) >= len(t.Choices) {
		return static
	}
	return t.Choices[lid]
}
