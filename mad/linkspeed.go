// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"fmt"
	"math/bits"
	"strings"
)

// LinkSpeed is the signalling rate of one lane, or a set of signalling rates with one bit each. PortInfo holds the
// speed in three generations of fields, and a vendor's attribute adds FDR10. [PortInfo.SpeedActive],
// [PortInfo.SpeedSupported] and [PortInfo.SpeedEnabled] combine these fields.
type LinkSpeed uint16

// Link speeds, one bit each, ascending.
const (
	SpeedSDR   LinkSpeed = 1 << iota // 2.5 Gb/s
	SpeedDDR                         // 5 Gb/s
	SpeedQDR                         // 10 Gb/s
	SpeedFDR10                       // 10.3125 Gb/s, Mellanox's
	SpeedFDR                         // 14.0625 Gb/s
	SpeedEDR                         // 25.78125 Gb/s
	SpeedHDR                         // 53.125 Gb/s
	SpeedNDR                         // 106.25 Gb/s
	SpeedXDR                         // 212.5 Gb/s
)

var speeds = [...]struct {
	name string
	gbps float64
}{
	{"SDR", 2.5}, {"DDR", 5}, {"QDR", 10}, {"FDR10", 10.3125}, {"FDR", 14.0625},
	{"EDR", 25.78125}, {"HDR", 53.125}, {"NDR", 106.25}, {"XDR", 212.5},
}

// Max returns the fastest speed of the set.
func (s LinkSpeed) Max() LinkSpeed {
	if s == 0 {
		return 0
	}
	return 1 << (bits.Len16(uint16(s)) - 1)
}

// Gbps returns the signalling rate of a lane in Gb/s at the fastest speed of the set. It returns 0 for an empty set.
func (s LinkSpeed) Gbps() float64 {
	if i := bits.Len16(uint16(s)) - 1; i >= 0 && i < len(speeds) {
		return speeds[i].gbps
	}
	return 0
}

// String returns the words that the diagnostic tools use: "HDR" for one speed, "EDR or HDR" for a set of speeds, "???"
// for an empty set and for unknown bits.
func (s LinkSpeed) String() string {
	var words []string
	for i, x := range speeds {
		if s>>i&1 != 0 {
			words = append(words, x.name)
		}
	}
	if len(words) == 0 || int(s)>>len(speeds) != 0 {
		words = append(words, "???")
	}
	return strings.Join(words, " or ")
}

// LinkWidth is the number of lanes of a link, or a set of such numbers with one bit each. The supported and enabled
// widths in a PortInfo are sets (IBA 14.2.5.6).
type LinkWidth uint8

// Link widths, one bit each.
const (
	Width1x  LinkWidth = 1
	Width4x  LinkWidth = 2
	Width8x  LinkWidth = 4
	Width12x LinkWidth = 8
	Width2x  LinkWidth = 16
)

// widths is sorted by lanes.
var widths = [...]struct {
	width LinkWidth
	lanes int
}{{Width1x, 1}, {Width2x, 2}, {Width4x, 4}, {Width8x, 8}, {Width12x, 12}}

// Lanes returns the number of lanes of the widest width in the set. It returns 0 for an empty set.
func (w LinkWidth) Lanes() int {
	lanes := 0
	for _, x := range widths {
		if w&x.width != 0 {
			lanes = x.lanes
		}
	}
	return lanes
}

// String returns the words that the diagnostic tools use: "4x" for one width, "1x or 4x" for a set of widths, "???" for
// an empty set and for unknown bits.
func (w LinkWidth) String() string {
	if bits.OnesCount8(uint8(w)) == 1 && w <= Width2x {
		return fmt.Sprintf("%dx", w.Lanes())
	}
	var words []string
	for _, x := range widths {
		if w&x.width != 0 {
			words = append(words, x.width.String())
		}
	}
	if len(words) == 0 || w > 31 {
		words = append(words, "???")
	}
	return strings.Join(words, " or ")
}

// CapabilityMask holds the capabilities of a port (IBA 14.2.5.6). In the PortInfo of port 0 of a switch, it holds the
// capabilities of all ports of the switch.
type CapabilityMask uint32

// The bits of CapabilityMask that this package uses.
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

// CapabilityMask2 holds capabilities that do not fit in [CapabilityMask]. The mask is valid only if CapabilityMask has
// CapCapabilityMask2.
type CapabilityMask2 uint16

// The bits of CapabilityMask2 that this package uses.
const (
	Cap2SetNodeDescription CapabilityMask2 = 1 << 0
	Cap2PortInfoExtended   CapabilityMask2 = 1 << 1
	Cap2LinkWidth2x        CapabilityMask2 = 1 << 4
	Cap2LinkSpeedHDR       CapabilityMask2 = 1 << 5
	Cap2LinkSpeedNDR       CapabilityMask2 = 1 << 10
	Cap2ExtendedSpeeds2    CapabilityMask2 = 1 << 11
)

// ExtSpeedsNone is the value of LinkSpeedExtEnabled that disables the extended speeds, FDR to NDR.
const ExtSpeedsNone = 30

// AllWidthsEnabled is the value of LinkWidthEnabled that enables the supported widths.
const AllWidthsEnabled = LinkWidth(255)

// WidthsEnabled returns the set of widths that are enabled.
func (a *PortInfo) WidthsEnabled() LinkWidth {
	if a.LinkWidthEnabled == AllWidthsEnabled {
		return a.LinkWidthSupported
	}
	return a.LinkWidthEnabled
}

// SpeedActive returns the speed of the link. The argument caps is the PortInfo whose capability masks are valid. For a
// port of a switch this is the PortInfo of port 0. For other nodes caps is nil, which means that the masks are in a
// itself. The argument fdr10 is the result of [MellanoxExtendedPortInfo.FDR10].
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

// SpeedSupported returns the set of speeds, without FDR10, that the port supports. See SpeedActive for caps.
func (a *PortInfo) SpeedSupported(caps *PortInfo) LinkSpeed {
	return a.speeds(caps, a.LinkSpeedSupported, a.LinkSpeedExtSupported, a.LinkSpeedExt2Supported)
}

// SpeedEnabled returns the set of speeds, without FDR10, that are enabled. See SpeedActive for caps.
func (a *PortInfo) SpeedEnabled(caps *PortInfo) LinkSpeed {
	ext := a.LinkSpeedExtEnabled
	if ext == ExtSpeedsNone {
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

// extendedSpeeds reports which of the later speed fields are valid: LinkSpeedExt fields and LinkSpeedExt2 fields.
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

// MellanoxFDR10 is the bit for FDR10 in the speed fields of [MellanoxExtendedPortInfo].
const MellanoxFDR10 = 1

// MellanoxExtendedPortInfo is a Mellanox attribute that distinguishes FDR10 from QDR. The attribute modifier is the
// port. The layout is that of OpenSM's ib_mlnx_ext_port_info_t:
//
//	 0  reserved            3
//	 3  StateChangeEnable   1
//	 4  reserved            3
//	 7  LinkSpeedSupported  1
//	 8  reserved            3
//	11  LinkSpeedEnabled    1
//	12  reserved            3
//	15  LinkSpeedActive     1
//	16  reserved           48
type MellanoxExtendedPortInfo struct {
	StateChangeEnable  uint8
	LinkSpeedSupported uint8
	LinkSpeedEnabled   uint8
	LinkSpeedActive    uint8

	spare [DataSize]byte
}

func (*MellanoxExtendedPortInfo) AttrID() AttrID { return AttrMellanoxExtendedPortInfo }

// FDR10 reports whether the link runs at FDR10.
func (a *MellanoxExtendedPortInfo) FDR10() bool { return a.LinkSpeedActive&MellanoxFDR10 != 0 }

func (a *MellanoxExtendedPortInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrMellanoxExtendedPortInfo, b); err != nil {
		return err
	}
	copy(a.spare[:], b)
	for i, field := range a.fields() {
		at := 3 + 4*i
		*field = b[at]
		a.spare[at] = 0
	}
	return nil
}

func (a *MellanoxExtendedPortInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	copy(b, a.spare[:])
	for i, field := range a.fields() {
		b[3+4*i] = *field
	}
	return dst, nil
}

// fields returns pointers to the fields at bytes 3, 7, 11 and 15.
func (a *MellanoxExtendedPortInfo) fields() [4]*uint8 {
	return [...]*uint8{&a.StateChangeEnable, &a.LinkSpeedSupported, &a.LinkSpeedEnabled, &a.LinkSpeedActive}
}
