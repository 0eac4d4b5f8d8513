// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"example.org/ibconsole/mad"
)

// writeLIDs reads the PortInfo of each port, changes what is to change and
// writes it back.
func (a *applier) writeLIDs() {
	a.each(len(a.w.LIDs), func(i int) {
		l := a.w.LIDs[i]
		p := &a.f.Ports[l.Port]
		a.ask(p.Node, getPort(a.lidPath[i], p.Num), func(r *mad.Reply) {
			var info mad.PortInfo
			_ = r.Decode(&info) // the answer is a good one
			done := func(*mad.Reply) { a.wrote(&a.done.lids[i], &a.report.Written.LIDs) }
			if info.LID == l.LID && info.MasterSMLID == l.SMLID && info.LMC == l.LMC {
				done(r)
				return
			}
			keep(&info)
			info.LID, info.MasterSMLID, info.LMC = l.LID, l.SMLID, l.LMC
			a.ask(p.Node, setPort(a.lidPath[i], p.Num, &info, info.CapabilityMask), done, nil)
		}, nil)
	})
}

// writeTops writes the tops that are, or are not, the last.
func (a *applier) writeTops(last bool) {
	a.each(len(a.w.Tops), func(i int) {
		t := a.w.Tops[i]
		if t.Last != last {
			return
		}
		node := a.f.Switches[t.Switch]
		req := mad.Request{Attr: mad.AttrSwitchInfo, Path: a.switchPath[t.Switch]}
		a.ask(node, req, func(r *mad.Reply) {
			var info mad.SwitchInfo
			_ = r.Decode(&info) // the answer is a good one
			done := func(*mad.Reply) { a.wrote(&a.done.tops[i], &a.report.Written.Tops) }
			if info.LinearFDBTop == t.Top {
				done(r)
				return
			}
			info.LinearFDBTop = t.Top
			info.PortStateChange = false // else it would be cleared, and a subnet manager miss a change
			req.Method, req.Data = mad.MethodSet, encode(&info)
			a.ask(node, req, done, nil)
		}, nil)
	})
}

// writeBlocks writes the blocks from one to before another.
func (a *applier) writeBlocks(from, to int) {
	a.each(to-from, func(i int) {
		i += from
		b := &a.w.Blocks[i]
		req := mad.Request{
			Method: mad.MethodSet, Attr: mad.AttrLinearForwardingTable, Mod: uint32(b.Num),
			Path: a.switchPath[b.Switch], Data: b.Ports,
		}
		a.ask(a.f.Switches[b.Switch], req, func(*mad.Reply) { a.wrote(&a.done.blocks[i], &a.report.Written.Blocks) }, nil)
	})
}

func getPort(path mad.Path, num uint8) mad.Request {
	return mad.Request{Attr: mad.AttrPortInfo, Mod: uint32(num), Path: path}
}

// knowsExtended in PortInfo's modifier says that the sender knows extended
// speeds; without it a port may take LinkSpeedExtEnabled for unset (IBA 1.3,
// 14.2.5.6). OpenSM sets it for ports that have the capability.
const knowsExtended = 1 << 31

// setPort writes a PortInfo; caps are the capabilities of the port, for a switch
// those of port 0.
func setPort(path mad.Path, num uint8, info *mad.PortInfo, caps mad.CapabilityMask) mad.Request {
	req := mad.Request{Method: mad.MethodSet, Attr: mad.AttrPortInfo, Mod: uint32(num), Path: path, Data: encode(info)}
	if caps&mad.CapExtendedSpeeds != 0 {
		req.Mod |= knowsExtended
	}
	return req
}

// keep makes of a PortInfo that was read one that changes nothing when it is
// written: states, widths and speeds must be 0 for that (IBA 1.2.1, 14.2.5.6).
func keep(info *mad.PortInfo) {
	info.PortState, info.PhysState = mad.PortNoChange, mad.PhysNoChange
	info.LinkWidthEnabled, info.LinkSpeedEnabled, info.LinkSpeedExtEnabled, info.LinkSpeedExt2Enabled = 0, 0, 0, 0
	info.ClientReregister = false
}

func encode(a mad.Attribute) [mad.DataSize]byte {
	b, _ := a.MarshalBinary() // never fails
	return [mad.DataSize]byte(b)
}
