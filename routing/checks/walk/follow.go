// SPDX-License-Identifier: Apache-2.0

// Package walk follows packets through forwarding tables: one path hop by hop ([Trace]), many paths without
// garbage ([Follow]), and all paths to one destination at a time ([Tree]).
//
// A switch forwards by the destination LID alone, so a path that meets a switch twice loops for ever, and the
// paths to one destination make a tree with, at most, dead ends and loops beside it.
package walk

import "example.org/ibconsole/fabric"

// End is where a path ends.
type End struct {
	Verdict Verdict
	// Cause is set for a dead end.
	Cause Cause
	// Port is the end port that the packet reached, None where it reached none.
	Port fabric.PortIndex
	// Switch is the last switch of the path; in a loop, one of those in it.
	Switch fabric.SwitchIndex
	// Entry is the table entry of that switch, NoPath where it has none.
	Entry uint8
	// Links is the number of links from the first switch on; in a loop, how many it took to notice.
	Links int
}

// Follow follows the packets for a LID from a switch on and calls visit, unless it is nil, with each switch and its
// entry, in order. Where the path loops, visit sees switches at most three times. It allocates nothing. O(hops).
func Follow(t *fabric.Tables, sw fabric.SwitchIndex, lid uint16, visit func(sw fabric.SwitchIndex, entry uint8)) End {
	// Brent's cycle detection: a marker jumps to the walker each time the steps since the last jump have doubled.
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

// stepped is what one switch does with a packet: pass it on to the next switch, or end the path by a verdict.
type stepped struct {
	verdict Verdict
	cause   Cause
	entry   uint8
	next    fabric.SwitchIndex
	// leaves is the port that the packet leaves by, arrives the one at the other
	// end of the link; both are port 0 where the switch keeps the packet.
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

// arrival judges a packet that an end port keeps.
func arrival(f *fabric.Fabric, port fabric.PortIndex, lid uint16) Verdict {
	if f.PortByLID(lid) == f.EndPortOf(port) {
		return Delivered
	}
	return Misdelivered
}
