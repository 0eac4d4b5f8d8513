// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// The defaults for nodes in ibsim 0.10 (sim_net.c).
const (
	defaultRevision   = 0xa1
	caPartitionCap    = 64
	port0PartitionCap = 8
	vl0to7            = mad.VLs(4)
	vlArbCap          = 8
	vlStallCount      = 7
	mKeyLease         = 4089
	allWidths         = mad.LinkWidth(31)
	respTime          = 18
	capVendorClass    = mad.CapabilityMask(1 << 20)
	capMaskNotice     = mad.CapabilityMask(1 << 22)
	baseCapMask       = mad.CapTrap | mad.CapSLMapping | mad.CapExtendedSpeeds | mad.CapCapabilityMask2
)

func newPort(f *fabric.Fabric, i fabric.PortIndex, active bool) port {
	p := &f.Ports[i]
	n := &f.Nodes[p.Node]
	out := port{node: p.Node, num: p.Num, cable: p.Peer, guid: p.GUID}
	a := &out.info
	*a = mad.PortInfo{
		LinkDownDefault: mad.PhysPolling,
		VLCap:           vl0to7,
		VLArbHighCap:    vlArbCap,
		VLArbLowCap:     vlArbCap,
		NeighborMTU:     mad.MTU2048,
		MTUCap:          mad.MTU2048,
		VLStallCount:    vlStallCount,
		PhysState:       mad.PhysLinkUp,
		PortState:       mad.PortInit,
	}
	switch {
	case !n.IsSwitch():
		a.CapabilityMask = baseCapMask | capVendorClass
		a.GUIDCap = 32
		if p.Linked() {
			a.CapabilityMask |= capMaskNotice
		}
	case p.Num == 0:
		a.CapabilityMask = baseCapMask
		a.GUIDCap, a.RespTime, a.VLStallCount = 1, 8, 0
		a.NeighborMTU, a.MTUCap = mad.MTU256, mad.MTU1024
		a.PortState = mad.PortActive
	case !p.Linked():
		a.LocalPhyErrors = 4
	}
	if !n.IsSwitch() || p.Num == 0 {
		a.MKeyLeasePeriod, a.SubnetTimeout = mKeyLease, 31
		a.CapabilityMask2 = mad.Cap2LinkWidth2x | mad.Cap2LinkSpeedHDR
	}
	out.adopt(p, active)
	setLink(a, p)
	if a.CapabilityMask&mad.CapCapabilityMask2 != 0 && fastest(f, i) >= fabric.NDR {
		a.CapabilityMask2 |= mad.Cap2LinkSpeedNDR | mad.Cap2ExtendedSpeeds2
	}
	return out
}

// adopt copies the values that the fabric has for the port.
func (p *port) adopt(from *fabric.Port, active bool) {
	a := &p.info
	a.LID, a.MasterSMLID, a.LMC = from.LID, from.SMLID, from.LMC
	if from.Linked() || from.Num == 0 {
		a.CapabilityMask = cmp.Or(mad.CapabilityMask(from.CapMask), a.CapabilityMask)
	}
	a.VLCap = cmp.Or(mad.VLs(from.VLCap), a.VLCap)
	a.OperVLs = cmp.Or(mad.VLs(from.OperVLs), a.VLCap)
	a.NeighborMTU = cmp.Or(mad.MTU(from.MTU), a.NeighborMTU)
	a.MTUCap = max(a.MTUCap, a.NeighborMTU)
	switch {
	case from.Num == 0:
	case !from.Linked():
		a.PhysState, a.PortState = mad.PhysPolling, mad.PortDown
	case active:
		a.PortState = mad.PortActive
	case from.State > mad.PortDown:
		a.PortState = from.State
	}
}

// setLink sets the width and speed of a port. It enables all widths and speeds up to the active ones, as ibsim does for
// a rate such as "4xHDR" in its files. Without a rate, ibsim enables only 4x SDR.
func setLink(a *mad.PortInfo, p *fabric.Port) {
	a.LinkWidthSupported = allWidths
	a.LinkWidthActive, a.LinkWidthEnabled = mad.Width4x, mad.Width4x
	switch p.Width {
	case 1:
		a.LinkWidthActive, a.LinkWidthEnabled = mad.Width1x, mad.Width1x
	case 2:
		a.LinkWidthActive, a.LinkWidthEnabled = mad.Width2x, mad.Width2x
	case 4:
		if p.Speed > fabric.SDR {
			a.LinkWidthEnabled = mad.Width1x | mad.Width4x
		}
	case 8:
		a.LinkWidthActive, a.LinkWidthEnabled = mad.Width8x, mad.Width8x
	case 12:
		a.LinkWidthActive, a.LinkWidthEnabled = mad.Width12x, mad.Width1x|mad.Width4x|mad.Width12x
	}
	a.LinkSpeedSupported = 7
	a.LinkSpeedActive, a.LinkSpeedEnabled = 1, 1
	if p.Speed >= fabric.DDR {
		a.LinkSpeedActive, a.LinkSpeedEnabled = 2, 3
	}
	if p.Speed >= fabric.QDR {
		a.LinkSpeedActive, a.LinkSpeedEnabled = 4, 7
	}
	switch {
	case p.Speed == fabric.XDR:
		a.LinkSpeedExt2Active, a.LinkSpeedExt2Supported, a.LinkSpeedExt2Enabled = 1, 1, 1
		a.LinkSpeedExtSupported, a.LinkSpeedExtEnabled = 15, 15
	case p.Speed >= fabric.FDR:
		a.LinkSpeedExtActive = 1 << (p.Speed - fabric.FDR)
		a.LinkSpeedExtEnabled = a.LinkSpeedExtActive<<1 - 1
		a.LinkSpeedExtSupported = max(7, a.LinkSpeedExtEnabled)
	}
}

// fastest returns the speed that the capabilities in a PortInfo must include. This is the speed of the port. For port 0
// it is the highest speed of the switch.
func fastest(f *fabric.Fabric, i fabric.PortIndex) fabric.Speed {
	p := &f.Ports[i]
	n := &f.Nodes[p.Node]
	if p.Num > 0 || !n.IsSwitch() {
		return p.Speed
	}
	most := p.Speed
	for k := i + 1; k <= i+fabric.PortIndex(n.NumPorts); k++ {
		most = max(most, f.Ports[k].Speed)
	}
	return most
}

func (p *port) encode() {
	b, _ := p.info.AppendBinary(p.wire[:0])
	copy(p.wire[:], b)
}
