// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// tableKey names a block of a node's lesser tables. mod has the port even where the request has not.
type tableKey struct {
	attr mad.AttrID
	mod  uint32
}

// table reads or writes a block of a table whose contents do not matter to the simulation. Until it is
// written a block is what the options say, or else as ibsim begins.
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

// pKeys: modifier bits 16 to 31 are a switch's port, 0 to 15 the block.
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

// slToVL: modifier bits 8 to 15 are the ingress, 0 to 7 the egress port of a switch.
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

// loaded are the tables of the options, nil if the node has nothing of them.
func (a *agent) loaded() *fabric.Tables {
	if a.node.fresh {
		return nil
	}
	return a.s.tables
}

// vlArbitration: modifier bits 16 to 31 are 1 for low priority and 3 for high, 0 to 15 a switch's port.
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

// multicast: modifier bits 28 to 31 are the port mask's number, 0 to 8 the block.
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

// port is the port that a modifier means and its number: elsewhere than at a switch where the request came in.
func (a *agent) port(named uint32) (fabric.PortIndex, uint32) {
	if a.node.sw == nil {
		return a.at, uint32(a.end.num)
	}
	if named > uint32(a.node.info.NumPorts) {
		return fabric.None, named
	}
	return a.node.first + fabric.PortIndex(named), named
}
