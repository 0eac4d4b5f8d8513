// SPDX-License-Identifier: Apache-2.0

package subnetmap

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/drawing"
	"example.org/ibconsole/tui/draw"
)

// scale is a size of cells. A cell is pitch columns wide, including a gap. From namesFrom on, it has a line with its
// name above the line with its shade.
type scale struct{ pitch int }

// The scales. In front of them is the scale in which zones are folded.
var scales = [...]scale{{1}, {2}, {3}, {4}, {5}, {8}, {12}, {18}, {26}}

const (
	zoomFit    = -2 // the largest scale that fits
	zoomFolded = -1 // one cell for each zone and tier

	namesFrom   = 4  // pitch
	figuresFrom = 12 // pitch from which on a cell shows its value
	foldedPitch = 14
	rowNames    = 10 // columns of the names of rows
	rowNarrow   = 7  // the same in a narrow pane
	zoneGap     = 2
)

func (c scale) named() bool { return c.pitch >= namesFrom }

// plan is the position of all cells for a size of the picture and a scale.
type plan struct {
	w, h   int
	zoom   int
	scale  int
	pitch  int
	names  int // columns of the names of rows
	lines  []planLine
	lineOf []int32 // the line with the shade, by row of the table
	at     []int32 // the index of the item in this line
	label  map[fabric.SwitchIndex]string
}

type lineKind uint8

const (
	lineBlank  lineKind = iota
	lineTitles          // of zones
	lineNames           // of cells
	lineCells
	lineJoins // between the rows of a grid
	lineLinks // between two tiers
	lineMatrix
)

// planLine is a line of the picture.
type planLine struct {
	kind   lineKind
	name   string
	items  []item
	upper  *planLine // of lineLinks: the cells above
	lower  *planLine
	bottom bool // of lineJoins: below the last row
	group  int  // of lineMatrix: the group, -1 for the heading
}

// item is a cell or a title at a column.
type item struct {
	x     int32
	block int32 // of folded zones, otherwise -1
	sw    fabric.SwitchIndex
	text  string
	row   *drawing.ZoneRow // nil for folded zones
	wraps bool             // the last cell of a ring
	next  bool             // the item before it is in the same row
}

// scaleAt returns the scale of the present picture.
func (s *subnetMap) scaleAt() int {
	if s.plan == nil {
		return prose.When(s.zoom == zoomFit, 0, s.zoom)
	}
	return s.plan.scale
}

// replan lays out the picture again, in the same size.
func (s *subnetMap) replan() {
	if was := s.plan; was != nil {
		s.plan = nil
		s.planFor(was.w, was.h)
	}
}

// isFolded reports whether cells stand for several switches.
func (s *subnetMap) isFolded() bool { return s.scaleAt() == zoomFolded }

// leastScale returns the smallest scale: folded if there are zones, otherwise that of the smallest cells.
func (s *network) leastScale() int { return prose.When(s.folds(), zoomFolded, 0) }

// planFor returns the plan for a picture of w by h cells. It computes the plan only if it has changed.
func (s *subnetMap) planFor(w, h int) *plan {
	if s.plan != nil && s.plan.w == w && s.plan.h == h && s.plan.zoom == s.zoom {
		return s.plan
	}
	best := s.zoom
	if best == zoomFit {
		best = s.fit(w, h)
	}
	s.plan = s.planAt(best, w)
	s.plan.w, s.plan.h, s.plan.zoom = w, h, s.zoom
	s.plan.connect(&s.network, h)
	s.plan.index(&s.network)
	return s.plan
}

// fit returns the scale that fills the space: the largest one with names in which each row fits on a line. If there is
// none, it is the largest one that leaves space for the links of a switch, or simply the largest one that fits.
func (s *network) fit(w, h int) int {
	spare := h * 2 / 5
	if n := s.matrixLines(w); n > 0 && n < h*2/3 {
		spare = n
	}
	free, any := zoomFit, zoomFit
	for i := len(scales) - 1; i >= 0; i-- {
		p := s.planAt(i, w)
		if len(p.lines) > h {
			continue
		}
		any = max(any, i)
		if len(p.lines) <= h-spare {
			free = max(free, i)
			if scales[i].named() && !s.wraps(scales[i].pitch, w-p.names) {
				return i
			}
		}
	}
	switch {
	case free != zoomFit:
		return free
	case any != zoomFit:
		return any
	}
	return s.leastScale()
}

// planAt lays out the picture in a scale.
func (s *network) planAt(at, w int) *plan {
	p := &plan{scale: at, names: prose.When(w < 50, rowNarrow, rowNames)}
	if at == zoomFolded {
		p.pitch = foldedPitch
		p.fold(s, w)
		return p
	}
	p.pitch = scales[at].pitch
	for b := range s.bands {
		if b > 0 {
			p.lines = append(p.lines, planLine{})
		}
		p.shelves(&s.bands[b], w-p.names)
	}
	return p
}

// shelves lays out the zones of a band next to each other, on as many shelves as they need.
func (p *plan) shelves(band *drawing.Band, w int) {
	gap := prose.When(p.pitch == 1, 1, zoneGap)
	for first := 0; first < len(band.Zones); {
		x, end := 0, first
		for ; end < len(band.Zones); end++ {
			wide := p.width(&band.Zones[end], w)
			if end > first && x+wide > w {
				break
			}
			x += wide + gap
		}
		p.shelf(prose.When(first == 0, band.Name, ""), band.Zones[first:end], w, gap)
		first = end
	}
}

// width returns the width of a zone.
func (p *plan) width(z *drawing.Zone, w int) int {
	wide := draw.Width(z.Name)
	for i := range z.Rows {
		n := len(z.Rows[i].Switches) * p.pitch
		if z.Rows[i].Wraps {
			n++
		}
		wide = max(wide, n)
	}
	return min(wide, max(w, p.pitch))
}

// shelf lays out zones next to each other. The argument name is that of their band.
func (p *plan) shelf(name string, zones []drawing.Zone, w, gap int) {
	from, x := len(p.lines), 0
	cells := 0 // lines of cells of the shelf so far
	titled := slices.ContainsFunc(zones, func(z drawing.Zone) bool { return z.Name != "" })
	if titled {
		p.lines = append(p.lines, planLine{kind: lineTitles, name: name})
		from++
	}
	for i := range zones {
		z := &zones[i]
		if titled {
			p.lines[from-1].items = append(p.lines[from-1].items, item{x: int32(x), text: z.Name})
		}
		most, line := max(min(p.width(z, w), w)/p.pitch, 1), 0
		for r := range z.Rows {
			row := &z.Rows[r]
			lines := (len(row.Switches) + most - 1) / most
			per := (len(row.Switches) + max(lines, 1) - 1) / max(lines, 1)
			for start := 0; start < len(row.Switches); start += per {
				if line == cells {
					of := prose.When(row.Name == "" && line == 0 && !titled, name, row.Name)
					p.lines = append(p.lines, planLine{kind: lineCells, name: prose.When(start == 0, of, "")})
					cells++
				}
				to := &p.lines[from+line]
				part := row.Switches[start:min(start+per, len(row.Switches))]
				for n, sw := range part {
					to.items = append(to.items, item{x: int32(x + n*p.pitch), block: -1, sw: sw, row: row,
						next: n > 0, wraps: row.Wraps && start+n == len(row.Switches)-1})
				}
				line++
			}
		}
		x += p.width(z, w) + gap
	}
	if p.pitch >= namesFrom {
		p.addNames(from)
	}
}

// addNames adds a line with names above each line of cells.
func (p *plan) addNames(from int) {
	cells := slices.Clone(p.lines[from:])
	p.lines = p.lines[:from]
	for _, l := range cells {
		p.lines = append(p.lines, planLine{kind: lineNames, name: l.name, items: l.items},
			planLine{kind: lineCells, items: l.items})
	}
}

// fold lays out a cell for each zone and tier.
func (p *plan) fold(s *network, w int) {
	per := max((w-p.names)/p.pitch, 1)
	for i := range s.folded.Rows {
		row := &s.folded.Rows[i]
		if i > 0 {
			p.lines = append(p.lines, planLine{})
		}
		for start := 0; start < len(row.Blocks); start += per {
			from := len(p.lines)
			l := planLine{kind: lineCells, name: prose.When(start == 0, row.Name, "")}
			for n, at := range row.Blocks[start:min(start+per, len(row.Blocks))] {
				if at != drawing.Vacant {
					b := &s.folded.Blocks[at]
					l.items = append(l.items, item{x: int32(n * p.pitch), block: at, sw: b.Switches[0], text: b.Name})
				}
			}
			p.lines = append(p.lines, l)
			p.addNames(from)
		}
	}
}

// connect adds the lines between rows: the links of a grid, or those between two tiers that are next to each other.
// It adds the matrix of links between groups. It adds them only where there is space.
func (p *plan) connect(s *network, h int) {
	switch {
	case p.scale == zoomFolded:
	case s.folded.Kind == drawing.Grid:
		if p.pitch > 1 && 2*len(p.lines) <= h {
			p.joinRows()
		}
	case s.folded.Kind == drawing.Groups:
		n := len(s.folded.Rows[0].Blocks)
		if lines := s.matrixLines(p.w); lines > 0 && len(p.lines)+lines <= h {
			p.lines = append(p.lines, planLine{}, planLine{kind: lineMatrix, name: "cables to", group: -1})
			for i := range n {
				at := s.folded.Rows[0].Blocks[i]
				p.lines = append(p.lines, planLine{kind: lineMatrix, name: s.folded.Blocks[at].Name, group: i})
			}
		}
	default:
		p.linkTiers()
	}
}

const matrixPitch = 4

// joinRows adds a line with the vertical links below each row of a grid.
func (p *plan) joinRows() {
	var out []planLine
	for i := range p.lines {
		l := p.lines[i]
		out = append(out, l)
		if l.kind == lineCells {
			last := i+1 >= len(p.lines) || p.lines[i+1].kind != lineCells &&
				p.lines[i+1].kind != lineNames
			out = append(out, planLine{kind: lineJoins, items: l.items, bottom: last})
		}
	}
	p.lines = out
}

// linkTiers turns the blank lines between tiers into lines for the links between them. A tier that needs several lines
// has no such lines.
func (p *plan) linkTiers() {
	lines := p.lines
	var cells []*planLine // of the tier above
	var blank *planLine   // below them
	rows := 0
	for i := range lines {
		switch l := &lines[i]; l.kind {
		case lineBlank:
			if rows == 1 {
				blank = l
			}
			rows = 0
		case lineCells:
			rows++
			if rows == 1 && blank != nil && p.isOnlyRow(i) {
				blank.kind, blank.upper, blank.lower = lineLinks, cells[len(cells)-1], l
			}
			blank, cells = nil, append(cells, l)
		case lineTitles:
			rows = 2 // zones
			blank = nil
		}
	}
}

// isOnlyRow reports whether a line of cells is the only one up to the next blank line.
func (p *plan) isOnlyRow(i int) bool {
	for _, l := range p.lines[i+1:] {
		switch l.kind {
		case lineBlank:
			return true
		case lineCells:
			return false
		}
	}
	return true
}

// index notes the position of each switch.
func (p *plan) index(s *network) {
	p.lineOf, p.at = make([]int32, len(s.switches)), make([]int32, len(s.switches))
	for i := range p.lines {
		if p.lines[i].kind != lineCells {
			continue
		}
		for n := range p.lines[i].items {
			switch it := &p.lines[i].items[n]; {
			case it.block >= 0:
				for _, sw := range s.folded.Blocks[it.block].Switches {
					p.lineOf[s.rowOf[sw]], p.at[s.rowOf[sw]] = int32(i), int32(n)
				}
			case it.sw != fabric.None:
				p.lineOf[s.rowOf[it.sw]], p.at[s.rowOf[it.sw]] = int32(i), int32(n)
			}
		}
	}
}

// labelOf returns the part of the name of a switch that distinguishes it from the other switches of its row, at most w
// cells long.
func (p *plan) labelOf(s *network, it *item, w int) string {
	if it.block >= 0 {
		return draw.Cut(it.text, w, s.common.Look.Ellipsis)
	}
	if text, ok := p.label[it.sw]; ok {
		return text
	}
	if p.label == nil {
		p.label = map[fabric.SwitchIndex]string{}
	}
	f := s.of.Fabric
	names := make([]string, len(it.row.Switches))
	longest := 0
	for n, sw := range it.row.Switches {
		if sw != fabric.None {
			names[n] = draw.Clean(f.NodeName(f.Switches[sw]), s.common.Look.ASCII)
			longest = max(longest, draw.Width(names[n]))
		}
	}
	head, tail := 0, 0
	if longest > w {
		head, tail = draw.Common(names)
	}
	for n, sw := range it.row.Switches {
		if sw == fabric.None {
			continue
		}
		text := names[n][head : len(names[n])-tail]
		if over := draw.Width(text) - w; over > 0 && w > 2 {
			text = s.common.Look.Ellipsis + draw.Skip(text, over+draw.Width(s.common.Look.Ellipsis))
		} else if over > 0 {
			text = draw.Skip(text, over)
		}
		p.label[sw] = text
	}
	return p.label[it.sw]
}
