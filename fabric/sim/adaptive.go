// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// wireStates are the states of LIDs as they go over the wire.
var wireStates = [...]mad.LIDState{
	fabric.StateStatic: mad.LIDStatic, fabric.StateFree: mad.LIDFree, fabric.StateBounded: mad.LIDBounded,
	fabric.StateHash: mad.LIDHash,
}

// adaptive answers the attributes of adaptive routing, which cannot be set. Sub-groups are answered as one.
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

// lidGroups is the block of the table that the modifier names.
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
