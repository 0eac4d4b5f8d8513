// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// readBack reads all that was written and notes what differs.
func (a *applier) readBack() {
	back := &a.report.ReadBack
	a.each(len(a.w.LIDs), func(i int) {
		l := a.w.LIDs[i]
		p := &a.f.Ports[l.Port]
		if !a.done.lids[i] {
			a.step()
			return
		}
		a.ask(p.Node, getPort(a.lidPath[i], p.Num), func(r *mad.Reply) {
			var info mad.PortInfo
			_ = r.Decode(&info) // the answer is a good one
			a.read(&back.LIDs)
			a.compare(p.Node, fmt.Sprintf("LID of port %d", p.Num), l.LID, info.LID)
			a.compare(p.Node, fmt.Sprintf("SM LID of port %d", p.Num), l.SMLID, info.MasterSMLID)
			a.compare(p.Node, fmt.Sprintf("LMC of port %d", p.Num), l.LMC, info.LMC)
		}, nil)
	})
	a.each(len(a.w.Tops), func(i int) {
		t := a.w.Tops[i]
		node := a.f.Switches[t.Switch]
		if !a.done.tops[i] {
			a.step()
			return
		}
		a.ask(node, mad.Request{Attr: mad.AttrSwitchInfo, Path: a.switchPath[t.Switch]}, func(r *mad.Reply) {
			var info mad.SwitchInfo
			_ = r.Decode(&info) // the answer is a good one
			a.read(&back.Tops)
			a.compare(node, "LinearFDBTop", t.Top, info.LinearFDBTop)
		}, nil)
	})
	rereads(a, len(a.w.Lanes), a.w.Lanes[:a.begun.lanes], a.done.lanes, func(l *Lanes) [3]fabric.NodeIndex {
		return [3]fabric.NodeIndex{l.Node, fabric.NodeIndex(l.In), fabric.NodeIndex(l.Out)}
	}, a.readLanes)
	rereads(a, len(a.w.Blocks), a.w.Blocks[:a.begun.blocks], a.done.blocks, func(b *Block) [2]fabric.SwitchIndex {
		return [2]fabric.SwitchIndex{b.Switch, fabric.SwitchIndex(b.Num)}
	}, a.readBlock)
	rereads(a, len(a.w.MFTs), a.w.MFTs[:a.begun.mfts], a.done.mfts, func(b *MFTBlock) [3]fabric.SwitchIndex {
		return [3]fabric.SwitchIndex{b.Switch, fabric.SwitchIndex(b.Num), fabric.SwitchIndex(b.Position)}
	}, a.readMFT)
	a.each(len(a.w.States), func(i int) {
		s := a.w.States[i]
		p := &a.f.Ports[s.Port]
		if !a.done.states[i] {
			a.step()
			return
		}
		a.ask(p.Node, getPort(a.statePath[i], p.Num), func(r *mad.Reply) {
			var info mad.PortInfo
			_ = r.Decode(&info) // the answer is a good one
			a.read(&back.States)
			if info.PortState < s.State {
				a.compare(p.Node, fmt.Sprintf("state of port %d", p.Num), s.State, info.PortState)
			}
		}, nil)
	})
}

// rereads reads what was written, of the writes of the same the last.
func rereads[T any, K comparable](a *applier, all int, begun []T, done []bool, what func(*T) K, read func(i int)) {
	last := latest(begun, what)
	a.each(all, func(i int) {
		if i < len(last) && last[i] && done[i] {
			read(i)
		} else {
			a.step()
		}
	})
}

func (a *applier) readLanes(i int) {
	l := &a.w.Lanes[i]
	a.ask(l.Node, a.askLanes(i), func(r *mad.Reply) {
		var table mad.SLToVLTable
		_ = r.Decode(&table) // the answer is a good one
		a.read(&a.report.ReadBack.Lanes)
		a.compare(l.Node, fmt.Sprintf("lanes from port %d to port %d", l.In, l.Out), l.VLs, fabric.VLs(table.VL))
	}, nil)
}

func (a *applier) readMFT(i int) {
	b := &a.w.MFTs[i]
	node := a.f.Switches[b.Switch]
	a.ask(node, a.askMFT(i), func(r *mad.Reply) {
		var table mad.MulticastForwardingTable
		_ = r.Decode(&table) // the answer is a good one
		a.read(&a.report.ReadBack.MFTs)
		for k, ports := range b.Ports {
			if table[k] != ports {
				what := fmt.Sprintf("multicast LID 0x%04x, ports from %d on", fabric.FirstMLID+int(b.Num)*mad.MFTBlock+k, int(b.Position)*mad.MFTPorts)
				a.compare(node, what, fmt.Sprintf("0x%04x", ports), fmt.Sprintf("0x%04x", table[k]))
				return // one of a block is enough
			}
		}
	}, nil)
}

func (a *applier) readBlock(i int) {
	b := &a.w.Blocks[i]
	node := a.f.Switches[b.Switch]
	req := mad.Request{Attr: mad.AttrLinearForwardingTable, Mod: uint32(b.Num), Path: a.switchPath[b.Switch]}
	a.ask(node, req, func(r *mad.Reply) {
		a.read(&a.report.ReadBack.Blocks)
		for k, port := range b.Ports {
			if r.Data[k] != port {
				a.compare(node, fmt.Sprintf("block %d, LID %d", b.Num, int(b.Num)*fabric.BlockSize+k), port, r.Data[k])
				return // one of a block is enough
			}
		}
	}, nil)
}

func (a *applier) read(count *int) {
	*count++
	a.step()
}

func (a *applier) compare(node fabric.NodeIndex, what string, want, got any) {
	if want != got {
		a.report.Differ = append(a.report.Differ, Difference{
			Node: a.f.NodeName(node), GUID: a.f.Nodes[node].GUID, What: what, Want: fmt.Sprint(want), Got: fmt.Sprint(got),
		})
	}
}
