// SPDX-License-Identifier: Apache-2.0

package mad

import "testing"

func TestSLToVLTable(t *testing.T) {
	// What ibsim 0.10 answers to smpquery -D sl2vl 0,1 3 after OpenSM 3.3.23 ran.
	b := golden(t, `0123456789abcde7`)
	want := SLToVLTable{VL: [SLs]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7}}
	checkAttribute(t, b, want)
	b[63] = 0x5a // reserved
	want.spare[55] = 0x5a
	checkAttribute(t, b, want)
}

func TestSLToVLMod(t *testing.T) {
	// smpquery asks with this modifier for input port 4 and output port 3.
	if got := SLToVLMod(4, 3); got != 0x0403 {
		t.Errorf("got 0x%08x, want 0x00000403", got)
	}
}

func FuzzSLToVLTable(f *testing.F) { fuzzAttribute[SLToVLTable](f) }
