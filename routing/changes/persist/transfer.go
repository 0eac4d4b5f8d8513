// SPDX-License-Identifier: Apache-2.0

package persist

import (
	"example.org/ibconsole/fabric"
)

// Transfer returns tables of another subnet as tables of f, in spite of changes between the two. Rows go to switches by
// GUID, entries to the present LIDs of ports by GUID. A switch that did not exist is unread, and a port that did not
// exist has no route. O(switches x LIDs).
func Transfer(f *fabric.Fabric, t *fabric.Tables) *fabric.Tables {
	was := t.Fabric
	from, moved := lidsFrom(f, was, max(f.MaxLID, t.LFT.MaxLID))
	out := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), uint16(len(from)-1)), t.Origin)
	for s := range f.NumSwitches() {
		old := was.SwitchByGUID(f.SwitchNode(s).GUID)
		if out.Known[s] = out.Known[s] && old != fabric.None && t.Known[old]; !out.Known[s] {
			continue
		}
		out.Top[s] = max(t.Top[old], f.MaxLID)
		row := out.LFT.Row(s)
		for lid, o := range from {
			row[lid] = fabric.NoPath
			if o != 0 && o <= t.LFT.MaxLID {
				row[lid] = t.Port(old, o)
			}
		}
	}
	nodes := nodesFrom(f, was)
	if t.SL2VL != nil {
		out.SL2VL = t.SL2VL.On(f, nodes)
	}
	out.Unread = t.Unread
	if out.SLs = t.SLs; t.SLs != nil && moved {
		out.SLs = movedSLs{t.SLs, from}
	}
	out.MFT = transferMFT(f, t, nodes)
	return out
}

// nodesFrom returns each node's index in another fabric, or None if that has no such node of the same type and size.
func nodesFrom(f, was *fabric.Fabric) []fabric.NodeIndex {
	nodes := make([]fabric.NodeIndex, len(f.Nodes))
	for i := range f.Nodes {
		nodes[i] = was.NodeByGUID(f.Nodes[i].GUID)
		if o := nodes[i]; o != fabric.None && (was.Nodes[o].NumPorts != f.Nodes[i].NumPorts ||
			was.Nodes[o].Type != f.Nodes[i].Type) {
			nodes[i] = fabric.None
		}
	}
	return nodes
}

// lidsFrom returns, by LID up to the highest, the old LID of its port, 0 for none, and whether any of them has changed.
// LIDs without a port stay the same.
func lidsFrom(f, was *fabric.Fabric, highest uint16) (from []uint16, moved bool) {
	from = make([]uint16, int(highest)+1)
	for lid := range from {
		from[lid] = uint16(lid)
	}
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		if p.LID == 0 {
			continue
		}
		o := was.PortByGUID(p.GUID)
		for k := range uint16(1) << p.LMC {
			old := uint16(0)
			if o != fabric.None && was.Ports[o].LID != 0 {
				old = was.Ports[o].LID + k&(1<<was.Ports[o].LMC-1)
			}
			moved = moved || old != p.LID+k
			from[p.LID+k] = old
		}
	}
	return from, moved
}

// movedSLs holds the SLs of paths whose end ports had other LIDs.
type movedSLs struct {
	sls  fabric.PathSLs
	from []uint16
}

// SL implements [fabric.PathSLs].
func (m movedSLs) SL(src, dst uint16) uint8 {
	if int(src) >= len(m.from) || int(dst) >= len(m.from) {
		return 0
	}
	return m.sls.SL(m.from[src], m.from[dst])
}

func transferMFT(f *fabric.Fabric, t *fabric.Tables, from []fabric.NodeIndex) *fabric.MFT {
	if t.MFT == nil {
		return nil
	}
	m := fabric.NewMFT(f, t.MFT.Top)
	if t.MFT.Unread != nil {
		m.Unread = make([]bool, len(f.Switches))
	}
	for s, n := range f.Switches {
		if from[n] == fabric.None {
			continue
		}
		if sw := t.Fabric.Nodes[from[n]].Switch; !t.MFT.WasRead(sw) {
			m.Unread[s] = true
		}
		for i := range t.MFT.LIDs() {
			mlid := fabric.FirstMLID + uint16(i)
			copy(m.Ports(fabric.SwitchIndex(s), mlid), t.MFT.Ports(t.Fabric.Nodes[from[n]].Switch, mlid))
		}
	}
	return m
}

// BrokenTrees returns the multicast LIDs whose trees use ports that lead to other switches than in the subnet that the
// trees were made for.
func BrokenTrees(t *fabric.Tables, was *fabric.Fabric) (broken []uint16) {
	if t.MFT == nil {
		return nil
	}
	for i := range t.MFT.LIDs() {
		if mlid := fabric.FirstMLID + uint16(i); brokenTree(t, was, mlid) {
			broken = append(broken, mlid)
		}
	}
	return broken
}

// dropTrees empties [BrokenTrees] and returns them.
func dropTrees(t *fabric.Tables, was *fabric.Fabric) (gone []uint16) {
	gone = BrokenTrees(t, was)
	for _, mlid := range gone {
		for s := range t.Fabric.NumSwitches() {
			clear(t.MFT.Ports(s, mlid))
		}
	}
	return gone
}

func brokenTree(t *fabric.Tables, was *fabric.Fabric, mlid uint16) bool {
	f := t.Fabric
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		old := was.SwitchByGUID(n.GUID)
		for p := 1; old != fabric.None && p <= int(min(n.NumPorts, was.SwitchNode(old).NumPorts)); p++ {
			if !t.MFT.Has(s, mlid, uint8(p)) {
				continue
			}
			a, b := was.PeerSwitch(was.SwitchNode(old).FirstPort+fabric.PortIndex(p)),
				f.PeerSwitch(n.FirstPort+fabric.PortIndex(p))
			if a != fabric.None && (b == fabric.None || was.SwitchNode(a).GUID != f.SwitchNode(b).GUID) {
				return true
			}
		}
	}
	return false
}
