// SPDX-License-Identifier: Apache-2.0

package load

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const (
	listLeast = 46 // columns that the list needs
	mostRows  = 4  // rows, and columns, of the map that may share a cell
	namesWide = 12 // columns of the names of rows
)

// sketch is the heat map on the left of the list. Several rows share a line, and several columns a cell, if there is
// little space. A cell shows the busiest of its links, in either direction.
type sketch struct {
	rows, cols int // that share a cell
	cell, wide int // columns of a cell, and of the picture
	names      int
	lines      []sketchLine
}

// sketchLine is a heading, or some rows of a grid from the row first on.
type sketchLine struct {
	*grid
	first int // [heading] for a heading
}

// Illustrate prepares the heat map next to the list of links between switches.
func (l *links) Illustrate(w, h int) int {
	if l.Kind != loadHottest || l.load == nil || len(l.load.heat.grids) == 0 {
		return 0
	}
	grids, s := l.load.heat.grids, &l.sketch
	widest, lines := 0, func(per int) int {
		n := 0
		for _, g := range grids {
			n += (len(g.rows)+per-1)/per + draw.Btoi(len(grids) > 1)
		}
		return n
	}
	for _, g := range grids {
		widest = max(widest, len(g.cols))
	}
	*s = sketch{rows: 1}
	for s.rows < mostRows && lines(s.rows) > h {
		s.rows++
	}
	s.names = l.namesWidth()
	room := w - listLeast - s.names - 3
	if room <= 0 || lines(s.rows) > h {
		return 0
	}
	s.cols = (widest + room - 1) / room
	if s.cols > mostRows {
		return 0
	}
	cells := (widest + s.cols - 1) / s.cols
	s.cell = min(room/cells, 4)
	s.wide = s.names + 1 + s.cell*cells + 2
	for _, g := range grids {
		if len(grids) > 1 {
			s.lines = append(s.lines, sketchLine{g, heading})
		}
		for first := 0; first < len(g.rows); first += s.rows {
			s.lines = append(s.lines, sketchLine{g, first})
		}
	}
	return s.wide
}

// namesWidth returns the number of columns for the names of rows.
func (l *links) namesWidth() int {
	wide := 4
	for _, g := range l.load.heat.grids {
		for first := 0; first < len(g.rows) && wide < namesWide; first += l.sketch.rows {
			wide = max(wide, min(draw.Width(l.rowLabel(&sketchLine{g, first})), namesWide))
		}
	}
	return wide
}

// Sketch writes a line of the heat map. Above the map, it writes the first and last column.
func (l *links) Sketch(p *draw.Pen, line int) {
	s, f := &l.sketch, l.load.loads.Fabric
	name := func(st draw.Style, text string, w int) {
		p.Cell(st, draw.CutMiddle(draw.Clean(text, p.ASCII), w, p.Ellipsis), w)
	}
	switch {
	case line < 0 && len(l.load.heat.grids) == 1:
		g := l.load.heat.grids[0]
		p.Gap(s.names + 1)
		text := f.NodeName(f.Switches[g.cols[0]])
		if n := len(g.cols); n > 1 {
			text += " " + p.Arrow + " " + f.NodeName(f.Switches[g.cols[n-1]])
			if draw.Width(text) > p.Left-2 {
				text = prose.Thousands(n) + prose.When(g.name == among, " switches", " above")
			}
			if draw.Width(text) > p.Left-2 {
				text = prose.Thousands(n)
			}
		}
		name(p.Dim, text, p.Left-2)
		return
	case line < 0:
		name(p.Dim, "of limit", p.Left)
		return
	case line >= len(s.lines):
		return
	}
	x := &s.lines[line]
	if x.first == heading {
		name(p.Strong, x.name, p.Left-2)
		return
	}
	row, col := l.selectedCell(x.grid)
	here := row >= x.first && row < x.first+s.rows
	name(prose.When(here, p.Strong, ""), l.rowLabel(x), s.names)
	p.Gap(1)
	for from := 0; from < len(x.grid.cols); from += s.cols {
		st, glyph := l.cellOf(p, x, from)
		if here && col >= from && col < from+s.cols {
			st = p.Theme.Cursor
		}
		for range max(s.cell-1, 1) {
			p.Put(st, glyph)
		}
		p.Gap(draw.Btoi(s.cell > 1))
	}
}

// cellOf returns the shade of a cell of the heat map, which begins at a column.
// rowLabel returns the names of the switches of a line: "leaf-01", "leaf-01,02" or "leaf-01..04".
func (l *links) rowLabel(x *sketchLine) string {
	f := l.load.loads.Fabric
	last := min(x.first+l.sketch.rows, len(x.grid.rows)) - 1
	first, end := f.NodeName(f.Switches[x.grid.rows[x.first]]), f.NodeName(f.Switches[x.grid.rows[last]])
	if last == x.first {
		return first
	}
	head, _ := draw.Common([]string{first, end})
	return first + prose.When(last == x.first+1, ",", "..") + end[head:]
}

func (l *links) cellOf(p *draw.Pen, x *sketchLine, from int) (draw.Style, string) {
	s, most := &l.sketch, int64(noLink)
	for row := x.first; row < min(x.first+s.rows, len(x.grid.rows)); row++ {
		for col := from; col < min(from+s.cols, len(x.grid.cols)); col++ {
			i := row*len(x.grid.cols) + col
			if x.cut[i] {
				return p.Bad, p.Failed
			}
			most = worse(most, worse(x.up[i], x.down[i]))
		}
	}
	switch most {
	case noLink:
		return "", " "
	case notRead:
		return p.Dim, "?"
	}
	v := float64(most) / 1000
	return pane.LoadScale.Style(p.Theme, v), p.Shades[pane.LoadScale.Shade(v)]
}

// selectedCell returns the row and column of the selected link in a grid, or -1 if the grid does not have the link.
func (l *links) selectedCell(g *grid) (row, col int) {
	at, ok := l.Selected()
	if !ok {
		return -1, -1
	}
	f, port := l.load.loads.Fabric, l.port(at)
	from, to := f.Nodes[f.Ports[port].Node].Switch, f.PeerSwitch(port)
	for _, ends := range [2][2]fabric.SwitchIndex{{from, to}, {to, from}} {
		r, isRow := g.rowAt[ends[0]]
		c, isCol := g.colAt[ends[1]]
		if isRow && isCol {
			return r, c
		}
	}
	return -1, -1
}

// PickSketched selects the busiest link of a cell of the heat map.
func (l *links) PickSketched(x, line int) bool {
	s, f := &l.sketch, l.load.loads.Fabric
	if line < 0 || line >= len(s.lines) || s.lines[line].first == heading || x <= s.names {
		return false
	}
	at := &s.lines[line]
	from := (x - s.names - 1) / s.cell * s.cols
	for i, row := range l.Order[:l.N] { // the busiest first
		port := l.port(int(row))
		ends := []fabric.SwitchIndex{f.Nodes[f.Ports[port].Node].Switch, f.PeerSwitch(port)}
		for range 2 {
			r, isRow := at.rowAt[ends[0]]
			c, isCol := at.colAt[ends[1]]
			if isRow && isCol && r >= at.first && r < at.first+s.rows && c >= from && c < from+s.cols {
				l.Reveal(i)
				return true
			}
			slices.Reverse(ends)
		}
	}
	return false
}
