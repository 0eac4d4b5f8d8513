// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// writeLanes writes the tables of lanes from one to before another.
func (a *applier) writeLanes(from, to int) {
	a.each(to-from, func(i int) {
		i += from
		l := &a.w.Lanes[i]
		req := a.askLanes(i)
		req.Method, req.Data = mad.MethodSet, encode(&mad.SLToVLTable{VL: l.VLs})
		a.ask(l.Node, req, func(*mad.Reply) { a.wrote(&a.done.lanes[i], &a.report.Written.Lanes) }, nil)
	})
}

func (a *applier) askLanes(i int) mad.Request {
	l := &a.w.Lanes[i]
	req := mad.Request{Attr: mad.AttrSLToVLTable, Path: a.lanePath[i]}
	if a.f.Nodes[l.Node].IsSwitch() {
		req.Mod = mad.SLToVLMod(l.In, l.Out)
	}
	return req
}

// writeMFTs writes the multicast blocks from one to before another.
func (a *applier) writeMFTs(from, to int) {
	a.each(to-from, func(i int) {
		i += from
		b := &a.w.MFTs[i]
		req := a.askMFT(i)
		req.Method, req.Data = mad.MethodSet, encode(&b.Ports)
		a.ask(a.f.Switches[b.Switch], req, func(*mad.Reply) { a.wrote(&a.done.mfts[i], &a.report.Written.MFTs) }, nil)
	})
}

func (a *applier) askMFT(i int) mad.Request {
	b := &a.w.MFTs[i]
	return mad.Request{Attr: mad.AttrMulticastForwardingTable, Mod: mad.MulticastMod(b.Num, b.Position), Path: a.switchPath[b.Switch]}
}

// raiseMulticastTops raises the MulticastFDBTop of switches whose new entries lie
// above it. 0 is that of switches that have none (IBA 1.2.1, 14.2.5.4). Those that
// did not get there are left in a.low.
func (a *applier) raiseMulticastTops(from, to int) {
	a.low = highest(a.w.MFTs[from:to])
	switches := slices.Sorted(maps.Keys(a.low))
	a.each(len(switches), func(i int) {
		sw := switches[i]
		node, want := a.f.Switches[sw], a.low[sw]
		req := mad.Request{Attr: mad.AttrSwitchInfo, Path: a.switchPath[sw]}
		raised := func(*mad.Reply) { delete(a.low, sw) }
		a.ask(node, req, func(r *mad.Reply) {
			var info mad.SwitchInfo
			_ = r.Decode(&info) // the answer is a good one
			switch room := int(info.MulticastFDBCap); {
			case int(want) >= fabric.FirstMLID+room:
				a.fail(node, fmt.Errorf("it has room for %d multicast LIDs, from 0x%04x on, and 0x%04x is to be written", room, fabric.FirstMLID, want))
				return
			case info.MulticastFDBTop < fabric.FirstMLID-1 || info.MulticastFDBTop >= want:
				raised(r)
				return
			}
			info.MulticastFDBTop = want
			info.PortStateChange = false // else it would be cleared, and a subnet manager miss a change
			req.Method, req.Data = mad.MethodSet, encode(&info)
			a.ask(node, req, raised, nil)
		}, nil)
	})
}

// highest are, by switch, the highest multicast LIDs with a port.
func highest(blocks []MFTBlock) map[fabric.SwitchIndex]uint16 {
	top := map[fabric.SwitchIndex]uint16{}
	for i := range blocks {
		for k, ports := range blocks[i].Ports {
			if ports != 0 {
				top[blocks[i].Switch] = max(top[blocks[i].Switch], fabric.FirstMLID+blocks[i].Num*mad.MFTBlock+uint16(k))
			}
		}
	}
	return top
}
