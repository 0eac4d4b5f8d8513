// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
)

// Kind is a kind of fault in the tables of a group.
type Kind string

// The kinds of faults. The first four concern the packets of members, the others concern table entries.
const (
	// Missing: a member does not receive the packets of another member.
	Missing Kind = "missing"
	// Double: a member receives a packet of another member more than once.
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
	// Ports lists the switch ports by which packets leave: the faulty port, or the ports of a cycle in order.
	Ports []fabric.PortIndex
}

// Counts counts members, pairs, entries and faults of groups. A pair is a member that sends and another member that
// receives.
type Counts struct {
	// LIDs counts the multicast LIDs with groups or entries. Alone counts the LIDs without entries whose groups have
	// fewer than two members in the subnet.
	LIDs  int
	Alone int
	// Members counts the members in the subnet. Lost counts those among them that are unreachable or have no LID.
	// NotInSubnet counts members that the subnet does not have.
	Members     int
	Lost        int
	NotInSubnet int
	// Entries counts the ports in tables. SendOnly counts the ports to members that only send. Idle counts the switches
	// on branches without members. SendOnly and Idle are not faults.
	Entries  int
	Idle     int
	SendOnly int

	Pairs   int64
	Missing int64
	Double  int64
	// Unknown counts pairs whose packets reach an unread table. Further copies of these packets may arrive.
	Unknown int64
	// Echoes counts members that receive their own packets. Cycles counts LIDs with a cycle.
	Echoes int
	Cycles int
	// Strangers, DeadPorts and OneWays count ports with these faults.
	Strangers int
	DeadPorts int
	OneWays   int
}

func (c *Counts) add(o *Counts) {
	c.LIDs += o.LIDs
	c.Alone += o.Alone
	c.Members += o.Members
	c.Lost += o.Lost
	c.NotInSubnet += o.NotInSubnet
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

// Verdict returns Found if there is a fault. It returns Unknown if there is no fault but a pair is unknown.
func (c *Counts) Verdict() verdict.Verdict {
	wrong := c.Missing+c.Double > 0 || c.Echoes+c.Cycles+c.Strangers+c.DeadPorts+c.OneWays > 0
	return verdict.Of(wrong, c.Unknown > 0)
}
