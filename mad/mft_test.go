// SPDX-License-Identifier: Apache-2.0

package mad

import "testing"

func TestMulticastForwardingTable(t *testing.T) {
	// By hand: LID 0xc000 goes to ports 0 and 9, LID 0xc01f to port 15.
	b := golden(t, `0201`)
	b[62], b[63] = 0x80, 0x00
	checkAttribute(t, b, MulticastForwardingTable{0: 1<<9 | 1<<0, 31: 1 << 15})
}

func TestMulticastMod(t *testing.T) {
	// By hand from IBA 14.2.5.12: 9 bits of block, 4 of position.
	if got := MulticastMod(0x1ff, 2); got != 0x200001ff {
		t.Errorf("got 0x%08x, want 0x200001ff", got)
	}
	if got := MulticastMod(0x3ff, 15); got != 0xf00001ff {
		t.Errorf("got 0x%08x, want 0xf00001ff", got)
	}
}

func FuzzMulticastForwardingTable(f *testing.F) { fuzzAttribute[MulticastForwardingTable](f) }
