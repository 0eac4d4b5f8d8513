// SPDX-License-Identifier: Apache-2.0

package mad

import "testing"

func TestMellanoxExtendedPortInfo(t *testing.T) {
	// By hand from the layout.
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
		t.Error("a link that could be FDR10 is FDR10")
	}
}

func FuzzMellanoxExtendedPortInfo(f *testing.F) { fuzzAttribute[MellanoxExtendedPortInfo](f) }
