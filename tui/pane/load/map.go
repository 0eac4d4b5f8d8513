// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/tui/draw"
)

const mapStep = 8 // how many columns a key moves the map

const mapName = 16 // how many cells the names of the rows of a map have

// columns is the first column of the map in so many cells, and how many there are a cell.
// As long as nobody has moved the map, all of it is there.
func (l *links) columns(room int) (first, per int) {
	n := len(l.load.heat.cols)
	if l.Aside == 0 || n <= room {
		return 0, max((n+room-1)/max(room, 1), 1)
	}
	return min(l.Aside-mapStep, n-1), 1
}

// cell is the most paths over a link between a row and some columns, -1 where there is
// none; gone says that one has failed on paper.
func (l *links) cell(row, from, to int) (paths int64, gone bool) {
	h := &l.load.heat
	cells := prose.When(l.Kind == loadDownwards, h.down, h.up)
	paths = -1
	for i := row*len(h.cols) + from; i < row*len(h.cols)+to; i++ {
		paths = max(paths, cells[i])
		gone = gone || l.cut[i]
	}
	return paths, gone
}

// findCut looks for the links of the map that have failed on paper.
func (l *links) findCut() {
	l.cut = map[int]bool{}
	h := &l.load.heat
	f := l.load.loads.Fabric
	rows, cols := placesOf(f, h.rows), placesOf(f, h.cols)
	for link := range l.Scene.Gone() {
		for _, ends := range [2][2]fabric.PortIndex{{link.A, link.B}, {link.B, link.A}} {
			row, low := rows[l.Scene.Top.Fabric.Nodes[l.Scene.Top.Fabric.Ports[ends[0]].Node].GUID]
			col, high := cols[l.Scene.Top.Fabric.Nodes[l.Scene.Top.Fabric.Ports[ends[1]].Node].GUID]
			if low && high {
				l.cut[row*len(h.cols)+col] = true
			}
		}
	}
}

// header of a map numbers its columns, so many digits below one another as fit in one line.
func (l *links) Header(p *draw.Pen) {
	if !l.isMap() {
		l.Table.Header(p)
		return
	}
	h := &l.load.heat
	f := l.load.loads.Fabric
	room := p.Left - mapName - 1
	first, per := l.columns(room)
	last := min(first+per*room, len(h.cols)) - 1
	if last < first {
		return
	}
	p.Cell(p.Dim, "", mapName)
	p.Gap(1)
	text := fmt.Sprintf("%s %s %s", f.NodeName(f.Switches[h.cols[first]]), p.Arrow, f.NodeName(f.Switches[h.cols[last]]))
	switch {
	case per > 1:
		text += fmt.Sprintf(", the busiest of %d a cell; the key Right shows each", per)
	case first > 0 || last < len(h.cols)-1:
		text += fmt.Sprintf(", %d to %d of %d", first+1, last+1, len(h.cols))
	}
	p.Put(p.Dim, text)
}

func (l *links) Draw(p *draw.Pen, line int) {
	if !l.isMap() {
		l.Table.Draw(p, line)
		return
	}
	h := &l.load.heat
	f := l.load.loads.Fabric
	row := l.Row(line)
	p.Cell("", f.NodeName(f.Switches[h.rows[row]]), mapName)
	p.Gap(1)
	first, per := l.columns(p.Left)
	for col := first; col < len(h.cols) && p.Left > 0; col += per {
		if p.Left == 1 && col+per < len(h.cols) {
			p.Put(p.Dim, p.Ellipsis)
			return
		}
		x, gone := l.cell(row, col, min(col+per, len(h.cols)))
		switch {
		case gone:
			p.Put(l.Theme.Bad, p.Failed)
			continue
		case x < 0:
			p.Gap(1)
			continue
		}
		p.Heat(x, h.most, l.load.mean)
	}
}

// placesOf says where in a list of switches each is, by its GUID.
func placesOf(f *fabric.Fabric, switches []fabric.SwitchIndex) map[uint64]int {
	out := make(map[uint64]int, len(switches))
	for i, s := range switches {
		out[f.SwitchNode(s).GUID] = i
	}
	return out
}
