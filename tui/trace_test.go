// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// TestTraceOfVLs uses a path worked out by hand from torus-2QoS(8), in a torus of 6x5: from (0,0) to (3,3) three steps
// up x and two down y, over its dateline. The SL has the bit of y, so packets use VL 1 along y. The reverse path goes
// along x in the row of the other end and shares only the switches at the ends.
func TestTraceOfVLs(t *testing.T) {
	d := drive(t, "sim:torus:6x5").size(118, 18)
	d.press(":engine torus-2QoS,no_fallback", "enter", "r", ":trace node-0001 node-0019", "enter", "4")
	d.sees("4 Trace node-0001 HCA-1 → node-0019 HCA-1", "SL 2, the dateline of y, QoS level 0, VL 0 and 1",
		"-y from x, y dateline",
		"0→1  ", "1→0  ")
	d.press("/", "reverse path:",
		"enter").sees("reverse path: delivered over 6 switches, by other switches").press("esc", "g",
		"b").sees("both directions", "forward path: delivered over 6 switches, SL 2", "SL 2", "sw-0-4", "sw-3-4",
		"reverse")
	golden(t, filepath.Join("panes", "trace-both-118x18"), d.screen())
	d.size(60, 20).sees("sw-3-4", "sw-3-3", "switch").size(40, 12).sees("switch")
	d.size(200, 50).sees("both directions", "sw-1-3").press("G",
		"enter").sees("4 Trace node-0019 HCA-1 → node-0001 HCA-1")
}

// TestTraceOfLIDs checks the paths of four LIDs of a host, which use different spines; Enter opens one.
func TestTraceOfLIDs(t *testing.T) {
	d := drive(t, "sim:fattree:2,12").size(118, 18)
	d.press(":engine updn lmc=2", "enter", "r", ":trace node-0001 node-0050", "enter", "4")
	d.sees("LIDs 68 to 71: 4 paths", "4/4", "1/4").press("/", "LIDs 68", "enter", "enter")
	d.sees("● 68", "=leaf-09 p2", "2/4", "4/4")
	golden(t, filepath.Join("panes", "trace-lids-118x18"), d.screen())
	d.press("j", "enter").sees("node-0050 HCA-1 LID 69", "●", "delivered over 3 switches")
	d.press("b", "b", "s", "s").sees("● 69")
}

// TestTraceAgainst checks that V chooses the state that hops are compared with, including an entry of the history.
func TestTraceAgainst(t *testing.T) {
	d := traced(t).size(120, 36)
	d.press("z", "g", "j", "f", "r", "4").sees("  live", "port ", "switch", "same", "turns down").misses("whatif by")
	d.press("V").sees("the hops are compared with those of whatif").sees("whatif", "reverse path: ")
	d.press("V").sees("the hops are compared with those of live")
	d.press("/", "whatif:", "enter", "enter").sees("the hops are compared with those of whatif").press("esc")
	old := *d.m.sc.State.Live
	old.Kind = session.Recorded + "12"
	d.m.choice.recalled(recalledMsg{pic: &old})
	d.m.Common.Running++ // recalled decrements it
	d.sees("HISTORY 12").press("v").sees("STAGED")
	for range 3 {
		if d.press("V"); strings.Contains(d.screen(), "of history 12") {
			break
		}
	}
	d.sees("of history 12", "  12 ")
}

// TestTraceLeadsOn checks that Enter opens every row of a trace: hops, the result, the SL, other paths, the reverse
// path.
func TestTraceLeadsOn(t *testing.T) {
	for row, shows := range map[string][]string{
		"delivered": {"LFT of leaf-09"}, "SL 0": {"›a Answer show sl", "node-0050"},
		"shared with": {"›a Answer who uses leaf-07", "paths"}, "reverse path:": {"both directions"},
		"├ spine": {"LFT of spine-0"},
	} {
		d := traced(t).size(200, 50)
		d.press("4", "/", row, "enter", "enter").sees(shows...)
	}
	traced(t).press("4", "/", "├ leaf-07", "enter", "p").sees("›a Answer who uses")
}

// TestTraceOfHostileNames checks that every view of a trace keeps its width with hostile names.
func TestTraceOfHostileNames(t *testing.T) {
	f := star(t, hostile[0], hostile...)
	back := newFake(f)
	back.state.Live.Tables = fabric.NewTables(f, reroute(t, f), hostile[2])
	back.state.Staged = &session.Picture{
		Kind: session.Staged, Fabric: f, Tables: fabric.NewTables(f, reroute(t, f), hostile[0]),
	}
	d := driveBackend(t, back)
	for i, size := range [][2]int{{120, 36}, {60, 20}, {40, 12}, {200, 50}} {
		d.size(size[0], size[1]).press("2", "g", "j", "right", "j", "t", "2")
		for range 3 + 5*i {
			d.press("j")
		}
		d.press("T", "4", "b", "b", "b", "V", "G", "k", "k", "z", "b", "b", "b", "z")
	}
}

// TestTypedTraceIsOfItsAnswer checks that a typed trace is shown in the state of its answer, also if the panes showed
// another one.
func TestTypedTraceIsOfItsAnswer(t *testing.T) {
	d := drive(t, tree).size(120, 36)
	d.press(":fail switch spine-02; route", "enter")
	for d.m.sc.Picture.Kind != session.Live {
		d.press("v")
	}
	d.press(":trace node-0037 node-0050", "enter").sees("›4 Trace", "node-0037")
	if got := d.m.sc.Picture.Kind; got != session.Staged {
		t.Errorf("the answer is of the staged tables, and the pane shows %s", got)
	}
	d.press(":trace node-0037 node-0001 of=live", "enter").sees("node-0001")
	if got := d.m.sc.Picture.Kind; got != session.Live {
		t.Errorf("the answer is of the live tables, and the pane shows %s", got)
	}
}

// TestFailedTraceIsShown checks that the trace pane also shows a typed trace whose packets do not arrive, which fails.
func TestFailedTraceIsShown(t *testing.T) {
	d := drive(t, tree).size(120, 36)
	d.press(":fail switch leaf-09", "enter", ":trace node-0037 node-0050 of=whatif", "enter")
	d.sees("›4 Trace node-0037 HCA-1 → node-0050 HCA-1", "node-0050 HCA-1/1 is unreachable", "! trace: ")
	d.press(":restore all", "enter", ":trace live node-0037 node-0050", "enter").sees("delivered")
}

// TestTraceOfDrops checks that packets with an SL on VL 15 are reported as dropped, and that unread tables are reported
// as unread.
func TestTraceOfDrops(t *testing.T) {
	f, tables := routed(t, "fattree:2,4")
	tables.SL2VL = fabric.NewSL2VL(f)
	for sw := range f.Switches {
		n := f.SwitchNode(fabric.SwitchIndex(sw))
		for in := range n.NumPorts + 1 {
			for out := range n.NumPorts + 1 {
				tables.SL2VL.Set(f.Switches[sw], in, out, fabric.VLs{15})
			}
		}
	}
	back := newFake(f)
	back.state.Live.Tables = tables
	d := driveBackend(t, back).size(120, 36)
	d.press("2", "/", "node-0001", "enter", "t", "/", "node-0008", "enter", "T", "2", "esc")
	d.press("4", "z").sees("dropped: leaf-01 has SL 0 on VL 15", "0→15")
	unread := *tables
	unread.Unread, unread.SL2VL = fabric.Unread{SLs: true, SL2VL: true}, nil
	back.change(func(st *session.State) {
		live := *st.Live
		live.Tables = &unread
		st.Live = &live
	})
	d.until("SL and VLs unread; hint: run").misses("dropped")
}

// TestTraceWithoutOther checks that a state without one of the ends has no hops to compare with: live without an added
// host, what-if with a failed end.
func TestTraceWithoutOther(t *testing.T) {
	d := drive(t, "sim:fattree:3,6").size(120, 36)
	d.press("2", "/node-0003", "enter", "t", "esc", "/node-0050", "enter", "T", "2", "f", "4", "z")
	d.sees("4 Trace node-0003 HCA-1 → node-0050 HCA-1", "dead end", "  live: ").size(200, 50).size(40, 12).size(120, 36)
	d.press("v").sees("delivered", "  whatif: ").size(200, 50).size(40, 12).size(120, 36)
	d.press(":restore all; fail link leaf-01-01 2; add node new leaf-01-01/2; route", "enter",
		":trace new node-0050 of=staged", "enter", "4")
	d.sees("4 Trace new → node-0050 HCA-1", "delivered", "  live: the other state does not have new/1").size(200, 50).
		size(40, 12)
}

// TestTraceOfPictureWithoutTables checks that a state without tables shows nothing of the previous trace.
func TestTraceOfPictureWithoutTables(t *testing.T) {
	d := traced(t).size(120, 36).press("4").sees("delivered")
	old := *d.m.sc.State.Live
	old.Kind, old.Tables = session.Recorded+"12", nil
	d.m.Common.Running++
	d.m.choice.recalled(recalledMsg{pic: &old})
	d.sees("HISTORY 12", "no forwarding tables").misses("delivered").press("?", "?").sees("Keys").press("esc",
		"b", "s", "V",
		"enter", "i")
}

// TestAdaptive uses fattree:2,4, in which each leaf has two uplinks, ports 3 and 4, so that there are two paths between
// leaves.
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

// TestFailsOver removes one of two uplinks: packets from the leaf's two hosts to the six others fail over, and those in
// the other direction are lost until the SM acts.
func TestFailsOver(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(120, 36)
	d.press(":adaptive on", "enter", ":fail link leaf-01/3", "enter", "5").sees("before the SM acts",
		"fail over at once", "12")
	d.press("/", "lose packets", "enter", "enter").sees("›a Answer whatif", "by luck", "50 %", "leaf-01")
}

// TestHeatMap draws a map of 12 leaves by 6 spines in fewer cells than spines: two spines share a cell until the map is
// moved, more columns are marked, and failures are crossed out. The five uplinks that are left to a leaf share 6 x 66
// paths, of which one has at least 80: more than 1.1x of the 71 paths over the link of a host.
func TestHeatMap(t *testing.T) {
	d := drive(t, tree).press("6", "b", "b")
	p := draw.NewPen(d.m.Look, 16+1+4)
	d.m.pane().Draw(p, 0)
	if got := p.Done(); draw.Width(ansi.Strip(got)) != 16+1+4 {
		t.Errorf("%q", got)
	}
	d.misses("✕").press(":", "fail link leaf-02 8; route", "enter", "6", "g").sees("spine-01 → spine-06",
		"leaf-02          ▒✕▓▒▒▒", "leaf-03          ▒▒▒▒▒▒")
}
