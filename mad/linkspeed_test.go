// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"testing"
)

// The words for single speeds and widths are those of ibnetdiscover.
func TestLinkSpeedString(t *testing.T) {
	for speed, want := range map[LinkSpeed]string{
		0: "???", SpeedSDR: "SDR", SpeedDDR: "DDR", SpeedQDR: "QDR", SpeedFDR10: "FDR10", SpeedFDR: "FDR",
		SpeedEDR: "EDR", SpeedHDR: "HDR", SpeedNDR: "NDR", SpeedXDR: "XDR", 1 << 9: "???",
		SpeedQDR | SpeedEDR: "QDR or EDR", SpeedSDR | 1<<9: "SDR or ???",
	} {
		if got := speed.String(); got != want {
			t.Errorf("LinkSpeed(0x%x) is %q, want %q", uint16(speed), got, want)
		}
	}
}

func TestLinkSpeedMax(t *testing.T) {
	for set, want := range map[LinkSpeed]LinkSpeed{
		0: 0, SpeedSDR: SpeedSDR, SpeedSDR | SpeedQDR: SpeedQDR, SpeedXDR | SpeedFDR10: SpeedXDR,
	} {
		if got := set.Max(); got != want {
			t.Errorf("%v.Max() is %v, want %v", set, got, want)
		}
	}
	if got := (SpeedQDR | SpeedHDR).Gbps(); got != 53.125 {
		t.Errorf("HDR has %v Gb/s", got)
	}
	if got := LinkSpeed(0).Gbps(); got != 0 {
		t.Errorf("no speed has %v Gb/s", got)
	}
	if got := LinkSpeed(1 << 12).Gbps(); got != 0 {
		t.Errorf("an unknown speed has %v Gb/s", got)
	}
}

func TestLinkWidthString(t *testing.T) {
	for width, want := range map[LinkWidth]string{
		0: "???", Width1x: "1x", Width4x: "4x", Width8x: "8x", Width12x: "12x", Width2x: "2x",
		Width1x | Width4x: "1x or 4x", Width2x | Width4x: "2x or 4x", 32: "???", 33: "1x or ???",
	} {
		if got := width.String(); got != want {
			t.Errorf("LinkWidth(%d) is %q, want %q", uint8(width), got, want)
		}
	}
	if got := (Width2x | Width1x).Lanes(); got != 2 {
		t.Errorf("1x or 2x has %d lanes, want 2", got)
	}
}

func TestPortInfoSpeed(t *testing.T) {
	const (
		ext  = CapExtendedSpeeds
		both = CapExtendedSpeeds | CapCapabilityMask2
	)
	port0 := &PortInfo{CapabilityMask: ext}
	for _, c := range []struct {
		name   string
		port   PortInfo
		caps   *PortInfo
		fdr10  bool
		active LinkSpeed
	}{
		{"old speed", PortInfo{LinkSpeedActive: 4}, nil, false, SpeedQDR},
		{"FDR10 shows as QDR", PortInfo{LinkSpeedActive: 4}, nil, true, SpeedFDR10},
		{"extended", PortInfo{LinkSpeedActive: 4, LinkSpeedExtActive: 4, CapabilityMask: ext}, nil, false, SpeedHDR},
		{"extended goes before FDR10", PortInfo{LinkSpeedActive: 4, LinkSpeedExtActive: 1, CapabilityMask: ext}, nil,
			true, SpeedFDR},
		{"extended without the capability", PortInfo{LinkSpeedActive: 2, LinkSpeedExtActive: 4}, nil, false, SpeedDDR},
		{"capability at port 0", PortInfo{LinkSpeedActive: 4, LinkSpeedExtActive: 8}, port0, false, SpeedNDR},
		{
			"extended 2", PortInfo{LinkSpeedExtActive: 8, LinkSpeedExt2Active: 1, CapabilityMask: both,
				CapabilityMask2: Cap2ExtendedSpeeds2}, nil, false, SpeedXDR,
		},
		{
			"extended 2 without the capability", PortInfo{LinkSpeedExtActive: 8, LinkSpeedExt2Active: 1,
				CapabilityMask: both}, nil, false, SpeedNDR,
		},
		{
			"extended 2 without its mask", PortInfo{LinkSpeedExtActive: 8, LinkSpeedExt2Active: 1, CapabilityMask: ext,
				CapabilityMask2: Cap2ExtendedSpeeds2}, nil, false, SpeedNDR,
		},
		{"down", PortInfo{}, nil, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.port.SpeedActive(c.caps, c.fdr10); got != c.active {
				t.Errorf("got %v, want %v", got, c.active)
			}
		})
	}
	p := PortInfo{
		LinkSpeedSupported: 7, LinkSpeedExtSupported: 0xf, LinkSpeedExt2Supported: 1,
		LinkSpeedEnabled: 5, LinkSpeedExtEnabled: 30, LinkSpeedExt2Enabled: 1,
		CapabilityMask: both, CapabilityMask2: Cap2ExtendedSpeeds2,
	}
	if got, want := p.SpeedSupported(nil), SpeedSDR|SpeedDDR|SpeedQDR|SpeedFDR|SpeedEDR|SpeedHDR|SpeedNDR|
		SpeedXDR; got != want {
		t.Errorf("supported %v, want %v", got, want)
	}
	if got, want := p.SpeedEnabled(nil), SpeedSDR|SpeedQDR|SpeedXDR; got != want {
		t.Errorf("enabled %v, want %v (30 disables the extended speeds)", got, want)
	}
}

func TestMellanoxExtendedPortInfo(t *testing.T) {
	// Laid out by hand.
	b := golden(t, `000000 11 000000 01 aabbcc 03 000000 01`)
	want := MellanoxExtendedPortInfo{
		StateChangeEnable: 0x11, LinkSpeedSupported: 1, LinkSpeedEnabled: 3, LinkSpeedActive: 1,
		spare: [DataSize]byte{8: 0xaa, 9: 0xbb, 10: 0xcc},
	}
	checkAttribute(t, b, want)
	if !want.FDR10() {
		t.Error("active speed 1 is not FDR10")
	}
	if (&MellanoxExtendedPortInfo{LinkSpeedSupported: 1}).FDR10() {
		t.Error("a link that supports FDR10 is reported to run at it")
	}
}

func FuzzMellanoxExtendedPortInfo(f *testing.F) { fuzzAttribute[MellanoxExtendedPortInfo](f) }
