// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// askSL2VL asks for the mappings of all ports that are linked, of a switch for packets from its port 0, too.
// Nodes that say that they have none are left out: all SLs take VL 0 there.
func (r *reader) askSL2VL() {
	r.tables.SL2VL = fabric.NewSL2VL(r.f)
	r.answered[askSL2VL] = r.gotSL2VL
	linked := map[int32][]uint8{} // by node of the sweep; of a switch with 0
	nodes := r.known()
	for n := range r.f.NumNodes() {
		if node := &r.f.Nodes[n]; node.InSubnet && !node.IsSwitch() {
			nodes = append(nodes, n)
		}
	}
	for _, n := range nodes {
		i := r.b.order[n]
		linked[i] = r.mapped(r.nodes[i])
	}
	r.spread(nodes, func(i int32) int {
		if ports := len(linked[i]); r.nodes[i].isSwitch() {
			return ports * max(0, ports-1)
		}
		return len(linked[i])
	}, func(i int32, k int) task {
		ports := linked[i]
		if r.nodes[i].isSwitch() {
			in, out := ports[k/(len(ports)-1)], ports[1+k%(len(ports)-1)]
			return task{kind: askSL2VL, port: out, mod: uint16(in)}
		}
		return task{kind: askSL2VL, port: ports[k]}
	})
}

// mapped are the ports of a node that have mappings.
func (r *reader) mapped(n *node) []uint8 {
	var ports []uint8
	if n.isSwitch() {
		if n.ports[0].info.CapabilityMask&mad.CapSLMapping == 0 {
			return nil
		}
		ports = append(ports, 0)
	}
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
