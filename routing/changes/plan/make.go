// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/diff"
)

type maker struct {
	live, staged *fabric.Tables
	plan         *Plan
	// pairs lists the switches to write, in the order of their live index.
	pairs []pair
	// down counts the links of the staged subnet that the live subnet does not have.
	down int
}

// unreadBlock is the content of a block that was not read: 64 times NoPath.
var unreadBlock = func() *[fabric.BlockSize]uint8 {
	var b [fabric.BlockSize]uint8
	for i := range b {
		b[i] = fabric.NoPath
	}
	return &b
}()

func named(f *fabric.Fabric, node fabric.NodeIndex) Node {
	return Node{f.NodeName(node), diff.GUID(f.Nodes[node].GUID), f.Nodes[node].IsSwitch()}
}

// cutOff lists the nodes of the live subnet that are not in the staged subnet.
func (m *maker) cutOff(context.Context) error {
	for i := range m.live.Fabric.NumNodes() {
		n := &m.live.Fabric.Nodes[i]
		if !n.InSubnet {
			continue
		}
		if s := m.staged.Fabric.NodeByGUID(n.GUID); s == fabric.None || !m.staged.Fabric.Nodes[s].InSubnet {
			m.plan.Unreachable = append(m.plan.Unreachable, named(m.live.Fabric, i))
		}
	}
	return nil
}

// lids plans the LID changes of the end ports that both subnets have.
func (m *maker) lids(context.Context) error {
	live, staged := m.live.Fabric, m.staged.Fabric
	missing := 0
	for _, e := range live.EndPorts {
		s := staged.PortByGUID(live.Ports[e].GUID)
		if s == fabric.None {
			continue
		}
		p, q := &live.Ports[e], &staged.Ports[s]
		l := write.LID{Port: e, Old: p.LID, New: q.LID, OldSM: p.SMLID, NewSM: q.SMLID, OldLMC: p.LMC, NewLMC: q.LMC}
		if l.New == 0 {
			continue
		}
		if l.NewSM == 0 {
			l.NewSM = l.OldSM
		}
		if l.Old == l.New && l.OldSM == l.NewSM && l.OldLMC == l.NewLMC {
			continue
		}
		if err := m.checkFree(l); err != nil {
			return err
		}
		m.plan.LIDs = append(m.plan.LIDs, l)
	}
	for _, s := range staged.EndPorts {
		if live.PortByGUID(staged.Ports[s].GUID) == fabric.None && !staged.Nodes[staged.Ports[s].Node].IsSwitch() {
			missing++
		}
	}
	if missing > 0 {
		m.warn("end ports of the staged subnet that are not in the live one: %d", missing)
	}
	return nil
}

// checkFree returns an error if a LID to assign belongs to a live port that the staged fabric lacks, because that port
// keeps its LID.
func (m *maker) checkFree(l write.LID) error {
	live := m.live.Fabric
	for i := range 1 << l.NewLMC {
		owner := live.PortByLID(l.New + uint16(i))
		if owner != fabric.None && m.staged.Fabric.PortByGUID(live.Ports[owner].GUID) == fabric.None {
			return fmt.Errorf("%w: LID %d is assigned to %s, but %s holds it, and the staged tables do not "+
				"route to that port",
				ErrLIDTaken, int(l.New)+i, live.PortName(l.Port), live.PortName(owner))
		}
	}
	return nil
}

func (m *maker) warn(format string, args ...any) {
	m.plan.Warnings = append(m.plan.Warnings, fmt.Sprintf(format, args...))
}

// pair is a switch to write: its index in the live and in the staged fabric.
type pair struct{ live, staged fabric.SwitchIndex }

// tables plans LinearFDBTops and blocks.
func (m *maker) tables(ctx context.Context) error {
	var err error
	if m.pairs, err = m.switches(); err != nil {
		return err
	}
	sums := make([]Switch, len(m.live.Fabric.Switches))
	var byNum [][]int32
	for i, p := range m.pairs {
		sum := &sums[p.live]
		sum.Switch = p.live
		top := m.staged.Top[p.staged]
		if old := m.live.Top[p.live]; old != top {
			sum.Top = true
			sum.Entries += m.dropped(p)
			m.plan.Tops = append(m.plan.Tops, write.Top{Switch: p.live, Old: old, New: top})
		}
		for b := range int(top)/fabric.BlockSize + 1 {
			if m.equal(p, b) {
				continue
			}
			if m.mustWrite(p, b) {
				byNum = append(byNum, make([][]int32, max(0, b+1-len(byNum)))...)
				byNum[b] = append(byNum[b], int32(i))
			}
			sum.Entries += m.entries(p, b)
		}
	}
	if err := m.blocks(ctx, byNum); err != nil {
		return err
	}
	for _, b := range m.plan.Blocks {
		sums[b.Switch].Blocks++
	}
	for _, s := range sums {
		if s.Top || s.Blocks > 0 {
			m.plan.Switches = append(m.plan.Switches, s)
		}
	}
	return nil
}

// equal reports whether block b has equal entries in both states. The block must lie within both LinearFDBTops.
func (m *maker) equal(p pair, b int) bool {
	last := (b+1)*fabric.BlockSize - 1
	return last <= int(m.live.Top[p.live]) && last <= int(m.staged.Top[p.staged]) &&
		bytes.Equal(m.oldBlock(p.live, b)[:], m.newBlock(p.staged, b)[:])
}

// switches returns the switches to write, in the order of their live index.
func (m *maker) switches() ([]pair, error) {
	live, staged := m.live.Fabric, m.staged.Fabric
	for s := range staged.NumSwitches() {
		n := staged.SwitchNode(s)
		if !n.InSubnet {
			continue
		}
		if l := live.SwitchByGUID(n.GUID); l == fabric.None || !live.SwitchNode(l).InSubnet {
			return nil, fmt.Errorf("%w: switch %s is not in it", ErrStale, staged.NodeName(staged.Switches[s]))
		}
	}
	var pairs []pair
	for l, n := range live.Switches {
		s := staged.SwitchByGUID(live.Nodes[n].GUID)
		switch {
		case s == fabric.None || !staged.SwitchNode(s).InSubnet:
		case !m.staged.Known[s]:
			m.plan.Kept = append(m.plan.Kept, named(live, n))
		case !m.live.Known[l]:
			m.plan.Unread = append(m.plan.Unread, named(live, n))
		default:
			pairs = append(pairs, pair{fabric.SwitchIndex(l), s})
		}
	}
	return pairs, nil
}

// mustWrite reports whether block b of a switch must be written. The block must have LIDs up to the new LinearFDBTop,
// and the live entry of one of these LIDs must differ. Entries of a block above the old LinearFDBTop are unknown and
// count as different.
func (m *maker) mustWrite(p pair, b int) bool {
	first, top := b*fabric.BlockSize, int(m.staged.Top[p.staged])
	if first > top {
		return false
	}
	if b > int(m.live.Top[p.live])/fabric.BlockSize || b >= m.live.LFT.Blocks() {
		return true
	}
	from := max(first, 1) // an entry for LID 0 means nothing
	to := min(first+fabric.BlockSize, top+1)
	old := m.live.LFT.Row(p.live)[from:max(from, to)]
	for i, port := range old {
		if port != m.staged.LFT.Port(p.staged, uint16(from+i)) {
			return true
		}
	}
	return false
}

func (m *maker) oldBlock(sw fabric.SwitchIndex, b int) *[fabric.BlockSize]uint8 {
	if b > int(m.live.Top[sw])/fabric.BlockSize || b >= m.live.LFT.Blocks() {
		return unreadBlock
	}
	return (*[fabric.BlockSize]uint8)(m.live.LFT.Block(sw, b))
}

func (m *maker) newBlock(sw fabric.SwitchIndex, b int) *[fabric.BlockSize]uint8 {
	if b >= m.staged.LFT.Blocks() {
		return unreadBlock
	}
	return (*[fabric.BlockSize]uint8)(m.staged.LFT.Block(sw, b))
}

// entries counts the entries of a block that change their egress port, up to the new LinearFDBTop.
func (m *maker) entries(p pair, b int) int {
	first, top := b*fabric.BlockSize, int(m.staged.Top[p.staged])
	return m.changes(p, max(first, 1), min(first+fabric.BlockSize-1, top))
}

// dropped counts the entries with an egress port that a lower LinearFDBTop removes.
func (m *maker) dropped(p pair) int {
	return m.changes(p, int(m.staged.Top[p.staged])+1, int(m.live.Top[p.live]))
}

func (m *maker) changes(p pair, from, to int) int {
	n := 0
	for lid := from; lid <= to; lid++ {
		if m.live.Port(p.live, uint16(lid)) != m.staged.Port(p.staged, uint16(lid)) {
			n++
		}
	}
	return n
}

// states plans to bring up ports of links of the staged subnet that are not up. If both ends of such a link are down,
// it lists both.
func (m *maker) states(context.Context) error {
	live, staged := m.live.Fabric, m.staged.Fabric
	for i := range live.NumPorts() {
		p := &live.Ports[i]
		if (p.State != mad.PortInit && p.State != mad.PortArmed) || !live.Discovered(i) {
			continue
		}
		if s := m.stagedPort(i); s != fabric.None && staged.Discovered(s) {
			m.plan.States = append(m.plan.States, write.State{Port: i, Old: p.State, New: mad.PortActive})
		}
	}
	return nil
}

// stagedPort returns the index of a live port in the staged fabric, or None.
func (m *maker) stagedPort(port fabric.PortIndex) fabric.PortIndex {
	p := &m.live.Fabric.Ports[port]
	n := m.staged.Fabric.NodeByGUID(m.live.Fabric.Nodes[p.Node].GUID)
	if n == fabric.None {
		return fabric.None
	}
	return m.staged.Fabric.PortAt(n, int(p.Num))
}

// links warns of links that the staged tables may use and the live subnet lacks.
func (m *maker) links(context.Context) error {
	up := make(map[fabric.Link]bool)
	live := m.live.Fabric
	for _, l := range live.Links() {
		a, b := m.stagedPort(l.A), m.stagedPort(l.B)
		up[fabric.Link{A: min(a, b), B: max(a, b)}] = true
	}
	down := 0
	for _, l := range m.staged.Fabric.Links() {
		if m.staged.Fabric.Discovered(l.A) && !up[l] {
			down++
		}
	}
	if down > 0 {
		m.warn("links that only the staged subnet has: %d", down)
	}
	m.down = down
	return nil
}
