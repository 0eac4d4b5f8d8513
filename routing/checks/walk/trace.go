// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Path is what packets take from an end port to a LID.
type Path struct {
	// Src is the end port that sends; Dst the one that owns the LID, None where none does.
	Src, Dst fabric.PortIndex
	DstLID   uint16
	// Hops are the nodes on the path, the source first; where it loops, the last is the switch that it comes back to.
	Hops    []Hop
	Verdict Verdict
	// Cause is set for a dead end.
	Cause Cause
	// Closes is the index of the hop that a loop comes back to, -1 without loop.
	Closes int
	// Entry is the table entry of the last switch, NoPath where it has none or where there is no switch.
	Entry uint8
}

// Hop is one node of a path.
type Hop struct {
	Node fabric.NodeIndex
	// In is the port by which the path comes in, None at the source.
	In fabric.PortIndex
	// Out is the port by which it leaves; None where the path ends or the switch
	// has no such port. The port of a dead end without link is named.
	Out fabric.PortIndex
	// LID is that of the node's end port on this path, 0 where it has none.
	LID uint16
}

// Trace follows the packets that an end port sends to a LID. From a switch they start in its own table; a port
// that owns the LID has no path to go, but for a switch, whose table must keep the LID at port 0. From a port that is
// not in the subnet, or that has no LID, there is no path. O(hops^2).
func Trace(t *fabric.Tables, src fabric.PortIndex, dstLID uint16) Path {
	f := t.Fabric
	p := Path{Src: src, Dst: f.PortByLID(dstLID), DstLID: dstLID, Closes: -1, Entry: fabric.NoPath}
	node := f.Ports[src].Node
	p.add(f, fabric.None, src)
	sw := f.Nodes[node].Switch
	if sw == fabric.None {
		sw = p.leaveHost(f)
	}
	if cause := silence(f, src); p.Verdict != DeadEnd && cause != 0 {
		p.Hops = p.Hops[:1]
		p.Hops[0].Out = fabric.None
		p.Verdict, p.Cause = DeadEnd, cause
		return p
	}
	if sw != fabric.None {
		p.passSwitches(t, sw)
	}
	return p
}

// Between is [Trace] to a LID of a certain end port. No path leads to one that is unreachable, whatever port has that
// LID by now, or that has no LID, 0.
func Between(t *fabric.Tables, src, dst fabric.PortIndex, lid uint16) Path {
	f := t.Fabric
	if f.Reachable(dst) && f.PortByLID(lid) == dst {
		return Trace(t, src, lid)
	}
	p := Path{Src: src, Dst: dst, DstLID: lid, Closes: -1, Entry: fabric.NoPath, Verdict: DeadEnd, Cause: NoLID}
	if !f.Reachable(src) || !f.Reachable(dst) {
		p.Cause = Unreachable
	}
	p.add(f, fabric.None, src)
	return p
}

// silence says why an end port sends nothing: [Unreachable], [NoLID], or 0.
func silence(f *fabric.Fabric, src fabric.PortIndex) Cause {
	switch {
	case !f.Reachable(src):
		return Unreachable
	case f.Ports[src].LID == 0:
		return NoLID
	}
	return 0
}

// add appends the node of a port; in is that port or None.
func (p *Path) add(f *fabric.Fabric, in, port fabric.PortIndex) {
	p.Hops = append(p.Hops, Hop{Node: f.Ports[port].Node, In: in, Out: fabric.None, LID: f.LIDOf(f.EndPortOf(port))})
}

// leaveHost takes the link of a source that is no switch. It returns the switch
// at the other end, or None where the path has ended.
func (p *Path) leaveHost(f *fabric.Fabric) fabric.SwitchIndex {
	if p.Dst == p.Src {
		p.Verdict = Delivered
		return fabric.None
	}
	p.Hops[0].Out = p.Src
	peer := f.Ports[p.Src].Peer
	if peer == fabric.None {
		p.Verdict, p.Cause = DeadEnd, NoLink
		return fabric.None
	}
	p.add(f, peer, peer)
	sw := f.Nodes[f.Ports[peer].Node].Switch
	if sw == fabric.None {
		p.Verdict = arrival(f, peer, p.DstLID)
	}
	return sw
}

func (p *Path) passSwitches(t *fabric.Tables, sw fabric.SwitchIndex) {
	f := t.Fabric
	for {
		last := len(p.Hops) - 1
		node := p.Hops[last].Node
		if i := slices.IndexFunc(p.Hops[:last], func(h Hop) bool { return h.Node == node }); i >= 0 {
			p.Verdict, p.Closes = Loop, i
			return
		}
		s := step(t, sw, p.DstLID)
		p.Entry = s.entry
		if s.entry != 0 {
			p.Hops[last].Out = s.leaves
		}
		if s.arrives != fabric.None && s.entry != 0 {
			p.add(f, s.arrives, s.arrives)
		}
		if s.verdict != 0 {
			p.Verdict, p.Cause = s.verdict, s.cause
			break
		}
		sw = s.next
	}
	if p.Verdict == Delivered && p.Links() > MaxHops {
		p.Verdict = TooLong
	}
}

// Links is the number of links that the path takes.
func (p *Path) Links() int { return len(p.Hops) - 1 }

// Switches is the number of switches that the path passes, each counted once.
func (p *Path) Switches(f *fabric.Fabric) int {
	n := 0
	for _, h := range p.Hops {
		if f.Nodes[h.Node].IsSwitch() {
			n++
		}
	}
	if p.Verdict == Loop {
		n--
	}
	return n
}

// Explain says in one line how the path ends, names escaped.
func (p *Path) Explain(f *fabric.Fabric) string {
	last := p.Hops[len(p.Hops)-1]
	name := f.NodeName(last.Node)
	switch p.Verdict {
	case Delivered:
		return fmt.Sprintf("delivered over %s", switches(p.Switches(f)))
	case TooLong:
		return fmt.Sprintf("delivered, but over %d links: a directed route has at most %d", p.Links(), MaxHops)
	case Loop:
		before := p.Hops[len(p.Hops)-2]
		return fmt.Sprintf("loop of %s: %s sends it back to %s", switches(p.Links()-p.Closes),
			f.PortName(before.Out), name)
	case Misdelivered:
		return fmt.Sprintf("misdelivered: ends at %s with LID %d, which does not own LID %d", name, last.LID, p.DstLID)
	case Unknown:
		return fmt.Sprintf("unknown: the table of %s was not read", name)
	}
	switch p.Cause {
	case Unreachable:
		end := p.Dst
		if !f.Reachable(p.Src) {
			end = p.Src
		}
		return fmt.Sprintf("dead end: %s is unreachable: no links join it to the subnet", f.PortName(end))
	case NoLID:
		end := p.Dst
		if silence(f, p.Src) == NoLID {
			end = p.Src
		} else if owner := f.PortByLID(p.DstLID); owner != fabric.None {
			return fmt.Sprintf("dead end: LID %d is that of %s, not of %s", p.DstLID, f.PortName(owner),
				f.PortName(p.Dst))
		}
		return fmt.Sprintf("dead end: %s has no LID", f.PortName(end))
	case NoSuchPort:
		return fmt.Sprintf("dead end: %s has port %d for LID %d and no such port", name, p.Entry, p.DstLID)
	case NoLink:
		if f.Ports[last.Out].State > mad.PortDown { // the sweep has a hole there
			return fmt.Sprintf("dead end: what is behind %s is not known, though its link is up", f.PortName(last.Out))
		}
		return fmt.Sprintf("dead end: the link of %s is down", f.PortName(last.Out))
	}
	return fmt.Sprintf("dead end: %s has no entry for LID %d", name, p.DstLID)
}

func switches(n int) string {
	if n == 1 {
		return "1 switch"
	}
	return fmt.Sprintf("%d switches", n)
}
