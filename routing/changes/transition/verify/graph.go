// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/components"
)

// graph holds dependencies. Channel number port*vls+vl is a VL of the link that leaves by a port.
type graph struct {
	v    *verifier
	rows [][]uint64 // by channel: bit port*vls+vl of the next switch for each channel on which it depends
}

func newGraph(v *verifier) *graph { return &graph{v, make([][]uint64, len(v.f.Ports)*v.vls)} }

// base returns the number of the first channel of the switch to which a channel leads.
func (g *graph) base(c int32) int32 {
	s := g.v.to[int(c)/g.v.vls]
	return int32(g.v.f.SwitchNode(s).FirstPort) * int32(g.v.vls)
}

func (g *graph) add(from, to int32) {
	bit := to - g.base(from)
	row := g.rows[from]
	if row == nil {
		ports := int(g.v.f.SwitchNode(g.v.to[int(from)/g.v.vls]).NumPorts) + 1
		row = make([]uint64, ports*g.v.vls/64+1)
		g.rows[from] = row
	}
	row[bit>>6] |= 1 << (bit & 63)
}

func (g *graph) join(o *graph) {
	for c, row := range o.rows {
		if g.rows[c] == nil {
			g.rows[c] = row
			continue
		}
		for i, word := range row {
			g.rows[c][i] |= word
		}
	}
}

func (g *graph) has(from, to int32) bool {
	bit := to - g.base(from)
	return g.rows[from] != nil && g.rows[from][bit>>6]>>(bit&63)&1 != 0
}

func (g *graph) next(c int32) (all []int32) {
	for i, word := range g.rows[c] {
		for ; word != 0; word &= word - 1 {
			all = append(all, g.base(c)+int32(i<<6+bits.TrailingZeros64(word)))
		}
	}
	return all
}

// mixedRing returns the number of channels that wait for one another by dependencies of which neither the old nor the
// new tables have all, 0 if there are none. It takes each group of channels that reach one another as a ring.
func (v *verifier) mixedRing(g, old, new *graph) int {
	part, count := components.Of(len(g.rows), nil, g.next)
	const notOld, notNew = 1, 2
	foreign, size := make([]uint8, count), make([]int, count)
	for c, p := range part {
		size[p]++
		for _, to := range g.next(int32(c)) {
			if part[to] != p {
				continue
			}
			if !old.has(int32(c), to) {
				foreign[p] |= notOld
			}
			if !new.has(int32(c), to) {
				foreign[p] |= notNew
			}
		}
	}
	for p, f := range foreign {
		if f == notOld|notNew {
			return size[p]
		}
	}
	return 0
}

// multicast adds the dependencies of the packets of a group. While all changes are in force, a packet that took a new
// branch meets no old one, because old branches are removed first. Where the branches of both trees together have no
// cycle, they change in any order. Between the removal of branches and the addition of others, only branches of both
// tables are left.
func (x *follower) multicast(first, second *fabric.MFT, mlid uint16) {
	free, common := first != second && !x.hasCycle(first, second, mlid), false
	switch w := x.w; {
	case w.alone > 0:
	case w.last < x.cut, w.last < x.grow && w.first <= x.cut:
		second = first
	case w.last < x.grow:
		common = true
	case w.first > x.cut:
		first = second
	}
	always := span{first: int32(x.w.first), last: int32(x.w.last)}
	for _, sl := range x.groupSLs(mlid) {
		// 0: the packet met only old branches, 1: also new ones
		branch := func(in fabric.PortIndex, era int32, reach func(c, era int32)) {
			s, own := x.f.Nodes[x.f.Ports[in].Node].Switch, int(x.f.Ports[in].Num)
			for i, t := range [2]*fabric.MFT{first, second} {
				if i == 0 && era == 1 && !free {
					continue
				}
				for out := range t.Each(s, mlid) {
					if out == own || out > 255 || common && !(first.Has(s, mlid, uint8(out)) &&
						second.Has(s, mlid, uint8(out))) {
						continue
					}
					x.leave(in, uint8(out), sl, always, func(c, _ int32) { reach(c, max(era, int32(i))) })
				}
			}
		}
		for s := range x.f.NumSwitches() {
			if first.Has(s, mlid, 0) || second.Has(s, mlid, 0) {
				branch(x.f.SwitchNode(s).FirstPort, 0, x.come)
			}
		}
		for _, src := range x.hosts {
			branch(src.at, 0, x.come)
		}
		x.spread(branch)
	}
}

// groupSLs returns the SLs that packets of a group may have, one if the SL makes no difference.
func (x *follower) groupSLs(mlid uint16) []uint8 {
	switch {
	case x.vls == 1 || x.opt.GroupSL != nil && x.opt.GroupSL(mlid) == fabric.NoSL:
		return x.sls()
	case x.opt.GroupSL == nil:
		return []uint8{0}
	}
	return []uint8{x.opt.GroupSL(mlid) & 0xf}
}

// hasCycle reports whether the branches of two trees between switches have a cycle.
func (x *follower) hasCycle(first, second *fabric.MFT, mlid uint16) bool {
	next := make([][]fabric.SwitchIndex, len(x.f.Switches))
	seen := map[fabric.PortIndex]bool{}
	for s, node := range x.f.Switches {
		for _, t := range [2]*fabric.MFT{first, second} {
			for out := range t.Each(fabric.SwitchIndex(s), mlid) {
				port := x.f.PortAt(node, out)
				if port == fabric.None || out == 0 || x.to[port] == fabric.None || seen[port] {
					continue
				}
				seen[port], seen[x.peer[port]] = true, true
				next[s] = append(next[s], x.to[port])
				next[x.to[port]] = append(next[x.to[port]], fabric.SwitchIndex(s))
			}
		}
	}
	done := make([]bool, len(next))
	for s := range next { // a connected part without a cycle has one link less than switches
		if done[s] {
			continue
		}
		done[s] = true
		part, links := []fabric.SwitchIndex{fabric.SwitchIndex(s)}, 0
		for i := 0; i < len(part); i++ {
			links += len(next[part[i]])
			for _, to := range next[part[i]] {
				if !done[to] {
					done[to] = true
					part = append(part, to)
				}
			}
		}
		if links/2 >= len(part) {
			return true
		}
	}
	return false
}
