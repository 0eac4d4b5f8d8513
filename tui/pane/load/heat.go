// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// heat is a map of the links between tiers of switches. It shows their number of paths or their utilization. It has a
// matrix for every two adjacent tiers, the lowest first. If there is a single tier, it has one matrix. If there are
// several matrices, each has a heading.
type heat struct {
	grids []*grid
	rows  []heatRow
	most  int64       // in thousandths
	scale *draw.Scale // of the values
}

// grid is the matrix of two tiers.
type grid struct {
	name         string
	rows, cols   []fabric.SwitchIndex // rows are the switches of the lower tier
	rowAt, colAt map[fabric.SwitchIndex]int
	// up holds the largest value of the links from each row to each column, and down those of the opposite direction,
	// row by row. A value may be noLink or notRead.
	up, down []int64
	cut      map[int]bool // the links with simulated failures, by row and column
}

// heatRow is a row of a grid. If place is heading, it is the heading of the grid.
type heatRow struct {
	*grid
	place int
}

const heading = -1

// The constant among is the name of the grid for a single tier.
const among = "switches"

// sw returns the switch of a row, or None for a heading.
func (r heatRow) sw() fabric.SwitchIndex {
	if r.place == heading {
		return fabric.None
	}
	return r.grid.rows[r.place]
}

// mostAmong is the maximum number of switches of a single tier for which a map is drawn.
const mostAmong = 2000

// The values of a grid that are no numbers.
const (
	noLink  = -1
	notRead = -2
)

// newHeat returns a map of the links. The function of returns the value of a link in thousandths, given the port that
// sends over the link.
func newHeat(f *fabric.Fabric, of func(fabric.PortIndex) int64, scale *draw.Scale, ix *pane.Index) heat {
	h := heat{scale: scale}
	switch tiers := ix.Tiers; {
	case len(tiers) == 1 && len(tiers[0]) > 1 && len(tiers[0]) <= mostAmong:
		h.add(newGrid(f, of, among, tiers[0], tiers[0]))
	case len(tiers) > 1:
		for i := range len(tiers) - 1 {
			name := fmt.Sprintf("tier %d to tier %d", i, i+1)
			if i == 0 {
				name = "leaves to tier 1"
			}
			h.add(newGrid(f, of, name, tiers[i], tiers[i+1]))
		}
	}
	several := len(h.grids) > 1
	for _, g := range h.grids {
		if several {
			h.rows = append(h.rows, heatRow{g, heading})
		}
		for i := range g.rows {
			h.rows = append(h.rows, heatRow{g, i})
		}
	}
	return h
}

func (h *heat) add(g *grid) {
	h.grids = append(h.grids, g)
	h.most = max(h.most, slices.Max(append(g.up, 0)), slices.Max(append(g.down, 0)))
}

// newGrid returns the matrix between two sets of switches. It takes O(ports of the rows + rows x columns) time.
func newGrid(f *fabric.Fabric, of func(fabric.PortIndex) int64, name string, rows, cols []fabric.SwitchIndex) *grid {
	g := &grid{name: name, rows: rows, cols: cols, rowAt: placesOf(rows), colAt: placesOf(cols)}
	g.up = slices.Repeat([]int64{noLink}, len(rows)*len(cols))
	g.down = slices.Clone(g.up)
	for row, s := range rows {
		n := f.SwitchNode(s)
		for p := range n.Ports() {
			col, ok := g.colAt[f.PeerSwitch(p)]
			if !ok {
				continue
			}
			i := row*len(cols) + col
			g.up[i] = worse(g.up[i], of(p))
			g.down[i] = worse(g.down[i], of(f.Ports[p].Peer))
		}
	}
	return g
}

// worse returns the larger of two values of links. A value that was not read is more than no link.
func worse(a, b int64) int64 {
	if a < 0 && b < 0 {
		return min(a, b)
	}
	return max(a, b)
}

// placesOf returns the position of each switch in a list.
func placesOf(switches []fabric.SwitchIndex) map[fabric.SwitchIndex]int {
	out := make(map[fabric.SwitchIndex]int, len(switches))
	for i, s := range switches {
		out[s] = i
	}
	return out
}

// sizes returns a text with the number of switches in each tier.
func (h *heat) sizes() string {
	g := h.grids[0]
	leaves := prose.When(len(g.rows) == 1, "1 leaf", fmt.Sprintf("%d leaves", len(g.rows)))
	switch {
	case len(h.grids) > 1:
		text := []string{leaves}
		for i, g := range h.grids {
			text = append(text, fmt.Sprintf("%d in tier %d", len(g.cols), i+1))
		}
		return strings.Join(text, ", ")
	case g.name == among:
		return prose.Count(len(g.rows), "switch")
	default:
		return leaves + ", " + prose.Count(len(g.cols), "switch") + " above"
	}
}
