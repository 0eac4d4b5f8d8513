// SPDX-License-Identifier: Apache-2.0

// Package walk follows packets through forwarding tables: one path hop by hop ([Trace]), many paths without allocation
// ([Follow]), and all paths to one destination at once ([Tree]).
//
// A switch forwards by the destination LID alone. Therefore a path that visits a switch twice loops for ever. The paths
// to one destination form a tree, except for dead ends and loops.
package walk

import "example.org/ibconsole/fabric"

// End describes where a path ends.
type End struct {
	Verdict Verdict
	// Cause is the reason of a dead end.
	Cause Cause
	// Port is the end port that the packet reached, or None.
	Port fabric.PortIndex
	// Switch is the last switch of the path, or a switch in the loop.
	Switch fabric.SwitchIndex
	// Entry is the table entry of that switch, or NoPath.
	Entry uint8
	// Links is the number of links from the first switch, or the number of links until a loop was detected.
	Links int
}

// Follow follows the packets to a LID from a switch. If the function visit is not nil, Follow calls it with each switch
// and its entry, in order. If the path loops, Follow visits each switch at most three times. It allocates nothing.
// O(hops).
func Follow(t *fabric.Tables, sw fabric.SwitchIndex, lid uint16, visit func(sw fabric.SwitchIndex, entry uint8)) End {
	// This is Brent's cycle detection. The marker moves to the present switch whenever the steps since its last move
	// have doubled.
	marker, untilJump, power := fabric.SwitchIndex(fabric.None), 1, 1
	for links := 0; ; {
		s := step(t, sw, lid)
		if visit != nil {
			visit(sw, s.entry)
		}
		if s.arrives != fabric.None && s.arrives != s.leaves {
			links++
		}
		end := End{Verdict: s.verdict, Cause: s.cause, Port: fabric.None, Switch: sw, Entry: s.entry, Links: links}
		if s.verdict != 0 {
			if s.arrives != fabric.None {
				end.Port = t.Fabric.EndPortOf(s.arrives)
			}
			if s.verdict == Delivered && links > MaxHops {
				end.Verdict = TooLong
			}
			return end
		}
		if untilJump--; untilJump == 0 {
			power *= 2
			marker, untilJump = sw, power
		}
		if sw = s.next; sw == marker {
			end.Verdict = Loop
			return end
		}
	}
}

// stepped is the action of one switch on a packet: the switch forwards the packet to the next switch, or the path ends
// with a verdict.
type stepped struct {
	verdict Verdict
	cause   Cause
	entry   uint8
	next    fabric.SwitchIndex
	// leaves is the port by which the packet leaves. arrives is the port at the other end of the link. Both are port 0
	// if the switch keeps the packet.
	leaves, arrives fabric.PortIndex
}

func step(t *fabric.Tables, sw fabric.SwitchIndex, lid uint16) stepped {
	f := t.Fabric
	s := stepped{next: fabric.None, leaves: fabric.None, arrives: fabric.None, entry: fabric.NoPath}
	if !t.Known[sw] {
		s.verdict = Unknown
		return s
	}
	s.entry = t.Port(sw, lid)
	node := f.SwitchNode(sw)
	switch {
	case s.entry == fabric.NoPath:
		s.verdict, s.cause = DeadEnd, NoEntry
		return s
	case s.entry > node.NumPorts:
		s.verdict, s.cause = DeadEnd, NoSuchPort
		return s
	}
	s.leaves = node.FirstPort + fabric.PortIndex(s.entry)
	s.arrives = f.Ports[s.leaves].Peer
	if s.entry == 0 {
		s.arrives = s.leaves
	}
	switch {
	case s.arrives == fabric.None:
		s.verdict, s.cause = DeadEnd, NoLink
	case s.entry != 0 && f.Nodes[f.Ports[s.arrives].Node].IsSwitch():
		s.next = f.Nodes[f.Ports[s.arrives].Node].Switch
	default:
		s.verdict = arrival(f, s.arrives, lid)
	}
	return s
}

// arrival returns the verdict on a packet that reaches an end port.
func arrival(f *fabric.Fabric, port fabric.PortIndex, lid uint16) Verdict {
	if f.PortByLID(lid) == f.EndPortOf(port) {
		return Delivered
	}
	return Misdelivered
}
