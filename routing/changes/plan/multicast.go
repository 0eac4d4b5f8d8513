// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// multicast plans the writes of the multicast tables. At any time the ports of a group's LID are part of its old tree
// or part of its new tree. Therefore no packet loops or arrives twice, in whatever order the writes of a phase are
// made. If both trees together form a tree, no branch is removed first. O(groups x switches) on all processors.
func (m *maker) multicast(ctx context.Context) error { return m.groups(ctx, false) }

// groups plans the writes of the multicast tables. If the argument apart is set, all trees lose old branches before
// they get new ones.
func (m *maker) groups(ctx context.Context, apart bool) error {
	switch {
	case m.staged.MFT == nil:
		return nil
	case m.live.MFT == nil:
		m.warn("the multicast tables are not written: the multicast tables of the live subnet were not read; " +
			"hint: run 'sweep full mft'")
		return nil
	}
	g := newGroups(m)
	g.apart = apart
	lids := max(m.live.MFT.LIDs(), m.staged.MFT.LIDs())
	blocks := make([][]write.MFTBlock, (lids+mad.MFTBlock-1)/mad.MFTBlock)
	hits := make([][]uint16, len(blocks))
	loops := make([]int, len(blocks))
	err := routing.ForEach(ctx, len(blocks), nil, func(_, i int) { blocks[i], hits[i], loops[i] = g.block(uint16(i)) })
	if err != nil {
		return err
	}
	m.plan.MFTs = slices.Concat(blocks...)
	slices.SortStableFunc(m.plan.MFTs, func(a, b write.MFTBlock) int { return order(a.Grow) - order(b.Grow) })
	m.plan.Hit.Groups = slices.Concat(hits...)
	circles := 0
	for _, n := range loops {
		circles += n
	}
	if circles > 0 && !apart { // otherwise this was said before
		m.warn("multicast groups whose packets loop or arrive twice after the commit: %d", circles)
	}
	return nil
}

func order(grow bool) int {
	if grow {
		return 1
	}
	return 0
}

// groups holds the data that all workers of the multicast plan share.
type groups struct {
	*maker
	stagedOf []fabric.SwitchIndex // by live switch, None for switches that are not written
	apart    bool                 // all trees lose old branches first
}

func newGroups(m *maker) *groups {
	g := &groups{maker: m, stagedOf: slices.Repeat([]fabric.SwitchIndex{fabric.None}, len(m.live.Fabric.Switches))}
	for _, p := range m.pairs {
		g.stagedOf[p.live] = p.staged
	}
	return g
}

// block plans the writes of multicast block num of all switches. It returns the groups that are interrupted during the
// writes, and the number of groups whose packets loop afterwards.
func (g *groups) block(num uint16) (writes []write.MFTBlock, cut []uint16, circle int) {
	apart := uint32(0) // groups that lose branches before they grow
	for i := range uint16(mad.MFTBlock) {
		lid := fabric.FirstMLID + num*mad.MFTBlock + i
		if !g.changes(lid) {
			continue
		}
		old, new := g.side(g.oldPorts, lid), g.side(g.newPorts, lid)
		if new.circles {
			circle++
		}
		if g.apart || g.side(g.anyPorts, lid).circles {
			apart |= 1 << i
			if g.cuts(old, new, g.side(g.bothPorts, lid), lid) {
				cut = append(cut, lid)
			}
		}
	}
	for sw, s := range g.stagedOf {
		if s == fabric.None {
			continue
		}
		for pos := range g.live.Fabric.SwitchNode(fabric.SwitchIndex(sw)).NumPorts/mad.MFTPorts + 1 {
			old, new := g.live.MFT.Block(fabric.SwitchIndex(sw), num, pos), g.staged.MFT.Block(s, num, pos)
			if old == new {
				continue
			}
			less := old
			for i := range less {
				if apart>>i&1 != 0 {
					less[i] &= new[i]
				}
			}
			if less != old {
				writes = append(writes, write.MFTBlock{Switch: fabric.SwitchIndex(sw), Num: num, Position: pos,
					Old: &old, New: &less, Read: num*mad.MFTBlock < uint16(g.live.MFT.LIDs())})
			}
			if new != less {
				writes = append(writes, write.MFTBlock{Switch: fabric.SwitchIndex(sw), Num: num, Position: pos,
					Grow: true, Old: &less, New: &new, Read: num*mad.MFTBlock < uint16(g.live.MFT.LIDs())})
			}
		}
	}
	return writes, cut, circle
}

func (g *groups) oldPorts(sw fabric.SwitchIndex, lid uint16, word int) uint64 {
	return at(g.live.MFT.Ports(sw, lid), word)
}

func (g *groups) newPorts(sw fabric.SwitchIndex, lid uint16, word int) uint64 {
	if s := g.stagedOf[sw]; s != fabric.None {
		return at(g.staged.MFT.Ports(s, lid), word)
	}
	return g.oldPorts(sw, lid, word)
}

func (g *groups) anyPorts(sw fabric.SwitchIndex, lid uint16, word int) uint64 {
	return g.oldPorts(sw, lid, word) | g.newPorts(sw, lid, word)
}

func (g *groups) bothPorts(sw fabric.SwitchIndex, lid uint16, word int) uint64 {
	return g.oldPorts(sw, lid, word) & g.newPorts(sw, lid, word)
}

func at(words []uint64, i int) uint64 {
	if i < len(words) {
		return words[i]
	}
	return 0
}

func (g *groups) words(sw fabric.SwitchIndex) int {
	return int(g.live.Fabric.SwitchNode(sw).NumPorts)/64 + 1
}

func (g *groups) changes(lid uint16) bool {
	for sw := range g.stagedOf {
		for w := range g.words(fabric.SwitchIndex(sw)) {
			if g.oldPorts(fabric.SwitchIndex(sw), lid, w) != g.newPorts(fabric.SwitchIndex(sw), lid, w) {
				return true
			}
		}
	}
	return false
}

// portSet returns the ports of a group at a switch, as word number word of a bit set with 64 ports in each word.
type portSet func(sw fabric.SwitchIndex, lid uint16, word int) uint64

// side describes which switches the links of a group connect. circles is set if these links form a loop.
type side struct {
	circles bool
	joined  routing.UnionFind
}

// side returns which switches the ports of a group connect. It joins the two switches of each link that a packet can
// take in either direction. O(switches).
func (g *groups) side(ports portSet, lid uint16) side {
	f := g.live.Fabric
	s := side{joined: make(routing.UnionFind, len(f.Switches))}
	for i := range s.joined {
		s.joined[i] = fabric.SwitchIndex(i)
	}
	has := func(port fabric.PortIndex) bool {
		p := &f.Ports[port]
		return ports(f.Nodes[p.Node].Switch, lid, int(p.Num)/64)>>(p.Num%64)&1 != 0
	}
	for sw := range f.NumSwitches() {
		first := f.SwitchNode(sw).FirstPort
		for w := range g.words(sw) {
			for set := ports(sw, lid, w); set != 0; set &= set - 1 {
				num := fabric.PortIndex(64*w + bits.TrailingZeros64(set))
				if num == 0 || num > fabric.PortIndex(f.SwitchNode(sw).NumPorts) {
					continue
				}
				port := first + num
				peer := f.Ports[port].Peer
				next := f.PeerSwitch(port)
				if next == fabric.None || has(peer) && peer < port {
					continue // a host, or counted from the other end
				}
				s.circles = !s.joined.Join(sw, next) || s.circles
			}
		}
	}
	return s
}

// cuts reports whether members of a group lose one another during the commit although they reach one another before and
// after it. The argument both is the connection by the ports that are in the old and the new tree.
func (g *groups) cuts(old, new, both side, lid uint16) bool {
	f := g.live.Fabric
	type classes struct{ old, new fabric.SwitchIndex }
	seen := map[classes]fabric.SwitchIndex{}
	for sw := range f.NumSwitches() {
		if !g.member(sw, lid) {
			continue
		}
		c, now := classes{old.joined.Root(sw), new.joined.Root(sw)}, both.joined.Root(sw)
		if first, ok := seen[c]; ok && first != now {
			return true
		}
		seen[c] = now
	}
	return false
}

// member reports whether a host at the switch, or the switch itself, receives the group before and after the commit.
func (g *groups) member(sw fabric.SwitchIndex, lid uint16) bool {
	f := g.live.Fabric
	n := f.SwitchNode(sw)
	for w := range g.words(sw) {
		for set := g.bothPorts(sw, lid, w); set != 0; set &= set - 1 {
			num := fabric.PortIndex(64*w + bits.TrailingZeros64(set))
			if num <= fabric.PortIndex(n.NumPorts) && f.PeerSwitch(n.FirstPort+num) == fabric.None {
				return true
			}
		}
	}
	return false
}

// multicastAfter returns the multicast tables after the commit.
func (p *Plan) multicastAfter(live *fabric.Tables) *fabric.MFT {
	if live.MFT == nil || len(p.MFTs) == 0 {
		return live.MFT
	}
	top := live.MFT.Top
	for i := range p.MFTs {
		if b := &p.MFTs[i]; *b.New != (mad.MulticastForwardingTable{}) {
			top = max(top, b.FirstLID()+mad.MFTBlock-1)
		}
	}
	t := fabric.NewMFT(live.Fabric, top)
	for sw := range live.Fabric.NumSwitches() {
		for i := range live.MFT.LIDs() {
			copy(t.Ports(sw, uint16(fabric.FirstMLID+i)), live.MFT.Ports(sw, uint16(fabric.FirstMLID+i)))
		}
	}
	for i := range p.MFTs {
		b := &p.MFTs[i]
		for k, ports := range b.New {
			words := t.Ports(b.Switch, b.FirstLID()+uint16(k))
			if w, shift := int(b.Position)/4, b.Position%4*mad.MFTPorts; w < len(words) {
				words[w] = words[w]&^(0xffff<<shift) | uint64(ports)<<shift
			}
		}
	}
	return t
}
