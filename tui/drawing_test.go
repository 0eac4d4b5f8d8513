// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
)

// TestDrawing selects a leaf of the second of four pods, which has two hosts and a cable to each of the two switches of
// its pod, and opens one of its ports. Then it folds the pods.
func TestDrawing(t *testing.T) {
	d := drive(t, "sim:fattree:3,4").size(120, 36)
	d.press("2", "/leaf-02-01", "enter", "#")
	d.sees("›# Map fat-tree of 3 tiers, 4 pods, 20 switches, 16 hosts", "tier 2",
		"pod 4", "leaf-02-01  LID", "2 host ports, 2 links to switches")
	d.press("enter").sees("[ 1").press("right", "right").sees("[ 3", "3 → agg-02-01/1").press("enter")
	d.sees("›2 Topology", "agg-02-01").press("[").sees("›# Map", "[ 3").press("esc").misses("[ 3")
	d.press("_", "_", "_", "_", "_", "_", "_", "_", "_")
	d.sees("pod 2  2 switches  8 cables, 4 host ports", "Esc fit").press("enter").sees("leaf-02-01  LID")
	d.press("|", "esc").misses("Esc fit")
}

// TestDrawnFailures fails one of the two switches above a leaf.
func TestDrawnFailures(t *testing.T) {
	d := drive(t, "sim:fattree:3,4").size(120, 36)
	d.press(":fail switch agg-02-01", "enter", "2", "/leaf-02-01", "enter", "#").sees("✕✕✕", "▒▒✕",
		"1 link to switches, 1 down")
}

// TestMapActs marks two switches on the map, fails both, and restores one of them.
func TestMapActs(t *testing.T) {
	d := drive(t, "sim:fattree:2,6").size(120, 36)
	d.press("#", "g", "m", "m").sees("2 rows marked", "◆").press("f").sees("WHAT-IF 2 failures", "✕✕✕     ✕✕✕")
	d.press("g", "u").sees("restore switch spine-01", "WHAT-IF 1 failure")
	d.press("right").sees("load, errors, utilization: no link is up", "not read: temperature").press("g")
	d.press("G", "t", "g", "right", "T").sees("4 Trace leaf-06 → spine-02")
}

// TestDrawnGrid checks that a torus is drawn as planes of rows, that a click selects a switch, and that a second one
// opens it. A lost cable is a cross between its switches.
func TestDrawnGrid(t *testing.T) {
	d := drive(t, "sim:torus:4x4x3").size(120, 36)
	d.press("#", "z").sees("torus 4x4x3", "z=0", "z=2", "y=3", "╎").misses("─✕")
	y, line := 0, ""
	for y, line = range strings.Split(d.screen(), "\n") {
		if strings.Contains(line, "y=2") {
			break
		}
	}
	x := len([]rune(line[:strings.Index(line, "1")]))
	click := tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft}
	d.send(click)
	d.settle()
	d.sees("─ sw-1-2-0", "1 host port, 6 links to switches")
	d.send(click)
	d.settle()
	d.sees("[ 1").press("enter").sees("›2 Topology", "sw-1-2-0").press(":fail link sw-1-2-0 2", "enter", "#").sees("✕✕")
}

// TestDrawnGroups uses nine groups of four switches, all of which are linked to one another: six cables within a group,
// and one between each two groups.
func TestDrawnGroups(t *testing.T) {
	d := drive(t, "sim:dragonfly:4,2,2").size(120, 36)
	d.press("#", "z").sees("dragonfly of 9 groups", "cables to", "group 3      1   1   6   1")
	d.press(":fail link sw-03-01 3", "enter", "#").sees("group 3      1   1  ✕5   1")
	d.press("G", "enter", "enter").sees("›2 Topology", "sw-09-04")
}

// TestNotReadOnMap checks that a measure that was not read is named, and that its cells have no number.
func TestNotReadOnMap(t *testing.T) {
	d := drive(t, "sim:fattree:2,6").size(120, 36)
	d.press("#", "b").sees("errors: not read: record start records counters", "???").misses("0 errors")
	d.press("b", "b").sees("temperature: not read", "???")
}

// TestDrawnHostile checks that hostile names do not change the width of the map.
func TestDrawnHostile(t *testing.T) {
	f, tables := routed(t, "fattree:2,4")
	f = f.WithDescriptions(map[uint64]string{f.SwitchNode(0).GUID: "a\x1b[2Jb\n", f.SwitchNode(1).GUID: "\u202e\u0301" +
		strings.Repeat("w", 60)})
	back := newFake(f)
	back.state.Live.Tables = fabric.NewTables(f, tables.LFT, "live")
	for _, size := range [][2]int{{40, 12}, {60, 20}, {200, 50}} {
		driveBackend(t, back).size(size[0], size[1]).press("#", "|", "j", "|", "right", "left", "G", "j", "_", "_")
	}
}
