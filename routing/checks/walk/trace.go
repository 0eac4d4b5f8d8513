// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Path is the path of packets from an end port to a LID.
type Path struct {
	// Src is the source end port. Dst is the owner of the LID, or None.
	Src, Dst fabric.PortIndex
	DstLID   uint16
	// Hops lists the nodes on the path, starting with the source. If the path loops, the last hop is the switch to
	// which the path returns.
	Hops    []Hop
	Verdict Verdict
	// Cause is the reason of a dead end.
	Cause Cause
	// Closes is the index of the hop to which a loop returns, or -1 if the path does not loop.
	Closes int
	// Entry is the table entry of the last switch. It is NoPath if the switch has no entry or the path has no switch.
	Entry uint8
}

// Hop is one node of a path.
type Hop struct {
	Node fabric.NodeIndex
	// In is the port by which the path enters the node, or None at the source.
	In fabric.PortIndex
	// Out is the port by which the path leaves the node. It is None if the path ends at the node or the switch has no
	// such port. If the path ends because the port has no link, Out is this port.
	Out fabric.PortIndex
	// LID is the LID of the node's end port on this path, or 0.
	LID uint16
}

// Trace follows the packets of an end port to a LID. Packets that a switch sends start in its own table. If src owns
// the LID, the path is empty; if src belongs to a switch, its table must also keep the LID at port 0. There is no path
// from a port that is not in the subnet or has no LID. O(hops^2).
func Trace(t *fabric.Tables, src fabric.PortIndex, dstLID uint16) Path {
	f := t.Fabric
	p := Path{
		Src: src, Dst: f.PortByLID(dstLID), DstLID: dstLID, Closes: -1, Entry: fabric.NoPath, Hops: make([]Hop, 0, 8),
	}
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

// Between is like [Trace], to a LID of the end port dst. There is no path if dst has no LID, that is, if lid is 0.
// There is no path if dst is unreachable either, even if another port has its LID now.
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

// silence returns the reason why an end port cannot send: [Unreachable] or [NoLID]. It returns 0 if the end port can
// send.
func silence(f *fabric.Fabric, src fabric.PortIndex) Cause {
	switch {
	case !f.Reachable(src):
		return Unreachable
	case f.Ports[src].LID == 0:
		return NoLID
	}
	return 0
}

// add appends the node of a port to the path. The argument in is the port by which the path enters the node, or None.
func (p *Path) add(f *fabric.Fabric, in, port fabric.PortIndex) {
	p.Hops = append(p.Hops, Hop{Node: f.Ports[port].Node, In: in, Out: fabric.None, LID: f.LIDOf(f.EndPortOf(port))})
}

// leaveHost moves the path over the link of its source, which is not a switch. It returns the switch at the other end,
// or None if the path has ended.
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

// Links returns the number of links of the path.
func (p *Path) Links() int { return len(p.Hops) - 1 }

// Limits returns the rate of the slowest link of the path in Gbit/s and the smallest MTU. They are 0 if the value of a
// link is unknown, and if the path has no links.
func (p *Path) Limits(f *fabric.Fabric) (gbps float64, mtu mad.MTU) {
	for i := range p.Links() {
		out, in := &f.Ports[p.Hops[i].Out], &f.Ports[p.Hops[i+1].In]
		rate, size := min(out.Gbps(), in.Gbps()), mad.MTU(min(out.MTU, in.MTU))
		if i == 0 {
			gbps, mtu = rate, size
		}
		gbps, mtu = min(gbps, rate), min(mtu, size)
	}
	return gbps, mtu
}

// Switches returns the number of different switches on the path.
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

// Explain returns one line about the end of the path, with escaped names.
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
		if f.Ports[last.Out].State > mad.PortDown { // the sweep did not read the other end
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

// TraceAll follows the packets of an end port to all LIDs of another end port, in ascending order of LIDs.
func TraceAll(t *fabric.Tables, src, dst fabric.PortIndex) []Path {
	lid := t.Fabric.LIDOf(dst)
	if lid == 0 {
		return nil
	}
	var out []Path
	for i := range uint16(1) << t.Fabric.Ports[dst].LMC {
		out = append(out, Between(t, src, dst, lid+i))
	}
	return out
}

// Shared counts, for each hop of p, the given paths that leave the same node by the same port. All paths must belong to
// one fabric.
func (p *Path) Shared(all []Path) []int {
	out := make([]int, len(p.Hops))
	for i, h := range p.Hops {
		for j := range all {
			if slices.ContainsFunc(all[j].Hops, func(x Hop) bool { return x.Node == h.Node && x.Out == h.Out }) {
				out[i]++
			}
		}
	}
	return out
}

// Common counts the links that two paths of one fabric use in the same direction.
func (p *Path) Common(other *Path) int {
	n := 0
	for _, h := range p.Hops[:p.Links()] {
		if slices.ContainsFunc(other.Hops[:other.Links()], func(x Hop) bool {
			return x.Node == h.Node && x.Out == h.Out
		}) {
			n++
		}
	}
	return n
}

// NoVL stands for a VL that was not read. It also stands at a hop where the packet is not forwarded.
const NoVL uint8 = 0xff

// VLs returns the VL at each hop of the path for packets with an SL. The list ends where the packets are dropped.
func (p *Path) VLs(t *fabric.Tables, sl uint8) []uint8 {
	out := make([]uint8, len(p.Hops))
	dropped := false
	for i := range p.Hops {
		out[i] = NoVL
		if !dropped {
			out[i] = p.Hops[i].vl(t, sl)
			dropped = out[i] == fabric.DropVL
		}
	}
	return out
}

func (h *Hop) vl(t *fabric.Tables, sl uint8) uint8 {
	if h.Out == fabric.None || t.Fabric.Ports[h.Out].Num == 0 {
		return NoVL
	}
	in, out := uint8(0), t.Fabric.Ports[h.Out].Num
	if h.In != fabric.None {
		in = t.Fabric.Ports[h.In].Num
	}
	switch {
	case t.SL2VL == nil && !t.Unread.SL2VL:
		return 0
	case t.SL2VL == nil, t.Unread.SL2VL && !t.SL2VL.Has(h.Node, in, out):
		return NoVL
	}
	return t.SL2VL.VL(h.Node, in, out, sl)
}
