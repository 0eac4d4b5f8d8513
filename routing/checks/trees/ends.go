// SPDX-License-Identifier: Apache-2.0

package trees

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// Ends holds the end ports of a subnet as sources and destinations of packets. All counts of pairs and paths in
// packages that use Ends follow these definitions. A pair is a source and another destination end port. A path is a
// source and a LID of another end port. Failures never remove a pair, because end ports that failures have made
// unreachable count as well.
type Ends struct {
	Tables *fabric.Tables
	// Ports holds end ports, ascending by LID. An "end" is an index of this list.
	Ports []fabric.PortIndex
	// Groups holds groups of ends whose packets have the same first target, in the order of the first end of each
	// group. GroupOf is the group of each end.
	Groups  []Group
	GroupOf []int32
	// LIDs lists all LIDs of the ends in ascending order. A port with an LMC has several LIDs.
	LIDs []LID
	// Unreachable lists the end ports that failures have separated from the subnet, see [fabric.Fabric.Unreachable].
	// Unassigned lists other end ports without a LID. No other list contains these end ports, because there is no path
	// from or to them.
	Unreachable, Unassigned []fabric.PortIndex

	wires walk.Wires
}

// Group is a set of ends whose packets to any LID take the same path after their first link.
type Group struct {
	// At is the first target of the packets of the group: a switch, or the port to which the ends are linked.
	At walk.Target
	// Links is the number of links from an end to At: 1, or 0 for the port of a switch itself.
	Links int
	Ends  []int32
}

// LID is a LID and the end that owns it.
type LID struct {
	LID uint16
	End int32
}

// NewEnds lists the end ports of the subnet of t: those of CAs and, if the argument switches is set, port 0 of each
// switch. O(ports + LIDs).
func NewEnds(t *fabric.Tables, switches bool) *Ends {
	f := t.Fabric
	e := &Ends{Tables: t, wires: walk.NewWires(t)}
	e.Ports, e.Unreachable = f.Ends(switches)
	slices.SortStableFunc(e.Ports, func(a, b fabric.PortIndex) int {
		return cmp.Compare(f.Ports[a].LID, f.Ports[b].LID)
	})
	unassigned := 0
	for unassigned < len(e.Ports) && f.Ports[e.Ports[unassigned]].LID == 0 {
		unassigned++
	}
	e.Unassigned, e.Ports = e.Ports[:unassigned], e.Ports[unassigned:]
	e.group()
	for i, p := range e.Ports {
		port := &f.Ports[p]
		for lid := int(port.LID); lid < int(port.LID)+1<<port.LMC; lid++ {
			e.LIDs = append(e.LIDs, LID{uint16(lid), int32(i)})
		}
	}
	return e
}

func (e *Ends) group() {
	type key struct {
		at    walk.Target
		links int
	}
	f := e.Tables.Fabric
	index := map[key]int32{}
	for i, p := range e.Ports {
		k := key{walk.Nowhere, 1}
		if sw := f.Nodes[f.Ports[p].Node].Switch; sw != fabric.None {
			k = key{sw, 0}
		} else if peer := f.Ports[p].Peer; peer != fabric.None {
			k.at = walk.Beyond(f, peer)
		}
		g, ok := index[k]
		if !ok {
			g = int32(len(e.Groups))
			index[k] = g
			e.Groups = append(e.Groups, Group{At: k.at, Links: k.links})
		}
		e.Groups[g].Ends = append(e.Groups[g].Ends, int32(i))
		e.GroupOf = append(e.GroupOf, g)
	}
}

// Sources returns the number of ends of a group that send to end dst. An end does not send to itself.
func (e *Ends) Sources(group int, dst int32) int {
	n := len(e.Groups[group].Ends)
	if e.GroupOf[dst] == int32(group) {
		n--
	}
	return n
}

// Total returns the number of end ports, including unreachable ones and those without a LID.
func (e *Ends) Total() int { return len(e.Ports) + len(e.Unassigned) + len(e.Unreachable) }

// Pairs returns the number of ordered pairs of distinct end ports.
func (e *Ends) Pairs() int64 { return int64(e.Total()) * int64(max(0, e.Total()-1)) }

// Lost returns the number of pairs and paths that end at once, because an end port of the pair is unreachable or has no
// LID. A destination that is unreachable counts with all its LIDs. A destination without a LID counts with one path
// from each end port.
func (e *Ends) Lost() (pairs, paths int64) {
	others, silent := int64(e.Total()-1), int64(len(e.Unreachable)+len(e.Unassigned))
	pairs = e.Pairs() - int64(len(e.Ports))*int64(len(e.Ports)-1)
	paths = silent*int64(len(e.LIDs)) + int64(len(e.Unassigned))*others
	for _, p := range e.Unreachable {
		paths += others << e.Tables.Fabric.Ports[p].LMC
	}
	return pairs, paths
}
