// SPDX-License-Identifier: Apache-2.0

package persist

import (
	"example.org/ibconsole/fabric"
)

// Transfer returns the tables t of another subnet as tables of f, in spite of changes between the two subnets. It
// assigns rows to switches by GUID, and entries to the present LIDs of ports by port GUID. A switch that the other
// subnet lacks counts as unread. A port that the other subnet lacks has no route. O(switches x LIDs).
func Transfer(f *fabric.Fabric, t *fabric.Tables) *fabric.Tables {
	from, moved := lidsFrom(f, t.Fabric, max(f.MaxLID, t.LFT.MaxLID))
	out := transfer(f, t, from)
	for s := range f.NumSwitches() {
		out.Top[s] = max(out.Top[s], f.MaxLID)
	}
	if out.SLs = t.SLs; t.SLs != nil && moved {
		out.SLs = movedSLs{t.SLs, from}
	}
	return out
}

// Held returns tables that switches held in an earlier state of the subnet as tables of f. Unlike [Transfer], it keeps
// each LinearFDBTop and all entries, also those for LIDs of ports that the earlier state lacked. The ports of both
// states must have the same LIDs. O(switches x LIDs).
func Held(f *fabric.Fabric, t *fabric.Tables) *fabric.Tables {
	from := make([]uint16, int(max(f.MaxLID, t.LFT.MaxLID))+1)
	for lid := range from {
		from[lid] = uint16(lid)
	}
	out := transfer(f, t, from)
	out.SLs = t.SLs
	return out
}

// transfer returns the tables t of another subnet as tables of f, without SLs. The slice from holds the LID of t for
// each LID.
func transfer(f *fabric.Fabric, t *fabric.Tables, from []uint16) *fabric.Tables {
	was := t.Fabric
	out := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), uint16(len(from)-1)), t.Origin)
	for s := range f.NumSwitches() {
		old := was.SwitchByGUID(f.SwitchNode(s).GUID)
		if out.Known[s] = out.Known[s] && old != fabric.None && t.Known[old]; !out.Known[s] {
			continue
		}
		out.Top[s] = t.Top[old]
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
	out.MFT = transferMFT(f, t, nodes)
	return out
}

// nodesFrom maps each node of f to its index in an earlier fabric. It returns None for a node if the earlier fabric has
// no node with this GUID, type and number of ports.
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

// lidsFrom returns, for each LID up to highest, the old LID of its port, or 0 if the port had no LID. A LID without a
// port maps to itself. The result moved reports whether any LID has changed.
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

// movedSLs returns the SLs of paths whose end ports had other LIDs when the SLs were computed.
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

// Range implements [fabric.RangedSLs].
func (m movedSLs) Range(src, dst uint16) fabric.SLRange {
	if int(src) >= len(m.from) || int(dst) >= len(m.from) {
		return fabric.OneSL(0)
	}
	return fabric.RangeOf(m.sls, m.from[src], m.from[dst])
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

// BrokenTrees returns the multicast LIDs whose trees use ports that lead to other nodes than in the subnet for which
// the trees were made.
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

// dropTrees removes the entries of the trees that [BrokenTrees] returns. It returns their multicast LIDs.
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
