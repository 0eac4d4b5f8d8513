// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
)

// TestDrawing opens one of four pods with two leaves each, down to a port, and closes it. Its leaves have two hosts and
// a cable to each of the two switches of the pod.
func TestDrawing(t *testing.T) {
	d := drive(t, "sim:fattree:3,4").size(120, 36)
	d.press("#").sees("›# Map fat-tree of 3 tiers, 4 pods", "tier 2", "4 switches", "leaves", "pod 4")
	d.press("j", "j", "right", "enter").sees("leaf-02-01, leaves", "2 host ports", "to pod 2, tier 1: 2 cables",
		"ports of leaf-02-01")
	d.press("right").sees("f-02-02]", "ports of leaf-02-02").press("left").sees("f-02-01]", "ports of leaf-02-01")
	d.press("G", "enter").sees("›2 Topology").press("[").sees("›# Map")
	d.press("g", "j", "j").sees("Esc fold").press("esc").misses("leaf-02-01, leaves").sees("pod 2")
}

// TestDrawnFailures checks that simulated failures are counted in their block.
func TestDrawnFailures(t *testing.T) {
	d := drive(t, "sim:fattree:3,4").size(120, 36)
	d.press(":fail switch agg-02-01", "enter", "#", "j").sees("✕").press("right").sees("pod 2, tier 1: 2 switches, 8 " +
		"cables, 4 failed")
}

// TestDrawnGrid checks that a torus is drawn as planes of rows, that a click selects a switch, and that a second one
// opens it.
func TestDrawnGrid(t *testing.T) {
	d := drive(t, "sim:torus:4x4x3").size(120, 36)
	d.press("#", "z").sees("torus 4x4x3", "z=0", "z=2", "y=3", "across the dateline")
	y, line := 0, ""
	for y, line = range strings.Split(d.screen(), "\n") {
		if strings.Contains(line, "y=2") {
			break
		}
	}
	x := len([]rune(line[:strings.Index(line, "sw-2-2-0")]))
	click := tea.MouseMsg{X: x + 2, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft}
	d.send(click)
	d.settle()
	d.sees("[sw-2-2-0", "sw-2-2-0, y=2 z=0: 7 cables, 1 host port")
	d.send(click)
	d.settle()
	d.sees("›2 Topology", "sw-2-2-0")
}

// TestDrawnGroups uses nine groups with a cable between each two.
func TestDrawnGroups(t *testing.T) {
	d := drive(t, "sim:dragonfly:4,2,2").size(120, 36)
	d.press("#", "z").sees("dragonfly of 9 groups", "cables to")
	d.press("right").sees("[1]", "cables between group 1 and group 2")
	d.press("G", "enter").sees("›2 Topology")
}

// TestDrawnHostile checks that hostile names do not change the width of the map.
func TestDrawnHostile(t *testing.T) {
	f, tables := routed(t, "fattree:2,4")
	f = f.WithDescriptions(map[uint64]string{f.SwitchNode(0).GUID: "a\x1b[2Jb\n", f.SwitchNode(1).GUID: "\u202e\u0301" +
		strings.Repeat("w", 60)})
	back := newFake(f)
	back.state.Live.Tables = fabric.NewTables(f, tables.LFT, "live")
	for _, size := range [][2]int{{40, 12}, {60, 20}, {200, 50}} {
		driveBackend(t, back).size(size[0], size[1]).press("#", "enter", "j", "enter", "right", "left", "G")
	}
}
