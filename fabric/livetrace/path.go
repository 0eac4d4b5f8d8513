// SPDX-License-Identifier: Apache-2.0

package livetrace

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Pair is the source and destination of a path.
type Pair struct {
	Src fabric.PortIndex // index of an end port of the fabric
	LID uint16           // destination
}

// Verdict is how a path ends.
type Verdict uint8

// Verdicts.
const (
	Delivered    Verdict = iota + 1 // the packet reaches the port with the LID
	NoEntry                         // the table of the last switch has no entry for the LID
	NoSuchPort                      // the entry contains a port that the last switch does not have
	LinkDown                        // the output port is not active
	Loop                            // the packet reaches a switch for the second time
	Misdelivered                    // the packet reaches an end port without the LID
	Silent                          // a required request was not answered, see [Path].Err
	Moved                           // another node, or none, is at the place of the source
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

// NoPort stands for the missing input port of a path's first node and the missing output port of the last node.
const NoPort = -1

// Hop is a node of a path.
type Hop struct {
	GUID uint64
	// Node is the index of the node in the earlier fabric, None if the node is not in the fabric.
	Node            fabric.NodeIndex
	Type            mad.NodeType
	In, Out         int  // input and output port, or [NoPort]
	Receives, Sends Link // current links of those ports
}

// Link is the state of a port's link. Width is 0 if the state is unknown.
type Link struct {
	State mad.PortState
	Width mad.LinkWidth
	Speed mad.LinkSpeed
	MTU   mad.MTU
}

// String returns width and speed as text, for example "4xHDR". It returns "" if they are unknown.
func (l Link) String() string {
	if l.Width == 0 {
		return ""
	}
	return l.Width.String() + l.Speed.String()
}

func (l *Link) gbps() float64 {
	p := fabric.Port{Width: fabric.Width(l.Width.Lanes()), Speed: fabric.SpeedOf(l.Speed)}
	return p.Gbps()
}

// Path is a traced path.
type Path struct {
	Pair
	Hops    []Hop
	Verdict Verdict
	Err     error // why a request to a silent node or agent failed
}

// Limits returns the rate of the slowest link of the path in Gbit/s and the smallest MTU. They are 0 if the value of a
// link is unknown, and if the path has no links.
func (p *Path) Limits() (gbps float64, mtu mad.MTU) {
	for i := range len(p.Hops) - 1 {
		out, in := &p.Hops[i].Sends, &p.Hops[i+1].Receives
		rate, size := min(out.gbps(), in.gbps()), min(out.MTU, in.MTU)
		if i == 0 {
			gbps, mtu = rate, size
		}
		gbps, mtu = min(gbps, rate), min(mtu, size)
	}
	return gbps, mtu
}

// Explain returns a sentence about the end of the path. It uses the names in a fabric.
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
		return fmt.Sprintf("the entry of %s for LID %d is port %d, which does not exist", name, p.LID, last.Out)
	case LinkDown:
		return fmt.Sprintf("port %d of %s is in state %v: no packets pass", last.Out, name, last.Sends.State)
	case Loop:
		return fmt.Sprintf("back at %s: the packet loops", name)
	case Misdelivered:
		return fmt.Sprintf("reaches %s, which does not have LID %d", name, p.LID)
	case Moved:
		return fmt.Sprintf("%s is no longer where the last sweep found it; hint: run 'sweep'", f.PortName(p.Src))
	}
	return fmt.Sprintf("unknown from %s on: %v", name, p.Err)
}

// Name returns the name of the hop's node in a fabric. If the fabric does not have the node, it returns the GUID.
func (h *Hop) Name(f *fabric.Fabric) string {
	if h.Node == fabric.None {
		return fmt.Sprintf("0x%016x (new)", h.GUID)
	}
	return f.NodeName(h.Node)
}
