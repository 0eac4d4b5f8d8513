// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
)

// Kind is what is wrong with the tables of a group.
type Kind string

// The kinds of faults, the first four of the packets of members, the others of table entries.
const (
	// Missing: a member does not get what another one sends.
	Missing Kind = "missing"
	// Double: a member gets it more than once.
	Double Kind = "double"
	// Echo: a member gets back what it sent.
	Echo Kind = "echo"
	// Cycle: a packet comes back to a switch by the same port, and goes round for ever.
	Cycle Kind = "cycle"
	// Stranger: a port sends to a host that is not in the group.
	Stranger Kind = "stranger"
	// DeadPort: a port sends where there is no link.
	DeadPort Kind = "dead port"
	// OneWay: a port sends to a switch that does not send back, or that has no entry for the group.
	OneWay Kind = "one way"
	// NotRead: a packet meets a switch whose table was not read.
	NotRead Kind = "unread"
)

// Fault is an example of what is wrong.
type Fault struct {
	Kind Kind
	MLID uint16
	// Src and Dst are the members concerned, None where there are none.
	Src, Dst fabric.PortIndex
	// Ports are the switch ports by which packets leave: the one that is at fault, or those of a cycle in order.
	Ports []fabric.PortIndex
}

// Counts sums up groups. Pairs are of a member that sends and another one that receives.
type Counts struct {
	// LIDs are the multicast LIDs of groups or with entries; Alone those of which the
	// subnet has less than two members, and that have no entries.
	LIDs  int
	Alone int
	// Members are those of the subnet, with the Lost ones, which are unreachable or have no LID; Gone are those that
	// the subnet does not have.
	Members int
	Lost    int
	Gone    int
	// Entries count the ports in tables, SendOnly those to members that only send,
	// and Idle switches on branches that lead to no member; neither is a fault.
	Entries  int
	Idle     int
	SendOnly int

	Pairs   int64
	Missing int64
	Double  int64
	// Unknown pairs are those whose packets meet a table that was not read, so that more copies may arrive.
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

// Verdict returns whether something is wrong.
func (c *Counts) Verdict() verdict.Verdict {
	wrong := c.Missing+c.Double > 0 || c.Echoes+c.Cycles+c.Strangers+c.DeadPorts+c.OneWays > 0
	return verdict.Of(wrong, c.Unknown > 0)
}
