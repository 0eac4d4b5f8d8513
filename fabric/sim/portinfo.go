// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

const offLocalPort = 28 // of a PortInfo

// portInfo reads or writes a PortInfo. Bit 31 of the modifier means that the client supports extended speeds (IBA 1.3,
// 14.2.5.6).
func (a *agent) portInfo() mad.Status {
	here := &a.s.ports[a.at]
	num := a.mod &^ (1 << 31)
	if num > uint32(a.node.info.NumPorts) {
		return mad.StatusInvalidValue
	}
	if num == 0 && a.node.sw == nil {
		num = uint32(here.num)
	}
	i := a.node.first + fabric.PortIndex(num)
	p := &a.s.ports[i]
	status := mad.StatusOK
	if a.set {
		if a.node.sw == nil && i != a.at {
			return mad.StatusInvalidValue
		}
		status = a.setPortInfo(i)
		p.encode()
	}
	copy(a.data, p.wire[:])
	a.data[offLocalPort] = here.num
	return status
}

// setPortInfo writes the writable fields of PortInfo (IBA 1.2.1, 14.2.5.6). If a field has an invalid value, it writes
// none.
func (a *agent) setPortInfo(i fabric.PortIndex) mad.Status {
	p := &a.s.ports[i]
	var want mad.PortInfo
	_ = want.UnmarshalBinary(a.data) // the length is right
	if want.OperVLs > p.info.VLCap || want.LID > mad.LastUnicastLID || !a.s.stateAllowed(i, want.PortState) {
		return mad.StatusInvalidValue
	}
	was := p.info
	set(&p.info, &want)
	changed := p.info.LinkWidthEnabled != was.LinkWidthEnabled || speedFields(&p.info) != speedFields(&was)
	p.asked = p.asked || changed
	switch {
	case want.PhysState == mad.PhysDisabled, want.PhysState == mad.PhysPolling:
		p.info.PhysState = want.PhysState
		if p.cable != fabric.None {
			a.s.train(i, true)
		}
	case want.PortState == mad.PortDown && a.s.peer(i) != fabric.None:
		a.s.train(i, true)
	case changed && p.info.PhysState == mad.PhysPolling && p.cable != fabric.None: // it is training
		a.s.train(i, true)
	case want.PortState > mad.PortInit:
		p.info.PortState = want.PortState
	}
	return mad.StatusOK
}

// stateAllowed reports whether a port may change to a state. As in ibsim, the state may change by one step, and may
// exceed the peer's state by at most one step.
func (s *Sim) stateAllowed(i fabric.PortIndex, want mad.PortState) bool {
	if want <= mad.PortDown {
		return true
	}
	peer := s.peer(i)
	if peer == fabric.None {
		return false
	}
	if want == mad.PortInit {
		return true
	}
	now, there := s.ports[i].info.PortState, s.ports[peer].info.PortState
	return want <= mad.PortActive && (want == now+1 || want == now-1) && want <= there+1
}

// speedFields returns the fields of a PortInfo that enable speeds.
func speedFields(a *mad.PortInfo) [3]uint8 {
	return [3]uint8{a.LinkSpeedEnabled, a.LinkSpeedExtEnabled, a.LinkSpeedExt2Enabled}
}

// set copies the fields that a Set request may change, except for the states.
func set(a, want *mad.PortInfo) {
	a.MKey = want.MKey
	a.GIDPrefix = want.GIDPrefix
	a.LID = want.LID
	a.MasterSMLID = want.MasterSMLID
	a.MKeyLeasePeriod = want.MKeyLeasePeriod
	a.MKeyProtect = want.MKeyProtect
	a.LMC = want.LMC
	a.NeighborMTU = want.NeighborMTU
	a.MasterSMSL = want.MasterSMSL
	a.VLHighLimit = want.VLHighLimit
	a.VLStallCount = want.VLStallCount
	a.HOQLife = want.HOQLife
	a.PartitionEnforcementInbound = want.PartitionEnforcementInbound
	a.PartitionEnforcementOutbound = want.PartitionEnforcementOutbound
	a.FilterRawInbound = want.FilterRawInbound
	a.FilterRawOutbound = want.FilterRawOutbound
	a.MKeyViolations = want.MKeyViolations
	a.PKeyViolations = want.PKeyViolations
	a.QKeyViolations = want.QKeyViolations
	a.SubnetTimeout = want.SubnetTimeout
	a.MulticastPKeyTrapSuppression = want.MulticastPKeyTrapSuppression
	a.LocalPhyErrors = want.LocalPhyErrors
	a.OverrunErrors = want.OverrunErrors
	setUnlessZero(&a.LinkDownDefault, want.LinkDownDefault)
	setUnlessZero(&a.LinkWidthEnabled, want.LinkWidthEnabled)
	setUnlessZero(&a.LinkSpeedEnabled, want.LinkSpeedEnabled)
	setUnlessZero(&a.LinkSpeedExtEnabled, want.LinkSpeedExtEnabled)
	setUnlessZero(&a.LinkSpeedExt2Enabled, want.LinkSpeedExt2Enabled)
	setUnlessZero(&a.OperVLs, want.OperVLs)
}

// setUnlessZero writes a field in which 0 means no change.
func setUnlessZero[T comparable](field *T, want T) {
	var zero T
	if want != zero {
		*field = want
	}
}
