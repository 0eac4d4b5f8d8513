// SPDX-License-Identifier: Apache-2.0

package tui

import "testing"

// TestEngineFigures: the question for an engine says what each would give here. On a tree of leaves with six hosts and
// six links up, each of which then carries the paths of one host to the 66 hosts of the other leaves, the best is 66;
// it is no torus.
func TestEngineFigures(t *testing.T) {
	d := drive(t, tree).size(200, 50)
	d.press("E").sees("▌ minhop", "minhop: most paths over a link 66, bisection ",
		"1 VL, no credit loop, 0 entries unlike those on the switches, computed in ")
	d.press("down").sees("▌ updn", "updn: most paths over a link 66")
	d.press("/", "torus", "enter").sees("Which option")
	d.press("shift+tab").sees("▌ torus-2QoS", "torus-2QoS: refuses: ")
	d.press("esc").sees("nothing was done")
}

// TestFiguresLeaveRoom: on a small screen the question and its choices come before their figures.
func TestFiguresLeaveRoom(t *testing.T) {
	d := drive(t, "sim:fattree:2,4")
	for _, h := range []int{8, 9, 10, 12, 24} {
		d.size(40, h).press("E").sees("Which engine computes", "▌ minhop").press("esc")
	}
}
