// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"iter"

	"example.org/ibconsole/fabric"
)

// Mapping is an SL2VL table of a node that both states have.
type Mapping struct {
	// NodeOld and NodeNew are the index of the node in the old and in the new fabric.
	NodeOld, NodeNew fabric.NodeIndex
	// In is the port at which packets arrive, or 0 for packets that the node itself sends. Out is the port by which
	// packets leave.
	In, Out  uint8
	Old, New fabric.VLs
}

// Changed reports whether the table differs.
func (m *Mapping) Changed() bool { return m.Old != m.New }

// Mappings iterates over the SL2VL tables of nodes in both subnets, for the ports that have a link in the old subnet.
// It yields nothing if one of the states has no SL2VL tables, neither computed nor read.
func Mappings(before, after *fabric.Tables) iter.Seq[Mapping] {
	return func(yield func(Mapping) bool) {
		if before.SL2VL == nil || after.SL2VL == nil {
			return
		}
		for old := range before.Fabric.NumNodes() {
			now := after.Fabric.NodeByGUID(before.Fabric.Nodes[old].GUID)
			if now == fabric.None || !before.Fabric.Nodes[old].InSubnet || !after.Fabric.Nodes[now].InSubnet {
				continue
			}
			ins, outs := mappedPorts(before.Fabric, old)
			for _, in := range ins {
				for _, out := range outs {
					if after.Fabric.PortAt(now, int(max(in, out))) == fabric.None {
						continue
					}
					if !yield(Mapping{
						old, now, in, out, before.SL2VL.VLs(old, in, out), after.SL2VL.VLs(now, in, out),
					}) {
						return
					}
				}
			}
		}
	}
}

// SwitchMappings counts the [Mappings] of switches whose tables were read. changed counts the mappings among them that
// differ. It skips the mapping from a port to itself, which no packet uses.
func SwitchMappings(before, after *fabric.Tables) (compared, changed int) {
	for m := range Mappings(before, after) {
		sw := before.Fabric.Nodes[m.NodeOld].Switch
		if sw == fabric.None || !before.Known[sw] || m.In == m.Out {
			continue
		}
		if compared++; m.Changed() {
			changed++
		}
	}
	return compared, changed
}

// mappedPorts returns the ports for which a node has SL2VL tables: its linked ports. The ins of a switch also contain
// port 0, for packets that the switch itself sends. The ins of a CA contain only 0.
func mappedPorts(f *fabric.Fabric, node fabric.NodeIndex) (ins, outs []uint8) {
	n := &f.Nodes[node]
	sw := n.IsSwitch()
	ins = []uint8{0}
	for num := 1; num <= int(n.NumPorts); num++ {
		p := f.Port(node, uint8(num))
		if !f.Ports[p].Linked() || !f.MapsSLs(p) {
			continue
		}
		outs = append(outs, uint8(num))
		if sw {
			ins = append(ins, uint8(num))
		}
	}
	return ins, outs
}

// PathSLs counts the paths whose SL changes, between end ports of both subnets by their first LIDs. The result known is
// false if the SLs of one state were not read. O(end ports^2).
func PathSLs(before, after *fabric.Tables) (changed int, known bool) {
	switch {
	case before.Unread.SLs || after.Unread.SLs:
		return 0, false
	case before.SLs == nil && after.SLs == nil:
		return 0, true
	}
	type end struct{ old, now uint16 }
	var ends []end
	for _, p := range after.Fabric.EndPorts {
		old := before.Fabric.PortByGUID(after.Fabric.Ports[p].GUID)
		if old != fabric.None && inSubnet(before.Fabric, old) && inSubnet(after.Fabric, p) {
			ends = append(ends, end{before.Fabric.Ports[old].LID, after.Fabric.Ports[p].LID})
		}
	}
	for _, src := range ends {
		for _, dst := range ends {
			if src != dst && before.SLRange(src.old, dst.old) != after.SLRange(src.now, dst.now) {
				changed++
			}
		}
	}
	return changed, true
}

func inSubnet(f *fabric.Fabric, p fabric.PortIndex) bool { return f.Nodes[f.Ports[p].Node].InSubnet }
