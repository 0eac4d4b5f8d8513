// SPDX-License-Identifier: Apache-2.0

package mad

// CapabilityMask says what a port can do, or in PortInfo of port 0 all ports of a switch (IBA 14.2.5.6).
type CapabilityMask uint32

// Bits of CapabilityMask that matter here.
const (
	CapIsSM             CapabilityMask = 1 << 1
	CapNotice           CapabilityMask = 1 << 2
	CapTrap             CapabilityMask = 1 << 3
	CapSLMapping        CapabilityMask = 1 << 6
	CapSMDisabled       CapabilityMask = 1 << 10
	CapSystemImageGUID  CapabilityMask = 1 << 11
	CapExtendedSpeeds   CapabilityMask = 1 << 14
	CapCapabilityMask2  CapabilityMask = 1 << 15
	CapClientReregister CapabilityMask = 1 << 25
	CapMulticastFDBTop  CapabilityMask = 1 << 30
)

// CapabilityMask2 goes on where [CapabilityMask] ends; it counts only where that has CapCapabilityMask2.
type CapabilityMask2 uint16

// Bits of CapabilityMask2 that matter here.
const (
	Cap2SetNodeDescription CapabilityMask2 = 1 << 0
	Cap2PortInfoExtended   CapabilityMask2 = 1 << 1
	Cap2LinkWidth2x        CapabilityMask2 = 1 << 4
	Cap2LinkSpeedHDR       CapabilityMask2 = 1 << 5
	Cap2LinkSpeedNDR       CapabilityMask2 = 1 << 10
	Cap2ExtendedSpeeds2    CapabilityMask2 = 1 << 11
)

// extEnabledNone in LinkSpeedExtEnabled switches the extended speeds off.
const extEnabledNone = 30

// SpeedActive is the speed of the link. caps is the PortInfo whose capability masks count: of a switch that of
// port 0, else a itself, as is nil. fdr10 says that [MellanoxExtendedPortInfo] has the link at FDR10.
func (a *PortInfo) SpeedActive(caps *PortInfo, fdr10 bool) LinkSpeed {
	ext, ext2 := a.extendedSpeeds(caps)
	switch {
	case ext2 && a.LinkSpeedExt2Active != 0:
		return ext2Speeds(a.LinkSpeedExt2Active)
	case ext && a.LinkSpeedExtActive != 0:
		return extSpeeds(a.LinkSpeedExtActive)
	case fdr10:
		return SpeedFDR10
	}
	return oldSpeeds(a.LinkSpeedActive)
}

// SpeedSupported is the set of speeds, without FDR10, that the port can run at; see SpeedActive for caps.
func (a *PortInfo) SpeedSupported(caps *PortInfo) LinkSpeed {
	return a.speeds(caps, a.LinkSpeedSupported, a.LinkSpeedExtSupported, a.LinkSpeedExt2Supported)
}

// SpeedEnabled is the set of speeds, without FDR10, that the port may run at; see SpeedActive for caps.
func (a *PortInfo) SpeedEnabled(caps *PortInfo) LinkSpeed {
	ext := a.LinkSpeedExtEnabled
	if ext == extEnabledNone {
		ext = 0
	}
	return a.speeds(caps, a.LinkSpeedEnabled, ext, a.LinkSpeedExt2Enabled)
}

func (a *PortInfo) speeds(caps *PortInfo, old, ext, ext2 uint8) LinkSpeed {
	set := oldSpeeds(old)
	hasExt, hasExt2 := a.extendedSpeeds(caps)
	if hasExt {
		set |= extSpeeds(ext)
	}
	if hasExt2 {
		set |= ext2Speeds(ext2)
	}
	return set
}

// extendedSpeeds says which of the later speed fields have a meaning.
func (a *PortInfo) extendedSpeeds(caps *PortInfo) (ext, ext2 bool) {
	if caps == nil {
		caps = a
	}
	ext = caps.CapabilityMask&CapExtendedSpeeds != 0
	ext2 = ext && caps.CapabilityMask&CapCapabilityMask2 != 0 && caps.CapabilityMask2&Cap2ExtendedSpeeds2 != 0
	return ext, ext2
}

func oldSpeeds(bits uint8) LinkSpeed  { return LinkSpeed(bits & 7) }
func extSpeeds(bits uint8) LinkSpeed  { return LinkSpeed(bits&0xf) * SpeedFDR }
func ext2Speeds(bits uint8) LinkSpeed { return LinkSpeed(bits&1) * SpeedXDR }
