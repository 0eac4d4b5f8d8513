// SPDX-License-Identifier: Apache-2.0

package mad

import "testing"

func TestSMInfo(t *testing.T) {
	t.Run("opensm", func(t *testing.T) {
		// The answer of OpenSM 3.3.23 to sminfo -D 0,1,3 over ibsim.
		b := golden(t, `0002c90300b00031 0000000000000001 00000059 03`)
		checkAttribute(t, b, SMInfo{GUID: 0x0002c90300b00031, SMKey: 1, ActCount: 0x59, State: SMMaster})
	})
	t.Run("all fields", func(t *testing.T) {
		// Laid out by the table of libibmad (rdma-core, libibmad/fields.c).
		b := golden(t, `0002c90300b000310123456789abcdef89abcdefe3`)
		b[63] = 0x5a // reserved
		checkAttribute(t, b, SMInfo{
			GUID: 0x0002c90300b00031, SMKey: 0x0123456789abcdef, ActCount: 0x89abcdef, Priority: 14, State: SMMaster,
			spare: [43]byte{42: 0x5a},
		})
	})
}

func FuzzSMInfo(f *testing.F) { fuzzAttribute[SMInfo](f) }

func TestSMStateString(t *testing.T) {
	for s, want := range map[SMState]string{
		SMNotActive: "SMINFO_NOTACT", SMDiscovering: "SMINFO_DISCOVER",
		SMStandby: "SMINFO_STANDBY", SMMaster: "SMINFO_MASTER", 7: "?(7)",
	} {
		if got := s.String(); got != want {
			t.Errorf("SMState(%d) is %q, want %q", uint8(s), got, want)
		}
	}
}
