// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"testing"

	"github.com/charmbracelet/x/ansi"

	"example.org/ibconsole/tui/draw"
)

// TestHeatMap: a map of 12 leaves by 6 spines in fewer cells than spines has two of
// them a cell until it is moved, marks that more is there, and crosses out what failed.
func TestHeatMap(t *testing.T) {
	d := drive(t, tree).press("6", "b", "b")
	p := draw.NewPen(d.m.Look, 16+1+4)
	d.m.pane().Draw(p, 0)
	if got := p.Done(); draw.Width(ansi.Strip(got)) != 16+1+4 {
		t.Errorf("%q", got)
	}
	d.misses("✕").press(":", "fail link leaf-02 8; route", "enter", "6", "g").sees("spine-01 → spine-06",
		"leaf-02          ▒✕▒▒▒▒")
}
