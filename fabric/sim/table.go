// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// tableKey identifies a block of a table of a node. mod includes the port even if the modifier of the request does not.
type tableKey struct {
	attr mad.AttrID
	mod  uint32
}

// table reads or writes a block of a table that does not affect how the simulation forwards packets. Before the first
// write a block contains the data of Options.Tables, or ibsim's defaults.
func (a *agent) table(attr mad.AttrID) mad.Status {
	var block [mad.DataSize]byte
	var key tableKey
	var ok bool
	switch attr {
	case mad.AttrGUIDInfo:
		key, ok = a.guidInfo(&block)
	case mad.AttrPKeyTable:
		key, ok = a.pKeys(&block)
	case mad.AttrSLToVLTable:
		key, ok = a.slToVL(&block)
	case mad.AttrVLArbitrationTable:
		key, ok = a.vlArbitration(&block)
	case mad.AttrMellanoxExtendedPortInfo:
		key, ok = a.mellanoxPortInfo(&block)
	case mad.AttrMulticastForwardingTable:
		if a.node.sw == nil {
			return mad.StatusMethodAttrMismatch
		}
		key, ok = a.multicast(&block)
	case mad.AttrPrivateLFTInfo, mad.AttrAdaptiveRoutingInfo, mad.AttrAdaptiveRoutingGroupTable,
		mad.AttrAdaptiveRoutingLFT:
		return a.adaptive(attr)
	default:
		return mad.StatusMethodAttrMismatch
	}
	if !ok {
		return mad.StatusInvalidValue
	}
	key.attr = attr
	if a.set {
		if attr == mad.AttrGUIDInfo && a.mod == 0 {
			binary.BigEndian.PutUint64(a.data, a.end.guid) // cannot be written (IBA 1.2.1, 14.2.5.5)
		}
		if a.node.tables == nil {
			a.node.tables = map[tableKey][mad.DataSize]byte{}
		}
		a.node.tables[key] = [mad.DataSize]byte(a.data)
		return mad.StatusOK
	}
	if stored, ok := a.node.tables[key]; ok {
		block = stored
	}
	copy(a.data, block[:])
	return mad.StatusOK
}

func (a *agent) guidInfo(block *[mad.DataSize]byte) (tableKey, bool) {
	if a.mod == 0 {
		binary.BigEndian.PutUint64(block[:], a.end.guid)
	}
	return tableKey{mod: uint32(a.end.num)<<16 | a.mod&0xffff}, a.mod <= uint32(a.end.info.GUIDCap)/8
}

// pKeys returns the key and the initial data of a P_Key block. Bits 16 to 31 of the modifier are the port of a switch,
// bits 0 to 15 the block.
func (a *agent) pKeys(block *[mad.DataSize]byte) (tableKey, bool) {
	port, n := a.port(a.mod >> 16)
	size := uint32(a.node.info.PartitionCap)
	if a.node.sw != nil && n > 0 {
		size = uint32(a.node.sw.info.PartitionEnforcementCap)
	}
	if a.mod&0xffff == 0 {
		block[0], block[1] = 0xff, 0xff
	}
	return tableKey{mod: n<<16 | a.mod&0xffff}, port != fabric.None && a.mod&0xffff*32 < size
}

// slToVL returns the key and the initial data of an SL2VL table. Bits 8 to 15 of the modifier are the ingress port of a
// switch, bits 0 to 7 the egress port.
func (a *agent) slToVL(block *[mad.DataSize]byte) (tableKey, bool) {
	copy(block[:], []byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xe7})
	from, in := a.port(a.mod >> 8 & 0xff)
	to, out := a.port(a.mod & 0xff)
	ok := from != fabric.None && to != fabric.None
	if t := a.loaded(); ok && t != nil && t.SL2VL != nil {
		table := mad.SLToVLTable{VL: t.SL2VL.VLs(a.end.node, uint8(in), uint8(out))}
		copy(block[:], marshal(&table))
	}
	return tableKey{mod: in<<8 | out}, ok
}

// loaded returns Options.Tables. It returns nil if the node was powered on later, because it then has lost its tables.
func (a *agent) loaded() *fabric.Tables {
	if a.node.fresh {
		return nil
	}
	return a.s.tables
}

// vlArbitration returns the key and the initial data of a VL arbitration block. Bits 16 to 31 of the modifier are 1 for
// low priority and 3 for high priority. Bits 0 to 15 are the port of a switch.
func (a *agent) vlArbitration(block *[mad.DataSize]byte) (tableKey, bool) {
	port, n := a.port(a.mod & 0xffff)
	table := a.mod >> 16
	for vl := range byte(vlArbCap) {
		block[2*vl] = vl
		if (vl == 0) == (table == 3) {
			block[2*vl+1] = 4
		}
	}
	return tableKey{mod: table<<16 | n}, port != fabric.None && (table == 1 || table == 3)
}

// multicast returns the key and the initial data of a multicast forwarding block. Bits 28 to 31 of the modifier are the
// position of the ports, bits 0 to 8 the block.
func (a *agent) multicast(block *[mad.DataSize]byte) (tableKey, bool) {
	n, mask := a.mod&0x1ff, a.mod>>28
	ok := n < uint32(a.node.sw.info.MulticastFDBCap)/mad.MFTBlock && mask <= uint32(a.node.info.NumPorts)/mad.MFTPorts
	if t := a.loaded(); ok && t != nil && t.MFT != nil {
		loaded := t.MFT.Block(a.s.f.Nodes[a.end.node].Switch, uint16(n), uint8(mask))
		copy(block[:], marshal(&loaded))
	}
	return tableKey{mod: mask<<28 | n}, ok
}

func (a *agent) mellanoxPortInfo(block *[mad.DataSize]byte) (tableKey, bool) {
	port, n := a.port(a.mod)
	if port != fabric.None && a.s.f.Ports[port].Speed == fabric.FDR10 {
		copy(block[:], marshal(&mad.MellanoxExtendedPortInfo{
			LinkSpeedSupported: mad.MellanoxFDR10,
			LinkSpeedEnabled:   mad.MellanoxFDR10,
			LinkSpeedActive:    mad.MellanoxFDR10,
		}))
	}
	return tableKey{mod: n}, port != fabric.None
}

// port returns the port that a modifier selects, and its number. On nodes other than switches, this is the port that
// received the request.
func (a *agent) port(selected uint32) (fabric.PortIndex, uint32) {
	if a.node.sw == nil {
		return a.at, uint32(a.end.num)
	}
	if selected > uint32(a.node.info.NumPorts) {
		return fabric.None, selected
	}
	return a.node.first + fabric.PortIndex(selected), selected
}

// wireStates maps the adaptive states of LIDs to their numbers in MADs.
var wireStates = [...]mad.LIDState{
	fabric.StateStatic: mad.LIDStatic, fabric.StateFree: mad.LIDFree, fabric.StateBounded: mad.LIDBounded,
	fabric.StateHash: mad.LIDHash,
}

// adaptive answers Gets of the adaptive-routing attributes. The attributes cannot be set. The sub-groups of a group are
// combined into one.
func (a *agent) adaptive(attr mad.AttrID) mad.Status {
	t := a.loaded()
	if a.set || a.node.sw == nil || t == nil || t.Adaptive == nil || !fabric.MayAdapt(a.node.info.VendorID) {
		return mad.StatusMethodAttrMismatch
	}
	s := a.s.f.Nodes[a.end.node].Switch
	sw := &t.Adaptive.Switches[s]
	switch attr {
	case mad.AttrPrivateLFTInfo:
		info := &mad.PrivateLFTInfo{Tables: uint8(len(sw.Tables))}
		if len(sw.Tables) > 1 {
			info.Mode = 1
		}
		return a.get(marshal(info))
	case mad.AttrAdaptiveRoutingInfo:
		return a.get(marshal(adaptiveInfo(sw)))
	case mad.AttrAdaptiveRoutingGroupTable:
		if a.mod > fabric.MaxGroup/mad.AdaptiveRoutingGroups {
			return mad.StatusInvalidValue
		}
		var block mad.AdaptiveRoutingGroupTable
		for i := range block {
			for _, port := range sw.Ports(int(a.mod)*len(block) + i) {
				block[i].Add(port)
			}
		}
		return a.get(marshal(&block))
	}
	if a.mod > mad.LastUnicastLID/mad.AdaptiveRoutingLIDs {
		return mad.StatusInvalidValue
	}
	return a.get(marshal(a.lidGroups(sw)))
}

func adaptiveInfo(sw *fabric.AdaptiveSwitch) *mad.AdaptiveRoutingInfo {
	return &mad.AdaptiveRoutingInfo{
		Enabled: sw.Enabled, Fallback: true, FallbackEnabled: sw.FastReroute, BySLSupported: true,
		BySL: sw.SLs != 0xffff, SLs: sw.SLs,
		GroupCap: fabric.MaxGroup, GroupTop: uint16(max(0, len(sw.Groups)-1)), GroupTables: 1,
	}
}

// lidGroups returns the block of the LID table that the modifier selects.
func (a *agent) lidGroups(sw *fabric.AdaptiveSwitch) *mad.AdaptiveRoutingLFT {
	var block mad.AdaptiveRoutingLFT
	for i := range block {
		lid := uint16(a.mod)*uint16(len(block)) + uint16(i)
		port, entry := sw.Entry(0, lid, a.node.sw.forward(lid))
		block[i] = mad.AdaptiveRoutingEntry{Group: uint16(entry.Group()), Port: port, State: wireStates[entry.State()]}
		if entry.State() == fabric.StateStatic {
			block[i].Group = uint16(port)
		}
	}
	return &block
}
