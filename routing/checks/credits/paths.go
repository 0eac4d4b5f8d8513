// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// worker collects dependencies for one goroutine.
type worker struct {
	*checker
	*graph
	// vlsAt holds, for each SL and switch, the set of VLs of packets on the link by which the switch forwards them.
	vlsAt [16][]uint16
	// sent is the set of SLs of the packets to the current destination.
	sent uint16
	// firstVLs is indexed by group and port: the set of VLs of packets of SL 0 that leave their first switch by the
	// port. A set is 0 if it is not known yet.
	firstVLs [][]uint16
	// seen marks the channels of the current multicast group. todo lists the channels from which the search must
	// continue.
	seen []bool
	todo []int32
	// chooser is used for tables of switches that route adaptively.
	chooser *chooser
}

func newWorker(c *checker) *worker {
	return &worker{checker: c, graph: newGraph(c.f, c.vls()), firstVLs: make([][]uint16, len(c.ends.Groups))}
}

// tree adds the paths to one LID.
func (w *worker) tree(t *trees.Tree) {
	w.sent = 0
	for g := range w.ends.Groups {
		at := w.ends.Groups[g].At
		if t.Fates[g] == walk.Unvisited || at < 0 {
			continue
		}
		out := t.Entry(at)
		if out == 0 || t.Next(at) < 0 {
			continue // its packets use no channel between switches
		}
		if w.sls == nil && w.ends.GroupOf[t.End] != int32(g) {
			w.enter(at, 0, w.first(g, out))
			continue
		}
		for _, end := range w.ends.Groups[g].Ends {
			if end != t.End {
				w.enterEnd(end, at, out, t.LID.LID)
			}
		}
	}
	for sl := range uint8(16) {
		if w.sent>>sl&1 != 0 {
			w.pass(t, sl)
		}
	}
}

// enter adds VLs to the VLs of packets on the link by which a switch forwards packets.
func (w *worker) enter(at fabric.SwitchIndex, sl uint8, vls uint16) {
	if vls == 0 {
		return
	}
	if w.vlsAt[sl] == nil {
		w.vlsAt[sl] = make([]uint16, len(w.checker.f.Switches))
	}
	w.vlsAt[sl][at] |= vls
	w.sent |= 1 << sl
}

// first returns the VLs of the packets of all ends of a group when they leave their first switch by a port.
func (w *worker) first(g int, out uint8) uint16 {
	if w.firstVLs[g] == nil {
		w.firstVLs[g] = make([]uint16, 256)
	}
	if vls := w.firstVLs[g][out]; vls != 0 {
		return vls
	}
	vls := uint16(0)
	for _, end := range w.ends.Groups[g].Ends {
		vls |= w.vlsOf(w.ends.Groups[g].At, w.ins[end], out, 0)
	}
	w.firstVLs[g][out] = vls
	return vls
}

func (w *worker) enterEnd(end int32, at fabric.SwitchIndex, out uint8, dlid uint16) {
	for sl := range w.slsOf(end, dlid) {
		w.enter(at, sl, w.vlsOf(at, w.ins[end], out, sl))
	}
}

// slsOf iterates over the SLs that packets from an end to a LID may have, for each LID of the end as source. An SL may
// occur more than once.
func (c *checker) slsOf(end int32, dlid uint16) func(yield func(sl uint8) bool) {
	return func(yield func(sl uint8) bool) {
		if c.sls == nil {
			yield(0)
			return
		}
		p := &c.f.Ports[c.ends.Ports[end]]
		for slid := int(p.LID); slid < int(p.LID)+1<<p.LMC; slid++ {
			sls := fabric.RangeOf(c.sls, uint16(slid), dlid)
			for i := range sls.N {
				if sl := sls.First + i; sls.First != fabric.NoSL && !yield(sl&0xf) {
					return
				}
			}
		}
	}
}

// pass moves the packets of one SL along a tree towards its root. Without loops, one round suffices, because each
// switch is visited after all switches that send to it. With loops, pass repeats rounds until no switch gets a new VL.
func (w *worker) pass(t *trees.Tree, sl uint8) {
	lost := slices.Contains(t.Fates, walk.Lost)
	for again := true; again; {
		again = w.round(t, sl) && lost
	}
	for _, sw := range t.Order {
		w.vlsAt[sl][sw] = 0
	}
}

// round forwards the packets of each switch over one link. It reports whether packets reached a new VL.
func (w *worker) round(t *trees.Tree, sl uint8) (grew bool) {
	vls := w.vlsAt[sl]
	for _, sw := range slices.Backward(t.Order) {
		if next := t.Next(sw); vls[sw] != 0 && next >= 0 {
			before := vls[next]
			w.hop(t, sw, next, sl)
			grew = grew || vls[next] != before
		}
	}
	return grew
}

// hop forwards the packets of switch sw over its link, and adds them to the link by which the next switch forwards
// them.
func (w *worker) hop(t *trees.Tree, sw, next fabric.SwitchIndex, sl uint8) {
	f := w.checker.f
	port := f.SwitchNode(sw).FirstPort + fabric.PortIndex(t.Entry(sw))
	in, out := f.Ports[f.Ports[port].Peer].Num, t.Entry(next)
	onward := out != 0 && t.Next(next) >= 0
	vls, onto := w.vlsAt[sl], uint16(0)
	if onward {
		onto = w.vlsOf(next, in, out, sl)
		vls[next] |= onto
	}
	for set := vls[sw] &^ uncertain; set != 0; set &= set - 1 {
		from := w.number(port, uint8(bits.TrailingZeros16(set)))
		w.used[from] = true
		w.dependAll(from, next, out, onto&^uncertain)
	}
}

// group adds the dependencies of the packets of a multicast group. Every host may send such packets, member or not.
// Switches send them only if they are members.
func (w *worker) group(mlid uint16) {
	if w.seen == nil {
		w.seen = make([]bool, len(w.used))
	}
	for _, sl := range w.groupSLs(mlid) {
		w.groupBy(mlid, sl)
	}
}

// groupBy is group for packets of one SL.
func (w *worker) groupBy(mlid uint16, sl uint8) {
	f, m := w.checker.f, w.ends.Tables.MFT
	var all []int32
	for sw, n := range f.Switches {
		node := &f.Nodes[n]
		if !node.InSubnet || !slices.ContainsFunc(m.Ports(fabric.SwitchIndex(sw), mlid), func(b uint64) bool {
			return b != 0
		}) {
			continue
		}
		for in := range fabric.PortIndex(node.NumPorts) + 1 {
			if w.sends(fabric.SwitchIndex(sw), mlid, in) {
				all = w.spread(flood{mlid, sl}, fabric.SwitchIndex(sw), uint8(in), all)
			}
		}
	}
	for _, c := range all {
		w.seen[c] = false
	}
}

// sends reports whether packets to a multicast group can originate at a port of a switch: from the host linked to it,
// or from port 0.
func (c *checker) sends(sw fabric.SwitchIndex, mlid uint16, in fabric.PortIndex) bool {
	if in == 0 {
		return c.ends.Tables.MFT.Has(sw, mlid, 0)
	}
	port := c.f.SwitchNode(sw).FirstPort + in
	return c.f.Ports[port].Linked() && c.f.PeerSwitch(port) == fabric.None
}

// flood identifies the packets of a multicast group with one SL. The SL is fabric.NoSL if it may be any SL.
type flood struct {
	mlid uint16
	sl   uint8
}

// spread finds all channels that a packet can reach after it entered a switch through port in. It appends the new
// channels to the argument all, and returns the result.
func (w *worker) spread(to flood, sw fabric.SwitchIndex, in uint8, all []int32) []int32 {
	all = w.fork(to, sw, in, fabric.None, all)
	for len(w.todo) > 0 {
		c := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		peer := w.checker.f.Ports[w.checker.f.Ports[c/int32(w.graph.vls)].Peer]
		all = w.fork(to, w.checker.f.Nodes[peer.Node].Switch, peer.Num, c, all)
	}
	return all
}

// fork forwards a packet by all ports of its multicast group except the port by which it arrived.
func (w *worker) fork(to flood, sw fabric.SwitchIndex, in uint8, from int32, all []int32) []int32 {
	node := w.checker.f.SwitchNode(sw)
	for word, set := range w.ends.Tables.MFT.Ports(sw, to.mlid) {
		for ; set != 0; set &= set - 1 {
			out := word*64 + bits.TrailingZeros64(set)
			if out == 0 || out == int(in) || out > int(node.NumPorts) {
				continue
			}
			port := node.FirstPort + fabric.PortIndex(out)
			vls := w.vlsOf(sw, in, uint8(out), to.sl) &^ uncertain
			if vls == 0 || w.checker.f.PeerSwitch(port) == fabric.None {
				continue
			}
			if from != fabric.None {
				w.dependAll(from, sw, uint8(out), vls)
			}
			for ; vls != 0; vls &= vls - 1 {
				if c := w.number(port, uint8(bits.TrailingZeros16(vls))); !w.seen[c] {
					w.seen[c], w.used[c] = true, true
					all, w.todo = append(all, c), append(w.todo, c)
				}
			}
		}
	}
	return all
}

func (c *checker) groupSL(mlid uint16) uint8 {
	if c.opt.GroupSL == nil {
		return 0
	}
	if sl := c.opt.GroupSL(mlid); sl != fabric.NoSL {
		return sl & 0xf
	}
	return fabric.NoSL
}

// groupSLs returns the SLs that packets of a multicast group may have. It returns one SL if the SL makes no difference.
func (c *checker) groupSLs(mlid uint16) []uint8 {
	sl := c.groupSL(mlid)
	if sl != fabric.NoSL || c.sl2vl == nil || c.certain || c.certainGroups {
		return []uint8{sl}
	}
	return []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
}
