// SPDX-License-Identifier: Apache-2.0

package draw_test

import (
	"testing"

	"example.org/ibconsole/tui/draw"
)

// TestCutName keeps the GUID and the port of a name of which there is not enough space.
func TestCutName(t *testing.T) {
	for _, c := range []struct {
		name string
		w    int
		want string
	}{
		{"MT23108 InfiniHost Mellanox (0x0002c9010d269720)/1", 34, "MT23108 In~ (0x0002c9010d269720)/1"},
		{"MT23108 InfiniHost Mellanox (0x0002c9010d269720)", 60, "MT23108 InfiniHost Mellanox (0x0002c9010d269720)"},
		{"MT23108 InfiniHost Mellanox (0x0002c9010d269720)", 20, "MT23108 InfiniHost ~"},
		{"MT23108 InfiniHost Mellanox", 20, "MT23108 InfiniHost ~"},
		{"isl1-s17-r04-p2/36", 14, "isl1-~04-p2/36"},
		{"isl1-s17-r04-p2/36", 18, "isl1-s17-r04-p2/36"},
		{"isl1-s17-r04-p2", 10, "isl1-~4-p2"},
		{"node-0001 HCA-1/1", 12, "node-0001~/1"},
		{"node-0050 HCA-1", 10, "node-0050~"},
		{"node-0050 HCA-1  temperature", 24, "node-0050 HCA-1  temper~"},
		{"node-0050 mlx5_0", 9, "node-0050"}, {"node-0050 mlx5_0", 8, "node~050"},
		{"sw-026 S10/U1/30", 12, "sw-0~0/U1/30"},
		{"2 failures of switches", 12, "2 failures ~"},
		{"leaf-01/36", 6, "le~/36"},
		{"leaf-12/8 led to spine-01/13 in plan.net: now leaf-12/9", 29, "leaf-12/8 led to spine-01/13~"},
		{"leaf-01/36", 3, "le~"},
	} {
		if got := draw.Cut(c.name, c.w, "~"); got != c.want || draw.Width(got) > c.w {
			t.Errorf("%q in %d cells is %q, want %q", c.name, c.w, got, c.want)
		}
	}
}
