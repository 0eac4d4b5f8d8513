// SPDX-License-Identifier: Apache-2.0

package tui

import "testing"

// TestAdaptive: of fattree:2,4 each leaf has two ways up, ports 3 and 4, so that there are two paths between leaves.
func TestAdaptive(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(120, 36)
	d.press(":adaptive on", "enter", ":trace node-0001 node-0008", "enter").sees("2 paths, all delivered, over 3 " +
		"switches")
	d.press("4", "/adaptive:", "enter", "enter").sees("every choice", "leaf-01  by ports 3-4 (2, free)  100 %",
		"spine-01, spine-02  each by one port", "delivered at node-0008", "● the path of the forw")
	d.press("/leaf-04", "enter", "enter").sees("LFT of leaf-04").press("4", "esc",
		"b").sees("adaptive: 2 paths, all delivered")
	d.press("2", "/leaf-01", "enter", "3").sees("group", "free", "3-4")
}

// TestFailsOver: with one of two uplinks gone, what the leaf's two hosts send to the six others fails over, and what
// these send to them loses packets until a manager acts.
func TestFailsOver(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(120, 36)
	d.press(":adaptive on", "enter", ":fail link leaf-01/3", "enter", "5").sees("before a manager acts",
		"fail over at once", "12")
	d.press("/", "lose packets", "enter", "enter").sees("›a Answer whatif", "by luck", "50 %", "leaf-01")
}
