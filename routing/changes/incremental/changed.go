// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"bytes"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// changed repairs tables for a subnet that may have changed in any way.
type changed struct {
	*repair
	old *fabric.Tables
	// start holds the old tables under the new indexes.
	start *fabric.LFT
	// before is the old index of each switch.
	before []fabric.SwitchIndex
}

func newChanged(f *fabric.Fabric, old *fabric.Tables) *changed {
	r := &changed{old: old, before: make([]fabric.SwitchIndex, len(f.Switches))}
	same := len(f.Switches) == len(old.Fabric.Switches)
	for sw := range f.NumSwitches() {
		guid := f.SwitchNode(sw).GUID
		r.before[sw] = sw
		if !same || old.Fabric.SwitchNode(sw).GUID != guid {
			same = false
			r.before[sw] = old.Fabric.SwitchByGUID(guid)
		}
	}
	r.start = old.LFT
	if !same || f.MaxLID > old.LFT.MaxLID {
		r.start = fabric.NewLFT(len(f.Switches), max(f.MaxLID, old.LFT.MaxLID))
		for sw, was := range r.before {
			if was != fabric.None {
				copy(r.start.Row(fabric.SwitchIndex(sw)), old.LFT.Row(was))
			}
		}
	}
	tables := fabric.NewTables(f, r.start, "")
	graph := routing.NewGraph(f)
	wires := walk.NewWires(tables)
	column, depths := make([]uint8, len(f.Switches)), make([]uint8, len(f.Switches))
	var path []fabric.SwitchIndex
	r.repair = &repair{
		f: f, wasFabric: old.Fabric, unread: unreadOf(old), links: graph.Of,
		depth: func(_ uint16, target fabric.SwitchIndex) []uint8 {
			path = trees.Depths(wires, column, target, depths, path)
			return depths
		},
		attached: func(lid uint16) (fabric.SwitchIndex, uint8) { return f.AttachedSwitch(f.PortByLID(lid)) },
		column: func(lid uint16) []uint8 {
			walk.Columns(tables, []uint16{lid}, [][]uint8{column})
			return column
		},
		count: func(s fabric.SwitchIndex, used []uint16) {
			clear(used)
			countEntries(used, r.start.Row(s)[1:int(f.MaxLID)+1])
		},
		oldPeer: r.oldPeer,
	}
	r.repair.init(f)
	return r
}

// oldPeer returns the switch, by its new index, to which a port led before.
func (r *changed) oldPeer(s fabric.SwitchIndex, port uint8) fabric.SwitchIndex {
	return formerPeer(r.f, r.old.Fabric, r.before[s], port)
}

// formerPeer returns the switch to which a port of a switch led in the old fabric, by its index in f. It returns None
// if the port led to no switch or if f lacks the switch.
func formerPeer(f, was *fabric.Fabric, old fabric.SwitchIndex, port uint8) fabric.SwitchIndex {
	if old == fabric.None {
		return fabric.None
	}
	p := was.PortAt(was.Switches[old], int(port))
	if p == fabric.None {
		return fabric.None
	}
	peer := was.PeerNode(p)
	if peer == fabric.None {
		return fabric.None
	}
	return f.SwitchByGUID(was.Nodes[peer].GUID)
}

// todo finds the broken entries.
func (r *changed) todo() []task {
	moved := r.movedLIDs()
	broken := map[uint16][]fabric.SwitchIndex{}
	for sw := range r.f.NumSwitches() {
		switch s := sw; {
		case !r.f.SwitchNode(s).InSubnet:
		case !r.routed(s):
			for lid := range int(r.f.MaxLID) + 1 {
				if r.owned(uint16(lid)) {
					broken[uint16(lid)] = append(broken[uint16(lid)], s)
				}
			}
		default:
			r.deadEntries(s, broken)
		}
	}
	var all []task
	for lid := range int(r.f.MaxLID) + 1 {
		d := uint16(lid)
		if moved[d] || len(broken[d]) > 0 {
			all = append(all, task{d, broken[d], moved[d]})
		}
	}
	return all
}

// routed reports whether a switch had tables before.
func (r *changed) routed(s fabric.SwitchIndex) bool {
	was := r.before[s]
	return was != fabric.None && r.old.Known[was] && r.old.Fabric.SwitchNode(was).InSubnet
}

// deadEntries finds the entries of a switch that use ports whose link is gone.
func (r *changed) deadEntries(s fabric.SwitchIndex, broken map[uint16][]fabric.SwitchIndex) {
	n, was := r.f.SwitchNode(s), r.old.Fabric.SwitchNode(r.before[s])
	for p := 1; p <= int(min(n.NumPorts, was.NumPorts)); p++ {
		before := r.old.Fabric.PeerNode(was.FirstPort + fabric.PortIndex(p))
		if before == fabric.None || r.samePeer(before, r.f.PeerNode(n.FirstPort+fabric.PortIndex(p))) {
			continue
		}
		row := r.start.Row(s)[:int(r.f.MaxLID)+1]
		for from := 0; ; {
			i := bytes.IndexByte(row[from:], byte(p))
			if i < 0 {
				break
			}
			from += i + 1
			r.looked++
			if lid := uint16(from - 1); r.owned(lid) {
				broken[lid] = append(broken[lid], s)
			}
		}
	}
}

// samePeer reports whether a link still leads to the node that it led to.
func (r *changed) samePeer(before, now fabric.NodeIndex) bool {
	return now != fabric.None && r.f.Nodes[now].GUID == r.old.Fabric.Nodes[before].GUID
}

// movedLIDs returns the LIDs whose port has changed or is attached elsewhere.
func (r *changed) movedLIDs() map[uint16]bool {
	moved := map[uint16]bool{}
	was := r.old.Fabric
	for _, e := range r.f.EndPorts {
		port := &r.f.Ports[e]
		if port.LID == 0 {
			continue
		}
		for lid := int(port.LID); lid < int(port.LID)+1<<port.LMC; lid++ {
			o := was.PortByLID(uint16(lid))
			if o == fabric.None || was.Ports[o].GUID != port.GUID || lid > int(r.old.LFT.MaxLID) ||
				!r.sameSwitch(o, e) {
				moved[uint16(lid)] = true
			}
		}
	}
	return moved
}

// sameSwitch reports whether an end port is attached to the same switch port as before.
func (r *changed) sameSwitch(before, now fabric.PortIndex) bool {
	sw, num := r.f.AttachedSwitch(now)
	oldSW, oldNum := r.old.Fabric.AttachedSwitch(before)
	if sw == fabric.None || oldSW == fabric.None {
		return sw == oldSW
	}
	return num == oldNum && r.before[sw] == oldSW
}
