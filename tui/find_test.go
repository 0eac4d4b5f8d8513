// SPDX-License-Identifier: Apache-2.0

package tui

import "testing"

// TestFindPort: ports are found as they are written everywhere, NODE/PORT.
func TestFindPort(t *testing.T) {
	d := drive(t, tree)
	d.press("/", "leaf-12/5").sees("▸ leaf-12").misses("▸ leaf-11").press("enter").sees("leaf-12/5", "▌    p5 ",
		"node-0071 HCA-1").misses("/leaf-12")
	d.press("g", "3", "/", "leaf-07/8", "enter").sees("›2 Topology", "▌    p8   ─ spine-02/7")
	d.press("3", ":", "leaf-03/2", "enter").sees("›2 Topology", "▌    p2   node-0014 HCA-1").press("[").sees("›3 LFT")
	d.press(":", "leaf-03/99", "enter").sees("unknown command")
}

// TestNearestName: a filter that nothing passes names what may be meant, and Tab takes it.
func TestNearestName(t *testing.T) {
	d := drive(t, tree)
	d.press("/", "laef-12").sees("did you mean leaf-12? Tab takes it").press("tab").sees("/leaf-12",
		"▸ leaf-12").misses("▸ leaf-11")
	d.press("enter", "esc", "/", "qqqqq").misses("did you mean").press("tab").sees("nothing completes this")
}
