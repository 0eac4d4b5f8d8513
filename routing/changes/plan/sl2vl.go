// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/diff"
)

// sl2vl plans the writes of SL2VL tables for all ports whose live tables were read.
func (m *maker) sl2vl(context.Context) error {
	switch {
	case m.staged.SL2VL == nil:
		return nil
	case m.live.SL2VL == nil:
		m.warn("the SL2VL tables are not written: the SL2VL tables of the live subnet were not read; hint: run " +
			"'sweep full sl2vl'")
		return nil
	}
	tooHigh := 0
	for c := range diff.Mappings(m.live, m.staged) {
		if !c.Changed() {
			continue
		}
		m.plan.sl2vls = append(m.plan.sl2vls, write.SL2VL{Node: c.NodeOld, In: c.In, Out: c.Out, Old: c.Old, New: c.New,
			Read: m.live.SL2VL.Has(c.NodeOld, c.In, c.Out)})
		if beyond(m.live.Fabric, m.live.Fabric.Port(c.NodeOld, c.Out), c.New) {
			tooHigh++
		}
	}
	m.plan.OrderSL2VLs(false)
	if tooHigh > 0 {
		m.warn("SL2VL tables with VLs that their port does not operate: %d", tooHigh)
	}
	return nil
}

// beyond reports whether a table uses data VLs that a port does not operate. For a port that is not active it assumes
// the VLs that the port operates once the link is up.
func beyond(f *fabric.Fabric, port fabric.PortIndex, vls fabric.VLs) bool {
	p := &f.Ports[port]
	code := p.OperVLs
	if p.State != mad.PortActive {
		code = min(p.VLCap, f.Ports[p.Peer].VLCap)
	}
	if code == 0 {
		return false
	}
	operated := min(uint8(1)<<(code-1), fabric.DropVL)
	return slices.ContainsFunc(vls[:], func(vl uint8) bool { return vl != fabric.DropVL && vl >= operated })
}

// OrderSL2VLs plans the changes of SL2VL tables before the changes of forwarding tables, or after them if the argument
// late is set. No packet is dropped in between that is not dropped before or after. Therefore mappings from VL 15
// always change before, and mappings to VL 15 always change after the forwarding tables. A table with both kinds is
// written twice.
func (p *Plan) OrderSL2VLs(late bool) {
	p.SL2VLs = p.SL2VLs[:0:0]
	var behind []write.SL2VL
	for _, l := range p.sl2vls {
		mix := l.New
		for sl := range mix {
			switch {
			case l.Old[sl] == fabric.DropVL:
			case late || l.New[sl] == fabric.DropVL:
				mix[sl] = l.Old[sl]
			}
		}
		if mix != l.Old {
			p.SL2VLs = append(p.SL2VLs, write.SL2VL{Node: l.Node, In: l.In, Out: l.Out, Old: l.Old, New: mix,
				Read: l.Read})
		}
		if mix != l.New {
			behind = append(behind, write.SL2VL{Node: l.Node, In: l.In, Out: l.Out, Step: p.Steps + 1, Old: mix,
				New: l.New, Read: l.Read})
		}
	}
	p.SL2VLs = append(p.SL2VLs, behind...)
}

// SL2VLsDuring returns the SL2VL tables that apply while forwarding tables change. O(tables).
func (p *Plan) SL2VLsDuring(live *fabric.SL2VL) *fabric.SL2VL { return p.sl2vlsAfter(live, false) }

func (p *Plan) sl2vlsAfter(live *fabric.SL2VL, all bool) *fabric.SL2VL {
	if live == nil || len(p.SL2VLs) == 0 {
		return live
	}
	t := live.Clone()
	for _, l := range p.SL2VLs {
		if all || l.Step == 0 {
			t.Set(l.Node, l.In, l.Out, l.New)
		}
	}
	return t
}
