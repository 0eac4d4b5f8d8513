// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// dropVL is the VL that drops packets (IBA 1.2.1, 7.6.6).
const dropVL = 15

// sl2vl plans the mappings to VLs of all ports whose live ones were read.
func (m *maker) sl2vl(context.Context) error {
	switch {
	case m.staged.SL2VL == nil:
		return nil
	case m.live.SL2VL == nil:
		m.warn("the SL2VL tables are not written: those of the live subnet were not read (try: sweep full sl2vl)")
		return nil
	}
	tooHigh := 0
	for i := range m.live.Fabric.NumNodes() {
		s := m.staged.Fabric.NodeByGUID(m.live.Fabric.Nodes[i].GUID)
		if s != fabric.None && m.live.Fabric.Nodes[i].InSubnet && m.staged.Fabric.Nodes[s].InSubnet {
			tooHigh += m.sl2vlsOf(i, s)
		}
	}
	m.plan.OrderSL2VLs(false)
	if tooHigh > 0 {
		m.warn("SL2VL tables that lead to VLs which their port does not operate: %d", tooHigh)
	}
	return nil
}

// sl2vlsOf plans those of one node, by its index in the live and the staged fabric.
func (m *maker) sl2vlsOf(node, staged fabric.NodeIndex) (tooHigh int) {
	ins, outs := mappedPorts(m.live.Fabric, node)
	for _, in := range ins {
		for _, out := range outs {
			if m.staged.Fabric.PortAt(staged, int(max(in, out))) == fabric.None {
				continue
			}
			old, new := m.live.SL2VL.VLs(node, in, out), m.staged.SL2VL.VLs(staged, in, out)
			if old == new {
				continue
			}
			m.plan.sl2vls = append(m.plan.sl2vls, write.SL2VL{Node: node, In: in, Out: out, Old: old, New: new})
			if beyond(m.live.Fabric, m.live.Fabric.Port(node, out), new) {
				tooHigh++
			}
		}
	}
	return tooHigh
}

// LanesDiffer counts the mappings to VLs of the switches of a subnet that was read, and those of them that
// are others in computed tables of the same subnet. It counts none where one of the two has none.
func LanesDiffer(live, computed *fabric.Tables) (compared, differ int) {
	if live.SL2VL == nil || computed.SL2VL == nil {
		return 0, 0
	}
	for sw, node := range live.Fabric.Switches {
		at := computed.Fabric.NodeByGUID(live.Fabric.Nodes[node].GUID)
		if !live.Known[sw] || at == fabric.None || !live.Fabric.Nodes[node].InSubnet {
			continue
		}
		ins, outs := mappedPorts(live.Fabric, node)
		for _, in := range ins {
			for _, out := range outs {
				if in == out || computed.Fabric.PortAt(at, int(max(in, out))) == fabric.None {
					continue
				}
				compared++
				if live.SL2VL.VLs(node, in, out) != computed.SL2VL.VLs(at, in, out) {
					differ++
				}
			}
		}
	}
	return compared, differ
}

// mappedPorts are the ports by which packets come in and leave that a node has tables for: the linked ones;
// to a switch packets come from its port 0, too, and an adapter has one table a port, with 0 for in.
func mappedPorts(f *fabric.Fabric, node fabric.NodeIndex) (ins, outs []uint8) {
	n := &f.Nodes[node]
	sw := n.IsSwitch()
	ins = []uint8{0}
	for num := 1; num <= int(n.NumPorts); num++ {
		p := f.Port(node, uint8(num))
		of := p
		if sw {
			of = n.FirstPort
		}
		if !f.Ports[p].Linked() || mad.CapabilityMask(f.Ports[of].CapMask)&mad.CapSLMapping == 0 {
			continue
		}
		outs = append(outs, uint8(num))
		if sw {
			ins = append(ins, uint8(num))
		}
	}
	return ins, outs
}

// beyond reports whether a table leads to data VLs that a port does not operate, nor will when its link has come up.
func beyond(f *fabric.Fabric, port fabric.PortIndex, vls fabric.VLs) bool {
	p := &f.Ports[port]
	code := p.OperVLs
	if p.State != mad.PortActive {
		code = min(p.VLCap, f.Ports[p.Peer].VLCap)
	}
	if code == 0 {
		return false
	}
	operated := min(uint8(1)<<(code-1), dropVL)
	return slices.ContainsFunc(vls[:], func(vl uint8) bool { return vl != dropVL && vl >= operated })
}

// OrderSL2VLs puts the changes of VLs before those of the forwarding tables, or with late behind them. No
// packet is dropped meanwhile that is not before or after: what drops packets of an SL now is changed before
// in any case, and what is to drop them behind. A table with both is written twice.
func (p *Plan) OrderSL2VLs(late bool) {
	p.SL2VLs = p.SL2VLs[:0:0]
	var behind []write.SL2VL
	for _, l := range p.sl2vls {
		mix := l.New
		for sl := range mix {
			switch {
			case l.Old[sl] == dropVL:
			case late || l.New[sl] == dropVL:
				mix[sl] = l.Old[sl]
			}
		}
		if mix != l.Old {
			p.SL2VLs = append(p.SL2VLs, write.SL2VL{Node: l.Node, In: l.In, Out: l.Out, Old: l.Old, New: mix})
		}
		if mix != l.New {
			behind = append(behind, write.SL2VL{Node: l.Node, In: l.In, Out: l.Out, Late: true, Old: mix, New: l.New})
		}
	}
	p.SL2VLs = append(p.SL2VLs, behind...)
}

// SL2VLsDuring are the mappings that hold while forwarding tables change, for the live mappings. O(tables).
func (p *Plan) SL2VLsDuring(live *fabric.SL2VL) *fabric.SL2VL { return p.sl2vlsAfter(live, false) }

func (p *Plan) sl2vlsAfter(live *fabric.SL2VL, all bool) *fabric.SL2VL {
	if live == nil || len(p.SL2VLs) == 0 {
		return live
	}
	t := live.Clone()
	for _, l := range p.SL2VLs {
		if all || !l.Late {
			t.Set(l.Node, l.In, l.Out, l.New)
		}
	}
	return t
}
