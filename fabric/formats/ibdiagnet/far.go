// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"
	"iter"
	"math/bits"

	"example.org/ibconsole/fabric"
)

// Far is what ibdiagnet2.far holds: of each switch its groups of ports and its tables. It belongs to no fabric; what
// its numbers mean there is for others to say. An ibdiagnet2.fdbs is read into one too, without groups and choices.
type Far struct {
	Version  int // of the file, 0 where it states none
	Switches []Switch
}

// Switch is what a file says of one switch.
type Switch struct {
	GUID uint64
	Line int // that of its heading
	// Words are those behind the GUID and on the lines below it, up to the groups: what of adaptive routing is
	// supported and on, as in "en: 1".
	Words  []string
	Groups []Group // in the order of the file
	Tables []Table // in the order of the file; a switch without private tables has one, number 0
}

// Word is what the heading states for a name, as in "top: 0x2ebd" or "en=1"; "" where it does not.
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

// Table returns the table of number n of [Switch.Tables]; nil where there is none.
func (s *Switch) Table(n int) *Table {
	for i := range s.Tables {
		if s.Tables[i].Number == n {
			return &s.Tables[i]
		}
	}
	return nil
}

// Group is a sub-group of a group of ports, which may be empty. The sub-groups of a group are tried in the order of
// their numbers.
type Group struct {
	Number uint16
	Sub    uint8
	Weight uint8 // column WHBF, for hash-based forwarding by weights
	Ports  Ports
}

// Ports is a set of ports.
type Ports [4]uint64

// Add puts a port into the set.
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

// All gives the ports in ascending order.
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

// Table is a forwarding table of a switch: the only one, or one of its private tables.
type Table struct {
	Number int
	Top    uint16 // the highest LID that the file states for it, 0 where it states none
	// Ports are the static ports by LID, [fabric.NoPath] for none; LIDs beyond them have none.
	Ports []uint8
	// Choices are what else may be, by LID; as long as Ports, nil in a file without.
	Choices []Choice
}

// State says how packets to a LID leave a switch.
type State uint8

// The states, with the numbers that they have in the switch.
const (
	Bounded State = iota // any port of the group, the same while a burst goes on
	Free                 // any port of the group
	Static               // the static port
	Hash                 // the port of the group that a hash of the flow picks
)

var stateNames = [...]string{"Bounded", "Free", "Static", "HBF"}

// String returns the state as it stands in far.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// MaxGroup is the highest number of a group.
const MaxGroup = 1<<12 - 1

// Choice is the state of a LID and the number of its group.
type Choice uint16

const static = Choice(Static) << 12

func choice(s State, group uint16) Choice { return Choice(s)<<12 | Choice(group) }

// State is that of the LID.
func (c Choice) State() State { return State(c >> 12) }

// Group returns the number of the group, which counts where the state is not Static.
func (c Choice) Group() uint16 { return uint16(c) & MaxGroup }

// Port returns the static port to a LID, [fabric.NoPath] for none.
func (t *Table) Port(lid uint16) uint8 {
	if int(lid) >= len(t.Ports) {
		return fabric.NoPath
	}
	return t.Ports[lid]
}

// Choice returns the choice for a LID, Static where the file says none.
func (t *Table) Choice(lid uint16) Choice {
	if int(lid) >= len(t.Choices) {
		return static
	}
	return t.Choices[lid]
}
