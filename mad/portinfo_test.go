// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"fmt"
	"testing"
)

func TestPortInfo(t *testing.T) {
	t.Run("ibsim", func(t *testing.T) {
		// Answer of ibsim 0.10 to smpquery -D portinfo 0 1 after OpenSM
		// 3.3.23 ran; the values are the ones that smpquery prints.
		b := golden(t, `0000000000000000 fe80000000000000 0004 0001 0050c048 0000 0ff9
			01 03 1f 02 74 52 00 47 40 40 00 08 08 04 e0 40 0000 0000 0000 20 1f 00 00
			0000 00 000000 0030 27 03`)
		checkAttribute(t, b, PortInfo{
			GIDPrefix: 0xfe80000000000000, LID: 4, MasterSMLID: 1, CapabilityMask: 0x50c048,
			MKeyLeasePeriod: 4089, LocalPort: 1,
			LinkWidthEnabled: Width1x | Width4x, LinkWidthActive: Width4x,
			LinkWidthSupported: Width1x | Width2x | Width4x | Width8x | Width12x,
			LinkSpeedSupported: 7, PortState: PortActive, PhysState: PhysLinkUp, LinkDownDefault: PhysPolling,
			LinkSpeedActive: 4, LinkSpeedEnabled: 7, NeighborMTU: MTU2048, VLCap: 4, VLArbHighCap: 8, VLArbLowCap: 8,
			MTUCap: MTU2048, VLStallCount: 7, OperVLs: 4, GUIDCap: 32, SubnetTimeout: 31,
			CapabilityMask2: 0x30, LinkSpeedExtActive: 2, LinkSpeedExtSupported: 7, LinkSpeedExtEnabled: 3,
		})
	})
	t.Run("all fields", func(t *testing.T) {
		// Laid out by the table of libibmad (rdma-core, libibmad/fields.c).
		b := golden(t, `0102030405060708fe80000000000001123423458250e94a34564567
			11131f0274528543594b212223d5d33a56786789789a24d2158789ab3dabcdef0c318d1a`)
		b[34] |= 5 << 3 // reserved
		b[52] |= 6 << 5
		b[56] |= 1 << 7
		b[63] |= 3 << 5
		checkAttribute(t, b, allFields)
	})
}

// allFields has a different value in every field.
var allFields = PortInfo{
	MKey: 0x0102030405060708, GIDPrefix: 0xfe80000000000001, LID: 0x1234, MasterSMLID: 0x2345,
	CapabilityMask: 0x8250e94a, DiagCode: 0x3456, MKeyLeasePeriod: 0x4567, LocalPort: 0x11,
	LinkWidthEnabled: 0x13, LinkWidthSupported: 0x1f, LinkWidthActive: Width4x,
	LinkSpeedSupported: 7, PortState: PortActive, PhysState: PhysLinkUp, LinkDownDefault: PhysPolling,
	MKeyProtect: 2, LMC: 5, LinkSpeedActive: 4, LinkSpeedEnabled: 3, NeighborMTU: MTU4096, MasterSMSL: 9,
	VLCap: 4, InitType: 0xb, VLHighLimit: 0x21, VLArbHighCap: 0x22, VLArbLowCap: 0x23,
	InitTypeReply: 0xd, MTUCap: MTU4096, VLStallCount: 6, HOQLife: 0x13, OperVLs: 3,
	PartitionEnforcementInbound: true, FilterRawInbound: true,
	MKeyViolations: 0x5678, PKeyViolations: 0x6789, QKeyViolations: 0x789a, GUIDCap: 0x24,
	ClientReregister: true, MulticastPKeyTrapSuppression: 2, SubnetTimeout: 0x12, RespTime: 0x15,
	LocalPhyErrors: 8, OverrunErrors: 7, MaxCreditHint: 0x89ab,
	LinkSpeedExt2Active: 1, LinkSpeedExt2Supported: 3, LinkSpeedExt2Enabled: 5, LinkRoundTripLatency: 0xabcdef,
	CapabilityMask2: 0x0c31, LinkSpeedExtActive: 8, LinkSpeedExtSupported: 0xd, LinkSpeedExtEnabled: 0x1a,
	spare34: 5, spare52: 6, spare56: 1, spare63: 3,
}

// Values too wide for their fields must not overwrite the fields next to them.
func TestPortInfoFieldsAreNarrow(t *testing.T) {
	a := PortInfo{
		PortState: 0xf4, LinkDownDefault: 0xf2, LMC: 0xf8, LinkSpeedEnabled: 0xf3, MasterSMSL: 0xf9,
		InitType: 0xfb, MTUCap: 0xf5, HOQLife: 0xe3, SubnetTimeout: 0xe4, RespTime: 0xe5, OverrunErrors: 0xf7,
		LinkRoundTripLatency: 0xff000001, LinkSpeedExt2Enabled: 0xf8, LinkSpeedExtSupported: 0xf1,
		LinkSpeedExtEnabled:          0xe2,
		MulticastPKeyTrapSuppression: 0xfc, LinkSpeedExt2Supported: 0xfc, LinkSpeedExt2Active: 0xfc,
	}
	want := PortInfo{
		PortState: 4, LinkDownDefault: 2, LinkSpeedEnabled: 3, MasterSMSL: 9, InitType: 0xb, MTUCap: 5,
		HOQLife: 3, SubnetTimeout: 4, RespTime: 5, OverrunErrors: 7, LinkRoundTripLatency: 1,
		LinkSpeedExtSupported: 1, LinkSpeedExtEnabled: 2,
	}
	b, err := a.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got PortInfo
	if err := got.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}

func FuzzPortInfo(f *testing.F) { fuzzAttribute[PortInfo](f) }

// The words are those of libibmad (rdma-core, libibmad/dump.c).
func TestPortWords(t *testing.T) {
	for _, c := range []struct {
		value fmt.Stringer
		want  string
	}{
		{PortNoChange, "NoChange"}, {PortDown, "Down"}, {PortInit, "Initialize"}, {PortArmed, "Armed"},
		{PortActive, "Active"}, {PortState(5), "?(5)"},
		{PhysNoChange, "NoChange"}, {PhysSleep, "Sleep"}, {PhysPolling, "Polling"}, {PhysDisabled, "Disabled"},
		{PhysTraining, "PortConfigurationTraining"}, {PhysLinkUp, "LinkUp"},
		{PhysLinkErrorRecovery, "LinkErrorRecovery"}, {PhysTest, "PhyTest"}, {PhysState(8), "?(8)"},
		{MTU256, "256"}, {MTU4096, "4096"}, {MTU(0), "?(0)"}, {MTU(6), "?(6)"},
		{VLs(0), "?(0)"}, {VLs(1), "VL0"}, {VLs(2), "VL0-1"}, {VLs(4), "VL0-7"}, {VLs(5), "VL0-14"}, {VLs(6), "?(6)"},
	} {
		if got := c.value.String(); got != c.want {
			t.Errorf("%T(%d) is %q, want %q", c.value, c.value, got, c.want)
		}
	}
}
