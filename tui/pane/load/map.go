// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
)

const mapStep = 8 // columns that a key moves the map

const mapName = 16 // cells of the names of rows

// columns returns the first column of a grid that is visible in a line of room cells, and the number of columns that
// share a cell. All columns are visible until the user moves the map.
func (l *links) columns(g *grid, room int) (first, per int) {
	n := len(g.cols)
	if l.Offset == 0 || n <= room {
		return 0, max((n+room-1)/max(room, 1), 1)
	}
	return min(l.Offset-mapStep, n-1), 1
}

// cell returns the largest value of the links between a row and a range of columns, or -1 if there is no link. The
// result gone is set if at least one link has failed.
func (l *links) cell(r heatRow, from, to int) (most int64, gone bool) {
	cells := prose.When(l.Kind == loadDownwards || l.Kind == usedDownwards, r.down, r.up)
	most = noLink
	for i := r.place*len(r.cols) + from; i < r.place*len(r.cols)+to; i++ {
		most = worse(most, cells[i])
		gone = gone || r.cut[i]
	}
	return most, gone
}

// findCut marks the links with simulated failures in the map.
func (l *links) findCut() {
	f := l.load.loads.Fabric
	top := l.Scene.Top.Fabric
	switchOf := func(p fabric.PortIndex) fabric.SwitchIndex {
		return f.SwitchByGUID(top.Nodes[top.Ports[p].Node].GUID)
	}
	for _, g := range l.heat().grids {
		g.cut = map[int]bool{}
		for link := range l.Scene.FailedLinks() {
			for _, ends := range [2][2]fabric.PortIndex{{link.A, link.B}, {link.B, link.A}} {
				row, low := g.rowAt[switchOf(ends[0])]
				col, high := g.colAt[switchOf(ends[1])]
				if low && high {
					g.cut[row*len(g.cols)+col] = true
				}
			}
		}
	}
}

// gridAt returns the grid whose columns the header names. It is the grid of the selected row, or the first grid.
func (l *links) gridAt() *grid {
	if row, ok := l.Selected(); ok {
		return l.heat().rows[row].grid
	}
	return l.heat().grids[0]
}

// Header writes the names of the first and last visible column of a map.
func (l *links) Header(p *draw.Pen) {
	if !l.isMap() {
		l.Table.Header(p)
		return
	}
	if l.load == nil || len(l.heat().grids) == 0 {
		return
	}
	p.Cell(p.Dim, "", mapName)
	p.Gap(1)
	p.Put(p.Dim, l.columnsText(p, l.gridAt(), p.Left))
}

func (l *links) columnsText(p *draw.Pen, g *grid, room int) string {
	f := l.load.loads.Fabric
	first, per := l.columns(g, room)
	last := min(first+per*room, len(g.cols)) - 1
	if last < first {
		return ""
	}
	text := fmt.Sprintf("%s %s %s", f.NodeName(f.Switches[g.cols[first]]), p.Arrow,
		f.NodeName(f.Switches[g.cols[last]]))
	switch {
	case per > 1:
		text += fmt.Sprintf(", the busiest of %d a cell; the key Right shows each", per)
	case first > 0 || last < len(g.cols)-1:
		text += fmt.Sprintf(", %d to %d of %d", first+1, last+1, len(g.cols))
	}
	return text
}

func (l *links) Draw(p *draw.Pen, line int) {
	if !l.isMap() {
		l.Table.Draw(p, line)
		return
	}
	f, h := l.load.loads.Fabric, l.heat()
	r := h.rows[l.Row(line)]
	if r.place == heading {
		p.Cell(p.Strong, r.name, mapName)
		p.Gap(1)
		p.Put(p.Dim, l.columnsText(p, r.grid, p.Left))
		return
	}
	p.Cell("", draw.CutMiddle(draw.Clean(f.NodeName(f.Switches[r.sw()]), p.ASCII), mapName, p.Ellipsis), mapName)
	p.Gap(1)
	first, per := l.columns(r.grid, p.Left)
	for col := first; col < len(r.cols) && p.Left > 0; col += per {
		if p.Left == 1 && col+per < len(r.cols) {
			p.Put(p.Dim, p.Ellipsis)
			return
		}
		x, gone := l.cell(r, col, min(col+per, len(r.cols)))
		switch {
		case gone:
			p.Put(l.Theme.Bad, p.Failed)
			continue
		case x == notRead:
			p.Put(p.Dim, "?")
			continue
		case x < 0:
			p.Gap(1)
			continue
		}
		p.Shaded(h.scale, float64(x)/1000, 1)
	}
}
