// SPDX-License-Identifier: Apache-2.0

package mad

import "testing"

func TestSwitchInfo(t *testing.T) {
	t.Run("ibsim", func(t *testing.T) {
		// The answer of ibsim 0.10 to smpquery -D switchinfo 0,1 before OpenSM ran.
		b := golden(t, `7800 0000 0400 0000 00 00 00 04 0000 0040 30 00 0000`)
		checkAttribute(t, b, SwitchInfo{
			LinearFDBCap: 30720, MulticastFDBCap: 1024, PortStateChange: true, PartitionEnforcementCap: 64,
			FilterRawInboundCap: true, FilterRawOutboundCap: true,
		})
	})
	t.Run("all fields", func(t *testing.T) {
		// Laid out by the table of libibmad (rdma-core, libibmad/fields.c).
		b := golden(t, `bfff0102400012341112139602030405a800c123`)
		b[16] |= 0x05 // reserved
		b[17], b[63] = 0x5a, 0xa5
		checkAttribute(t, b, SwitchInfo{
			LinearFDBCap: 0xbfff, RandomFDBCap: 0x0102, MulticastFDBCap: 0x4000, LinearFDBTop: 0x1234,
			DefaultPort: 0x11, DefaultMulticastPrimaryPort: 0x12, DefaultMulticastNotPrimaryPort: 0x13,
			LifeTimeValue: 0x12, PortStateChange: true, OptimizedSLtoVLMapping: 2,
			LIDsPerPort: 0x0203, PartitionEnforcementCap: 0x0405,
			InboundEnforcementCap: true, FilterRawInboundCap: true, EnhancedPort0: true, MulticastFDBTop: 0xc123,
			spareFlags: 5, spare17: 0x5a, spare: [44]byte{43: 0xa5},
		})
	})
}

func FuzzSwitchInfo(f *testing.F) { fuzzAttribute[SwitchInfo](f) }
