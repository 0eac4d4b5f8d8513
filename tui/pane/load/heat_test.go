// SPDX-License-Identifier: Apache-2.0

package load

import (
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
)

// TestHeat checks the sizes of the matrices: one for each pair of tiers, with headings if there are several, and one
// for a single tier. A leaf that lost its hosts is still a leaf.
func TestHeat(t *testing.T) {
	for _, c := range []struct {
		spec, sizes string
		rows        int
		grids       [][2]int
	}{
		{"fattree:2,8", "8 leaves, 4 switches above", 8, [][2]int{{8, 4}}},
		{"fattree:3,4", "8 leaves, 8 in tier 1, 4 in tier 2", 18, [][2]int{{8, 8}, {8, 4}}},
		{"torus:3x3", "9 switches", 9, [][2]int{{9, 9}}},
	} {
		f, err := gen.ParseSpec(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		var hosts []fabric.Link
		n := f.SwitchNode(0)
		for p := range n.Ports() {
			if l, ok := f.LinkOf(p); ok && f.PeerSwitch(p) == fabric.None {
				hosts = append(hosts, l)
			}
		}
		f = f.Without(hosts)
		var indexes pane.Indexes
		h := newHeat(f, func(fabric.PortIndex) int64 { return 0 }, &pane.LoadScale, indexes.Of(f))
		var grids [][2]int
		for _, g := range h.grids {
			grids = append(grids, [2]int{len(g.rows), len(g.cols)})
		}
		if h.sizes() != c.sizes || len(h.rows) != c.rows || !slices.Equal(grids, c.grids) {
			t.Errorf("%s: %s, %d rows, %v", c.spec, h.sizes(), len(h.rows), grids)
		}
	}
}

// TestSketch: next to a list of at least 46 columns, a map of 8 leaves by 4 spines fits with names and four columns for
// each cell, with one, or not at all. In 5 lines, two leaves share a line.
func TestSketch(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,8", "", panetest.Of(New))
	pic := s.Pane.(pane.Illustrated)
	for _, c := range []struct{ w, h, wide int }{
		{46 + 7 + 3 + 16, 8, 7 + 3 + 16}, {46 + 7 + 3 + 4, 8, 7 + 3 + 4}, {46 + 7 + 3, 8, 0},
		{200, 5, len("leaf-01,02") + 3 + 16},
		{200, 1, 0},
	} {
		if got := pic.Illustrate(c.w, c.h); got != c.wide {
			t.Errorf("%dx%d: %d columns, want %d", c.w, c.h, got, c.wide)
		}
	}
	pic.Illustrate(200, 5)
	if !pic.PickSketched(len("leaf-01,02")+1, 2) { // the third line has leaf-05 and leaf-06, the first column spine-01
		t.Fatal("the map has no link at its first cell")
	}
	x := s.Pane.Subject()
	names := x.Fabric.PortName(x.Link) + " " + x.Fabric.PortName(x.Fabric.Ports[x.Link].Peer)
	if !strings.Contains(names, "spine-01/") || !strings.Contains(names, "leaf-05/") &&
		!strings.Contains(names, "leaf-06/") {
		t.Errorf("it selects %s", names)
	}
}

// TestColumns checks that a cell of a narrow map has several columns until the map is moved.
func TestColumns(t *testing.T) {
	l, g := &links{}, &grid{cols: make([]fabric.SwitchIndex, 6)}
	for _, c := range []struct{ aside, room, first, per int }{{0, 6, 0, 1}, {0, 4, 0, 2}, {0, 1, 0, 6}, {8, 4, 0, 1},
		{16, 4, 5, 1}, {16, 6, 0, 1}} {
		l.Offset = c.aside
		if first, per := l.columns(g, c.room); first != c.first || per != c.per {
			t.Errorf("%+v: %d, %d", c, first, per)
		}
	}
}
