// SPDX-License-Identifier: Apache-2.0

package livetrace

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Pair is a question: where do packets for a LID go that an end port sends?
type Pair struct {
	Src fabric.PortIndex // the index of an end port of the fabric
	LID uint16           // where they are for
}

// Verdict says how a path ends.
type Verdict uint8

// The ways to end.
const (
	Delivered    Verdict = iota + 1 // the packet comes to the port that owns the LID
	NoEntry                         // the table of the last switch has no entry for the LID
	NoSuchPort                      // the entry names a port that the last switch does not have
	LinkDown                        // the port by which the packet would leave is not active
	Loop                            // the packet comes back to a switch that it has passed
	Misdelivered                    // the packet comes to an end port that does not own the LID
	Silent                          // what had to be asked did not answer, see [Path.Err]
	Moved                           // at the source's place is now another node, or none
)

var verdictNames = [...]string{
	Delivered: "delivered", NoEntry: "no entry", NoSuchPort: "no such port", LinkDown: "link down",
	Loop: "loop", Misdelivered: "misdelivered", Silent: "silent", Moved: "moved",
}

func (v Verdict) String() string {
	if v == 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("verdict %d", uint8(v))
	}
	return verdictNames[v]
}

// NoPort stands for the port by which a path's first or last node is not entered or left.
const NoPort = -1

// Hop is one node on the way.
type Hop struct {
	GUID uint64
	// the index of the node in the fabric that is known, None for one that is not in it
	Node            fabric.NodeIndex
	Type            mad.NodeType
	In, Out         int  // the ports by which the packet comes and goes, or [NoPort]
	Receives, Sends Link // what those ports say of their links now
}

// Link is how a port's link runs; Width is 0 where the port did not say.
type Link struct {
	State mad.PortState
	Width mad.LinkWidth
	Speed mad.LinkSpeed
}

// String says "4xHDR", "" where nothing is known.
func (l Link) String() string {
	if l.Width == 0 {
		return ""
	}
	return l.Width.String() + l.Speed.String()
}

// Path is an answer.
type Path struct {
	Pair
	Hops    []Hop
	Verdict Verdict
	Err     error // what a silent node, or its agent, was asked, and why there is no answer
}

// Explain says in a sentence how the path ends, with the names of a fabric.
func (p *Path) Explain(f *fabric.Fabric) string {
	name, last := "the source", Hop{Out: NoPort}
	if len(p.Hops) > 0 {
		last = p.Hops[len(p.Hops)-1]
		name = last.Name(f)
	}
	switch p.Verdict {
	case Delivered:
		return fmt.Sprintf("delivered to %s", name)
	case NoEntry:
		return fmt.Sprintf("%s has no entry for LID %d", name, p.LID)
	case NoSuchPort:
		return fmt.Sprintf("the entry of %s for LID %d names port %d, which it does not have", name, p.LID, last.Out)
	case LinkDown:
		return fmt.Sprintf("port %d of %s is in state %v: no packets pass", last.Out, name, last.Sends.State)
	case Loop:
		return fmt.Sprintf("back at %s: the packet loops", name)
	case Misdelivered:
		return fmt.Sprintf("comes to %s, which does not have LID %d", name, p.LID)
	case Moved:
		return fmt.Sprintf("%s is not where it was when the subnet was read (try: sweep)", f.PortName(p.Src))
	}
	return fmt.Sprintf("not known from %s on: %v", name, p.Err)
}

// Name is the name of the hop's node in a fabric, or its GUID.
func (h *Hop) Name(f *fabric.Fabric) string {
	if h.Node == fabric.None {
		return fmt.Sprintf("0x%016x (new)", h.GUID)
	}
	return f.NodeName(h.Node)
}
