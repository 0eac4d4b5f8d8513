// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// askSL2VL asks for the mappings of all ports that are linked, of a switch for packets from each of its ports, also
// from port 0 and from those without a link: OpenSM reads and dumps them too. Nodes that say that they have none are
// left out: all SLs take VL 0 there.
func (r *reader) askSL2VL() {
	r.tables.SL2VL = fabric.NewSL2VL(r.f)
	r.answered[askSL2VL] = r.gotSL2VL
	mapped := map[int32][]uint8{} // by node of the sweep
	nodes := r.known()
	for n := range r.f.NumNodes() {
		if node := &r.f.Nodes[n]; node.InSubnet && !node.IsSwitch() {
			nodes = append(nodes, n)
		}
	}
	for _, n := range nodes {
		i := r.b.order[n]
		mapped[i] = r.mapped(r.nodes[i])
	}
	ins := func(i int32) int {
		if n := r.nodes[i]; n.isSwitch() {
			return len(n.ports)
		}
		return 1
	}
	r.spread(nodes, func(i int32) int { return len(mapped[i]) * ins(i) }, func(i int32, k int) task {
		return task{kind: askSL2VL, port: mapped[i][k/ins(i)], mod: uint16(k % ins(i))}
	})
}

// mapped are the linked ports of a node that have mappings.
func (r *reader) mapped(n *node) []uint8 {
	if n.isSwitch() && n.ports[0].info.CapabilityMask&mad.CapSLMapping == 0 {
		return nil
	}
	var ports []uint8
	for num := range n.ports {
		p := &n.ports[num]
		if p.linked() && (n.isSwitch() || p.info.CapabilityMask&mad.CapSLMapping != 0) {
			ports = append(ports, uint8(num))
		}
	}
	return ports
}

func (r *reader) gotSL2VL(t task, reply *mad.Reply) {
	var table mad.SLToVLTable
	if reply.Decode(&table) != nil {
		return
	}
	r.tables.SL2VL.Set(r.b.index[t.node], uint8(t.mod), t.port, fabric.VLs(table.VL))
	r.progress.Blocks++
}
