// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
)

// Kind is a kind of fault in the tables of a group.
type Kind string

// The kinds of faults, the first four of the packets of members, the others of table entries.
const (
	// Missing: a member does not receive the packets of another one.
	Missing Kind = "missing"
	// Double: a member receives them more than once.
	Double Kind = "double"
	// Echo: a member receives its own packets.
	Echo Kind = "echo"
	// Cycle: a packet returns to a switch by the same port and loops for ever.
	Cycle Kind = "cycle"
	// Stranger: a port sends to a host that is not in the group.
	Stranger Kind = "stranger"
	// DeadPort: a port sends where there is no link.
	DeadPort Kind = "dead port"
	// OneWay: a port sends to a switch that does not send in return, or that has no entry for the group.
	OneWay Kind = "one way"
	// NotRead: a packet reaches a switch whose table was not read.
	NotRead Kind = "unread"
)

// Fault is an example of a fault.
type Fault struct {
	Kind Kind
	MLID uint16
	// Src and Dst are the members concerned, or None.
	Src, Dst fabric.PortIndex
	// Ports lists the switch ports by which packets leave: the faulty one, or those of a cycle in order.
	Ports []fabric.PortIndex
}

// Counts summarizes groups. A pair is a member that sends and another one that receives.
type Counts struct {
	// LIDs counts the multicast LIDs with groups or entries, Alone those without entries and with fewer than two
	// members in the subnet.
	LIDs  int
	Alone int
	// Members counts the members in the subnet and the Lost ones, which are unreachable or have no LID. Gone counts
	// members that the subnet does not have.
	Members int
	Lost    int
	Gone    int
	// Entries counts the ports in tables, SendOnly those to members that only send, and Idle the switches on branches
	// without members. Neither of the last two is a fault.
	Entries  int
	Idle     int
	SendOnly int

	Pairs   int64
	Missing int64
	Double  int64
	// Unknown counts pairs whose packets reach an unread table, so that more copies may arrive.
	Unknown int64
	// Echoes counts members, Cycles LIDs with a cycle.
	Echoes int
	Cycles int
	// Strangers, DeadPorts and OneWays count ports.
	Strangers int
	DeadPorts int
	OneWays   int
}

func (c *Counts) add(o *Counts) {
	c.LIDs += o.LIDs
	c.Alone += o.Alone
	c.Members += o.Members
	c.Lost += o.Lost
	c.Gone += o.Gone
	c.Entries += o.Entries
	c.Idle += o.Idle
	c.SendOnly += o.SendOnly
	c.Pairs += o.Pairs
	c.Missing += o.Missing
	c.Double += o.Double
	c.Unknown += o.Unknown
	c.Echoes += o.Echoes
	c.Cycles += o.Cycles
	c.Strangers += o.Strangers
	c.DeadPorts += o.DeadPorts
	c.OneWays += o.OneWays
}

// Verdict returns the verdict: found if there is a fault, or unknown.
func (c *Counts) Verdict() verdict.Verdict {
	wrong := c.Missing+c.Double > 0 || c.Echoes+c.Cycles+c.Strangers+c.DeadPorts+c.OneWays > 0
	return verdict.Of(wrong, c.Unknown > 0)
}
