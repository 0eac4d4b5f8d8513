// SPDX-License-Identifier: Apache-2.0

package subnetmap

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/drawing"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const (
	nameWide  = 10 // cells of the names of rows
	groupWide = 16 // cells of the names of rows of a matrix
	broadest  = 26 // largest width of a block
	inWords   = 6  // smallest width of a block with a name
)

// Draw writes a row.
func (s *subnetMap) Draw(p *draw.Pen, line int) {
	i := s.Row(line)
	switch r := &s.rows[i]; r.kind {
	case rowHeading:
		p.Put(p.Strong, r.text)
	case rowBundle:
		p.Gap(2)
		p.Put(s.bundleStyle(r.bundle), s.bundleText(r.bundle))
	case rowPort:
		s.drawPort(p, r.port)
	case rowMatrix:
		p.Cell("", s.fitting(p, &s.drawn.Blocks[r.group], groupWide), groupWide)
		p.Gap(1)
		s.drawCells(p, r)
	default:
		name, _, _ := strings.Cut(s.drawn.Rows[r.of].Name, " z=") // which is in the heading
		p.Cell(p.Dim, prose.When(s.drawn.Planes > 1, name, s.drawn.Rows[r.of].Name), nameWide)
		p.Gap(1)
		s.drawCells(p, r)
	}
}

// Header numbers the groups of a matrix.
func (s *subnetMap) Header(p *draw.Pen) {
	p.Cell(p.Dim, "cables to", groupWide)
	p.Gap(1)
	blocks := s.drawn.Rows[0].Blocks
	first, wide := s.window(p.Left, len(blocks))
	for i := first; i < len(blocks) && p.Left >= wide; i++ {
		p.Right(p.Dim, strings.TrimPrefix(s.shortName(blocks[i]), "group "), wide-1)
		p.Gap(1)
	}
}

// window returns the first visible block of a row and the width of each block in cells. The block under the cursor is
// always visible.
func (s *subnetMap) window(room, blocks int) (first, wide int) {
	wide = max(1, min(room/max(blocks, 1), broadest))
	if s.drawn.Kind == drawing.Groups {
		wide = max(5, min(wide, 8))
	}
	if fit := max(1, room/wide); blocks > fit {
		first = max(0, min(min(s.column, blocks-1)-fit/2, blocks-fit))
	}
	return first, wide
}

// drawCells writes as many blocks of a row as fit.
func (s *subnetMap) drawCells(p *draw.Pen, r *row) {
	blocks := s.blocks(r)
	first, wide := s.window(p.Left, len(blocks))
	cursor := drawing.Vacant
	here := r == s.current()
	if here && len(blocks) > 0 {
		cursor = int32(min(s.column, len(blocks)-1))
	}
	if r.kind == rowBlocks && s.wrapped(blocks) {
		defer p.Put(p.Dim, "~") // the row is a ring
	}
	for i := first; i < len(blocks) && p.Left >= wide; i++ {
		at := blocks[i]
		switch {
		case at == drawing.Vacant:
			p.Cell(p.Dim, prose.When(wide > 2, p.Ellipsis, " "), wide)
		case r.kind == rowMatrix:
			s.drawPair(p, r.group, at, int32(i) == cursor, wide)
		case wide < inWords:
			s.drawDot(p, at, int32(i) == cursor, wide)
		default:
			s.drawBlock(p, blocks, i, int32(i) == cursor, wide)
		}
	}
}

// wrapped reports whether a row of a grid is a ring, so that its ends are linked.
func (s *subnetMap) wrapped(blocks []int32) bool {
	n := len(blocks)
	if s.drawn.Kind != drawing.Grid || n < 3 || blocks[0] == drawing.Vacant || blocks[n-1] == drawing.Vacant {
		return false
	}
	w := s.drawn.Between(blocks[0], blocks[n-1])
	return w != nil && w.Wraps
}

// Column selects the block at a cell.
func (s *subnetMap) Column(x, wide int) bool {
	r := s.current()
	if r == nil || len(s.blocks(r)) == 0 {
		return true
	}
	names := prose.When(r.kind == rowMatrix, groupWide, nameWide) + 1
	n := len(s.blocks(r))
	first, cell := s.window(wide-names, n)
	at := max(0, min(first+max(0, x-names)/cell, n-1))
	same := at == min(s.column, n-1)
	s.column = at
	return same
}

// drawBlock writes a block with its name and the number of its cables to the selected block.
func (s *subnetMap) drawBlock(p *draw.Pen, blocks []int32, i int, cursor bool, wide int) {
	at := blocks[i]
	b := &s.drawn.Blocks[at]
	tail := s.cableText(at, wide)
	text := s.fitting(p, b, wide-3-draw.Width(tail))
	join := " "
	if i > 0 && blocks[i-1] != drawing.Vacant && s.drawn.Kind == drawing.Grid {
		join = s.joinMark(p, s.drawn.Between(blocks[i-1], at))
	}
	p.Put(p.Dim, join)
	open, shut := prose.When(cursor, "[", " "), prose.When(cursor, "]", " ")
	p.Put(p.Strong, open)
	p.Cell(s.blockStyle(at, cursor), text, wide-3-draw.Width(tail))
	p.Put(p.Info, tail)
	p.Put(p.Strong, shut)
}

// fitting returns the name of a block, shortened to a number of cells. It keeps the end of a switch's name, because the
// end distinguishes it from others.
func (s *subnetMap) fitting(p *draw.Pen, b *drawing.Block, room int) string {
	mark := prose.When(b.Down > 0, p.Failed, "")
	if b.Folded {
		n := len(b.Switches)
		mark = p.Shut + mark
		for _, text := range []string{b.Name + " " + draw.Count(n, "switch"), fmt.Sprintf("%s %d", b.Name, n), b.Name} {
			if text = mark + strings.TrimSpace(text); draw.Width(text) <= room {
				return text
			}
		}
		return mark + b.Name[strings.LastIndexByte(b.Name, ' ')+1:]
	}
	text := draw.Clean(b.Name, p.ASCII)
	if over := draw.Width(mark) + draw.Width(text) - room; over > 0 {
		text = p.Ellipsis + draw.Skip(text, over+draw.Width(p.Ellipsis))
	}
	return mark + text
}

// joinMark returns the mark for the link between two neighbours in a row of a grid.
func (s *subnetMap) joinMark(p *draw.Pen, w *drawing.Bundle) string {
	switch {
	case w == nil:
		return " "
	case w.Down == w.Cables:
		return p.Failed
	case w.OnPath:
		return "="
	}
	return "-"
}

// cableText returns the number of cables from a block to the selected block. It returns "" if there are none or there
// is no space.
func (s *subnetMap) cableText(at int32, wide int) string {
	if at == s.at || wide < 2*inWords {
		return ""
	}
	w := s.drawn.Between(at, s.at)
	if w == nil {
		return ""
	}
	return fmt.Sprintf(" x%d", w.Cables)
}

// shortName returns the name of a block, or its number of switches if it has no name.
func (s *subnetMap) shortName(at int32) string {
	b := &s.drawn.Blocks[at]
	if b.Folded && b.Name == "" {
		return s.label(at)
	}
	return b.Name
}

// drawDot writes a block that has no space for its name. The mark shows the load and failures.
func (s *subnetMap) drawDot(p *draw.Pen, at int32, cursor bool, wide int) {
	b := &s.drawn.Blocks[at]
	mark := p.Shades[2]
	switch {
	case cursor:
		mark = p.Shades[4]
	case b.Down > 0:
		mark = p.Failed
	case s.drawn.Between(at, s.at) != nil && at != s.at:
		mark = p.Shades[4]
	}
	p.Put(s.blockStyle(at, cursor), mark)
	p.Gap(wide - 1)
}

// drawPair writes a cell of a matrix with the number of cables between two groups.
func (s *subnetMap) drawPair(p *draw.Pen, a, b int32, cursor bool, wide int) {
	text, st := "-", p.Dim
	if w := s.drawn.Between(a, b); w != nil {
		text, st = fmt.Sprint(w.Cables), s.bundleStyle(w)
		if w.Down > 0 {
			text = fmt.Sprintf("%s%d", p.Failed, w.Cables-w.Down)
		}
	}
	p.Right(prose.When(cursor, p.Strong, st), prose.When(cursor, "["+text+"]", text), wide-1)
	p.Gap(1)
}

func (s *subnetMap) blockStyle(at int32, cursor bool) draw.Style {
	b := &s.drawn.Blocks[at]
	switch {
	case cursor:
		return s.Theme.Strong
	case b.Down > 0:
		return s.Theme.Bad
	case b.OnPath:
		return s.Theme.Info
	}
	return s.loadStyle(at)
}

// loadStyle returns the style for the load of the links between a block and the selected block.
func (s *subnetMap) loadStyle(at int32) draw.Style {
	if s.drawn.Most == 0 {
		return ""
	}
	if w := s.drawn.Between(at, s.at); w != nil {
		return s.bundleStyle(w)
	}
	return ""
}

func (s *subnetMap) bundleStyle(w *drawing.Bundle) draw.Style {
	switch {
	case w.Down > 0:
		return s.Theme.Bad
	case w.OnPath:
		return s.Theme.Info
	case s.drawn.Most > 0:
		return s.Theme.LoadStyle(w.Load, float64(s.drawn.Most)/2)
	}
	return ""
}

func (s *subnetMap) drawPort(p *draw.Pen, port fabric.PortIndex) {
	f := s.of.Fabric
	p.Gap(2)
	p.Right("", fmt.Sprint(f.Ports[port].Num), 4)
	st := draw.Style("")
	if s.Scene.FailedLinks()[linkOf(f, port)] {
		st = s.Theme.Bad
		p.Put(st, " "+p.Failed)
	} else {
		p.Gap(2)
	}
	speed, _ := pane.LinkText(&f.Ports[port])
	load := ""
	if l := s.Loads(); l != nil && len(l.Paths) == len(f.Ports) {
		load = pane.PathsText(l, port) + " paths out, " + pane.PathsText(l, f.Ports[port].Peer) + " in"
	}
	p.Keeping(8+draw.Width(load)+2, func() { p.Cell(st, " "+p.Arrow+" "+f.PortName(f.Ports[port].Peer), p.Left) })
	p.Cell(p.Dim, speed, 8)
	p.Gap(2)
	p.Put(p.Dim, load)
}

func linkOf(f *fabric.Fabric, p fabric.PortIndex) fabric.Link {
	l, _ := f.LinkOf(p)
	return l
}
