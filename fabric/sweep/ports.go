// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// VLArb holds the VL arbitration tables of a port for low and high priority. The slices have the sizes that the port
// reports.
type VLArb struct{ Low, High []mad.VLWeight }

// portBlock is a block of a port's table.
type portBlock struct {
	port uint8
	mod  uint16
}

// askPorts requests those tables of ports that the options select.
func (r *reader) askPorts() {
	if r.opts.VLArb {
		r.vlArb = map[fabric.PortIndex]*VLArb{}
		r.answered[askVLArb] = r.gotVLArb
		if !r.askBlocks("VL arbitration tables", askVLArb, r.vlArbBlocks) {
			r.vlArb = nil
		}
	}
	if r.opts.PKeys {
		r.pKeys = map[fabric.PortIndex][]mad.PKey{}
		r.answered[askPKeys] = r.gotPKeys
		if !r.askBlocks("P_Key tables", askPKeys, r.pKeyBlocks) {
			r.pKeys = nil
		}
	}
	if r.opts.GUIDs {
		r.guids = map[fabric.PortIndex][]uint64{}
		r.answered[askGUIDs] = r.gotGUIDs
		if !r.askBlocks("GUID tables", askGUIDs, r.guidBlocks) {
			r.guids = nil
		}
	}
}

// askBlocks queues requests for tables of ports. It reports whether it did.
func (r *reader) askBlocks(tables string, k kind, blocks func(*node) []portBlock) bool {
	all := map[int32][]portBlock{}
	var nodes []fabric.NodeIndex
	const limit = maxBytes / mad.DataSize
	total := 0
	for n := range r.f.NumNodes() {
		if i := r.b.order[n]; r.f.Nodes[n].InSubnet && total <= limit {
			nodes = append(nodes, n)
			all[i] = blocks(r.nodes[i])
			total += len(all[i])
		}
	}
	if !r.fits(int64(total), limit, "%s: they", tables) {
		return false
	}
	return r.spread(tables, nodes, func(i int32) int { return len(all[i]) }, func(i int32, n int) task {
		return task{kind: k, port: all[i][n].port, mod: all[i][n].mod}
	})
}

// vlArbBlocks returns the blocks to read for the VL arbitration tables of a node's linked ports. The mod of a block is
// its part of the tables.
func (r *reader) vlArbBlocks(n *node) []portBlock {
	var out []portBlock
	for num := range n.ports {
		p := &n.ports[num]
		if !p.linked() || !p.known {
			continue
		}
		low, high := int(p.info.VLArbLowCap), int(p.info.VLArbHighCap)
		for i, room := range [...]int{low, low - mad.VLArbBlock, high, high - mad.VLArbBlock} {
			if room > 0 {
				out = append(out, portBlock{uint8(num), uint16(mad.VLArbLow) + uint16(i)})
			}
		}
	}
	return out
}

func (r *reader) gotVLArb(t task, reply *mad.Reply) {
	var block mad.VLArbitrationTable
	if reply.Decode(&block) != nil {
		return
	}
	r.progress.Blocks++
	at, info := r.port(t), &r.nodes[t.node].ports[t.port].info
	v := r.vlArb[at]
	if v == nil {
		v = &VLArb{
			Low:  make([]mad.VLWeight, min(info.VLArbLowCap, 2*mad.VLArbBlock)),
			High: make([]mad.VLWeight, min(info.VLArbHighCap, 2*mad.VLArbBlock)),
		}
		r.vlArb[at] = v
	}
	switch mad.VLArbPart(t.mod) {
	case mad.VLArbLow:
		copy(v.Low, block[:])
	case mad.VLArbLowNext:
		copy(v.Low[mad.VLArbBlock:], block[:])
	case mad.VLArbHigh:
		copy(v.High, block[:])
	case mad.VLArbHighNext:
		copy(v.High[mad.VLArbBlock:], block[:])
	}
}

// pKeyBlocks returns the blocks to read for the P_Key tables of a node: those of end ports, and of switch ports that
// enforce partitions.
func (r *reader) pKeyBlocks(n *node) []portBlock {
	var out []portBlock
	for num := range n.ports {
		size := int(n.info.PartitionCap)
		if n.isSwitch() && num > 0 {
			size = int(n.sw.PartitionEnforcementCap)
		}
		if n.endPort(num) || n.isSwitch() && n.ports[num].linked() {
			out = appendBlocks(out, num, size, mad.PKeyBlock)
		}
	}
	return out
}

func (r *reader) gotPKeys(t task, reply *mad.Reply) {
	var block mad.PKeyTable
	if reply.Decode(&block) == nil {
		r.progress.Blocks++
		put(r.pKeys, r.port(t), int(t.mod)*mad.PKeyBlock, block[:])
	}
}

// guidBlocks returns the blocks to read for the GUID tables of a node's end ports.
func (r *reader) guidBlocks(n *node) []portBlock {
	var out []portBlock
	for num := range n.ports {
		if n.endPort(num) {
			out = appendBlocks(out, num, int(n.ports[num].info.GUIDCap), mad.GUIDBlock)
		}
	}
	return out
}

func (r *reader) gotGUIDs(t task, reply *mad.Reply) {
	var block mad.GUIDInfo
	if reply.Decode(&block) == nil {
		r.progress.Blocks++
		put(r.guids, r.port(t), int(t.mod)*mad.GUIDBlock, block[:])
	}
}

// endPort reports whether a port is an end port, which has its own GUID and tables, and whether it was read.
func (n *node) endPort(num int) bool { return n.isSwitch() == (num == 0) && n.ports[num].known }

func appendBlocks(out []portBlock, num, entries, size int) []portBlock {
	for block := 0; block*size < entries; block++ {
		out = append(out, portBlock{uint8(num), uint16(block)})
	}
	return out
}

// put stores a block in a table of a port. The table grows as needed, because blocks arrive in any order.
func put[T any](tables map[fabric.PortIndex][]T, port fabric.PortIndex, at int, block []T) {
	table := tables[port]
	if grow := at + len(block) - len(table); grow > 0 {
		table = append(table, make([]T, grow)...)
	}
	copy(table[at:], block)
	tables[port] = table
}
