// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"testing"

	"example.org/ibconsole/fabric"
)

// TestWaitBytes compares the rules with the table of the ibdiagnet manual: one count for 8 bytes of a Quantum port of
// any width, and for 32 bytes of each lane of a Switch-IB port.
func TestWaitBytes(t *testing.T) {
	for _, c := range []struct {
		vendor uint32
		device uint16
		width  fabric.Width
		tick   uint8
		want   float64 // 0: unknown
	}{
		{fabric.VendorMellanox, 54000, 4, 7, 8}, {fabric.VendorMellanox, 54002, 2, 7, 8},
		{fabric.VendorMellanox, 54004, 4, 7, 8}, {fabric.VendorMellanox, 52000, 4, 31, 128},
		{fabric.VendorMellanox, 53000, 1, 31, 32}, {fabric.VendorMellanox, 51000, 12, 31, 384},
		{fabric.VendorMellanox, 54000, 4, 255, 256}, {fabric.VendorMellanox, 52000, 0, 31, 0},
		{fabric.VendorMellanox, 4129, 4, 7, 0}, {0x119f, 54000, 4, 7, 0},
	} {
		got, known := fabric.WaitBytes(c.vendor, c.device, c.width, c.tick)
		if known != (c.want > 0) || known && got != c.want {
			t.Errorf("%+v: %g, %v", c, got, known)
		}
	}
}
