// SPDX-License-Identifier: Apache-2.0

package write

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Found is called for a value that would be overwritten at a node of the live fabric. The arguments was, is and would
// are the earlier, the current and the new value.
type Found func(node fabric.NodeIndex, what string, was, is, would any)

// finder finds values that a list would overwrite although they have changed.
type finder struct {
	live, staged *fabric.Tables
	was          []*fabric.Tables
}

// Overwritten reports the values that writing the list would overwrite although they are unexpected. The list changes
// live tables into staged tables. The argument was lists the tables that the switches may be expected to hold. A value
// in the live tables is reported if none of the expected tables contains it. Values that are unknown in all expected
// tables are skipped. O(size of the list).
func (w *List) Overwritten(live, staged *fabric.Tables, was []*fabric.Tables, report Found) {
	f := &finder{live, staged, was}
	for i := range w.LIDs {
		f.lid(&w.LIDs[i], report)
	}
	for _, t := range w.Tops {
		was := values(f, t.Switch, func(p *fabric.Tables, sw fabric.SwitchIndex) (uint16, bool) {
			return p.Top[sw], true
		})
		f.entry(t.Switch, "LinearFDBTop", was, t.Old, t.New, report)
	}
	type block struct {
		sw  fabric.SwitchIndex
		num uint16
	}
	seen := make(map[block]bool, len(w.Blocks))
	for _, b := range w.Blocks {
		if at := (block{b.Switch, b.Num}); !seen[at] {
			seen[at] = true
			f.block(b.Switch, b.Num, report)
		}
	}
	f.vls(w, report)
	f.groups(w, report)
}

// values returns the values of a switch of the live fabric in those tables of f.was that know the switch.
func values[T any](f *finder, sw fabric.SwitchIndex, value func(*fabric.Tables, fabric.SwitchIndex) (T, bool)) []T {
	var all []T
	for _, p := range f.was {
		at := p.Fabric.SwitchByGUID(f.live.Fabric.SwitchNode(sw).GUID)
		if at == fabric.None || !p.Known[at] {
			continue
		}
		if v, ok := value(p, at); ok {
			all = append(all, v)
		}
	}
	return all
}

func (f *finder) entry(sw fabric.SwitchIndex, what string, was []uint16, is, would uint16, report Found) {
	if is != would && len(was) > 0 && !slices.Contains(was, is) {
		report(f.live.Fabric.Switches[sw], what, was[0], is, would)
	}
}

// block checks the entries of a block up to the staged LinearFDBTop.
func (f *finder) block(sw fabric.SwitchIndex, num uint16, report Found) {
	to := f.staged.Fabric.SwitchByGUID(f.live.Fabric.SwitchNode(sw).GUID)
	first := int(num) * fabric.BlockSize
	for lid := max(first, 1); lid < first+fabric.BlockSize && lid <= int(f.staged.Top[to]); lid++ {
		is, would := f.live.Port(sw, uint16(lid)), f.staged.Port(to, uint16(lid))
		if is == would {
			continue
		}
		was := values(f, sw, func(p *fabric.Tables, at fabric.SwitchIndex) (uint16, bool) {
			return uint16(p.Port(at, uint16(lid))), true
		})
		f.entry(sw, fmt.Sprintf("LID %d", lid), was, uint16(is), uint16(would), report)
	}
}

// lid checks an end port's LID.
func (f *finder) lid(l *LID, report Found) {
	if l.Old == 0 || l.Old == l.New && l.OldLMC == l.NewLMC {
		return
	}
	p := &f.live.Fabric.Ports[l.Port]
	var was []uint16
	for _, t := range f.was {
		port := t.Fabric.PortByGUID(p.GUID)
		switch {
		case port == fabric.None:
		case t.Fabric.Ports[port].LID == l.Old && t.Fabric.Ports[port].LMC == l.OldLMC:
			return
		default:
			was = append(was, t.Fabric.Ports[port].LID)
		}
	}
	if len(was) > 0 {
		report(p.Node, fmt.Sprintf("LID of port %d", p.Num), was[0], l.Old, l.New)
	}
}

// vls checks SL2VL tables.
func (f *finder) vls(w *List, report Found) {
	for i, l := range w.SL2VLs {
		if f.live.SL2VL == nil || l.Step > 0 && slices.ContainsFunc(w.SL2VLs[:i], func(o SL2VL) bool {
			return o.Node == l.Node && o.In == l.In && o.Out == l.Out
		}) {
			continue
		}
		node := &f.live.Fabric.Nodes[l.Node]
		var was []fabric.VLs
		for _, p := range f.was {
			n := p.Fabric.NodeByGUID(node.GUID)
			if n != fabric.None && p.SL2VL != nil && !p.Unread.SL2VL && p.Fabric.Nodes[n].NumPorts == node.NumPorts {
				was = append(was, p.SL2VL.VLs(n, l.In, l.Out))
			}
		}
		if is := f.live.SL2VL.VLs(l.Node, l.In, l.Out); is != l.New && len(was) > 0 && !slices.Contains(was, is) {
			report(l.Node, fmt.Sprintf("VLs from port %d to port %d", l.In, l.Out), was[0], is, l.New)
		}
	}
}

// groups checks multicast tables.
func (f *finder) groups(w *List, report Found) {
	for i := range w.MFTs {
		b := &w.MFTs[i]
		if f.live.MFT == nil || b.Grow && slices.ContainsFunc(w.MFTs[:i], func(o MFTBlock) bool {
			return o.Switch == b.Switch && o.Num == b.Num && o.Position == b.Position
		}) {
			continue
		}
		to := f.staged.Fabric.SwitchByGUID(f.live.Fabric.SwitchNode(b.Switch).GUID)
		is, would := f.live.MFT.Block(b.Switch, b.Num, b.Position), f.staged.MFT.Block(to, b.Num, b.Position)
		was := values(f, b.Switch, func(p *fabric.Tables, at fabric.SwitchIndex) (mad.MulticastForwardingTable, bool) {
			if p.MFT == nil {
				return mad.MulticastForwardingTable{}, false
			}
			return p.MFT.Block(at, b.Num, b.Position), true
		})
		for k := range is {
			same := func(old mad.MulticastForwardingTable) bool { return old[k] == is[k] }
			if is[k] != would[k] && len(was) > 0 && !slices.ContainsFunc(was, same) {
				hex := func(ports uint16) string { return fmt.Sprintf("0x%04x", ports) }
				report(f.live.Fabric.Switches[b.Switch], b.What(k), hex(was[0][k]), hex(is[k]), hex(would[k]))
			}
		}
	}
}
