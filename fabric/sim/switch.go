// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// The capacities of switches in ibsim 0.10 (sim_net.c). The option -L of ibsim sets the capacity of the forwarding
// table.
const (
	linearCap       = mad.LastUnicastLID + 1
	multicastCap    = 1024
	extPartitionCap = 64
	lastLFTBlock    = mad.LastUnicastLID / mad.LFTBlock
)

type switchState struct {
	info mad.SwitchInfo
	lft  []byte // whole blocks; entries above are NoPort
}

func newSwitch(n *fabric.Node) *switchState {
	return &switchState{info: mad.SwitchInfo{
		LinearFDBCap:            linearCap,
		MulticastFDBCap:         multicastCap,
		PartitionEnforcementCap: extPartitionCap,
		FilterRawInboundCap:     true,
		FilterRawOutboundCap:    true,
		EnhancedPort0:           n.EnhancedPort0,
		PortStateChange:         true,
	}}
}

// growMulticast sets the MulticastFDBTop and increases the capacity accordingly.
func (sw *switchState) growMulticast(top uint16) {
	sw.info.MulticastFDBTop = top
	blocks := (int(top) + 1 - fabric.FirstMLID + mad.MFTBlock - 1) / mad.MFTBlock
	sw.info.MulticastFDBCap = max(sw.info.MulticastFDBCap, uint16(blocks*mad.MFTBlock))
}

// forward returns the egress port of the switch for a LID.
func (sw *switchState) forward(lid uint16) uint8 {
	if lid > sw.info.LinearFDBTop || int(lid) >= len(sw.lft) {
		return mad.NoPort
	}
	return sw.lft[lid]
}

func (a *agent) switchInfo() mad.Status {
	if a.node.sw == nil {
		return mad.StatusMethodAttrMismatch
	}
	info := &a.node.sw.info
	if a.set {
		var want mad.SwitchInfo
		_ = want.UnmarshalBinary(a.data) // the length is right
		if want.LinearFDBTop >= info.LinearFDBCap {
			return mad.StatusInvalidValue
		}
		info.LinearFDBTop = want.LinearFDBTop
		info.DefaultPort = want.DefaultPort
		info.DefaultMulticastPrimaryPort = want.DefaultMulticastPrimaryPort
		info.DefaultMulticastNotPrimaryPort = want.DefaultMulticastNotPrimaryPort
		info.LifeTimeValue = want.LifeTimeValue
		info.OptimizedSLtoVLMapping = want.OptimizedSLtoVLMapping
		info.MulticastFDBTop = want.MulticastFDBTop
		info.PortStateChange = info.PortStateChange && !want.PortStateChange
	}
	copy(a.data, marshal(info))
	return mad.StatusOK
}

func (a *agent) forwardingTable() mad.Status {
	sw := a.node.sw
	switch {
	case sw == nil:
		return mad.StatusMethodAttrMismatch
	case a.mod > lastLFTBlock:
		return mad.StatusInvalidValue
	}
	from := int(a.mod) * mad.LFTBlock
	to := from + mad.LFTBlock
	if a.set {
		if grow := to - len(sw.lft); grow > 0 {
			sw.lft = append(sw.lft, bytes.Repeat([]byte{mad.NoPort}, grow)...)
		}
		copy(sw.lft[from:to], a.data)
		return mad.StatusOK
	}
	if to <= len(sw.lft) {
		copy(a.data, sw.lft[from:to])
		return mad.StatusOK
	}
	fabric.FillNoPath(a.data)
	return mad.StatusOK
}
