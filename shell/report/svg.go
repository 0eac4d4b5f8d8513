// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"io"
	"math"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/drawing"
)

// mostDrawn is the maximum number of switches that are drawn as boxes with names. If there are more switches, they are
// drawn as cells.
const mostDrawn = 80

// mostTangled is the same for irregular subnets, in which links lead everywhere.
const mostTangled = 20

// Draw sets the contents of the drawing: the fabric including failed links, the set of failed links, and a path.
func (r *Report) Draw(whole *fabric.Fabric, failed map[fabric.Link]bool, path []fabric.PortIndex) {
	s, loads := r.facts.Structure(whole), r.loads
	if loads != nil && len(loads.Paths) != len(whole.Ports) {
		loads = nil
	}
	r.drawn, r.small = nil, nil
	if r.Switches > mostDrawn || s.Shape == classify.Irregular && r.Switches > mostTangled {
		r.small = &cells{structure: s, failed: failed, loads: loads, limits: r.limits,
			onPath: map[fabric.SwitchIndex]bool{}}
		for _, p := range path {
			for _, node := range [2]fabric.NodeIndex{whole.Ports[p].Node, whole.PeerNode(p)} {
				if node != fabric.None && whole.Nodes[node].IsSwitch() {
					r.small.onPath[whole.Nodes[node].Switch] = true
				}
			}
		}
		return
	}
	opt := drawing.Options{All: true, Failed: failed, Path: path}
	if loads != nil {
		opt.Loads, opt.Limits = loads.Paths, r.limits
	}
	r.drawn = drawing.Of(s, opt)
}

// SVG draws the subnet as tiers, grids or groups. The width of a bundle shows its number of cables, and its colour the
// link load. Failed links are dashed.
func (r *Report) SVG(w io.Writer) error {
	p := &printer{w: w}
	p.f("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	r.svg(p, ` xmlns="http://www.w3.org/2000/svg"`)
	return p.err
}

// svg writes the SVG element. The argument namespace is an attribute that the element needs if it is not inside an HTML
// page.
func (r *Report) svg(p *printer, namespace string) {
	if r.drawn == nil && r.small == nil {
		r.Draw(r.fabric, nil, nil)
	}
	if r.small != nil {
		c := *r.small
		c.printer = p
		c.write(namespace)
		return
	}
	s := &sheet{printer: p, d: r.drawn}
	switch r.drawn.Kind {
	case drawing.Grid:
		s.layGrid()
	case drawing.Groups:
		s.layRing()
	default:
		s.layTiers()
	}
	s.write(namespace)
}

// sheet is a drawing with the position of the centre of each block, in pixels.
type sheet struct {
	*printer
	d          *drawing.Drawing
	x, y       []float64
	wide, high float64 // of the drawing
	box        [2]float64
	labels     []label
	plane      []int // of a grid, by block
}

type label struct {
	x, y float64
	text string
}

// The measures of a sheet, in pixels.
const (
	svgMargin = 24.0
	svgTitle  = 40.0
	svgNames  = 90.0 // width of the names of rows
	svgRow    = 120.0
	svgLeast  = 900.0 // width
	charWide  = 6.6   // of a character
)

// setBoxes sets the width of boxes to that of the longest label, but not below the argument least or above the argument
// most.
func (s *sheet) setBoxes(least, most float64) {
	s.x, s.y = make([]float64, len(s.d.Blocks)), make([]float64, len(s.d.Blocks))
	s.plane = make([]int, len(s.d.Blocks))
	s.box = [2]float64{least, 34}
	for i := range s.d.Blocks {
		s.box[0] = max(s.box[0], min(charWide*float64(len([]rune(s.name(i))))+12, most))
	}
}

func (s *sheet) layTiers() {
	s.setBoxes(46, 150)
	widest := 1
	for i := range s.d.Rows {
		widest = max(widest, len(s.d.Rows[i].Blocks))
	}
	if widest > mostDrawn/2 { // too narrow for names
		s.box = [2]float64{14, 20}
	}
	s.wide = max(svgLeast, svgNames+2*svgMargin+float64(widest)*(s.box[0]+8))
	for i := range s.d.Rows {
		row := &s.d.Rows[i]
		y := svgTitle + svgRow*(float64(i)+0.5)
		s.labels = append(s.labels, label{svgMargin, y + 4, row.Name})
		step := (s.wide - svgNames - 2*svgMargin) / float64(len(row.Blocks))
		for n, at := range row.Blocks {
			s.x[at], s.y[at] = svgNames+svgMargin+step*(float64(n)+0.5), y
		}
	}
	s.high = svgTitle + svgRow*float64(len(s.d.Rows))
}

func (s *sheet) layGrid() {
	s.setBoxes(40, 110)
	across := 1
	for i := range s.d.Rows {
		across = max(across, len(s.d.Rows[i].Blocks))
	}
	stepX, stepY := s.box[0]+34, 64.0
	s.wide = max(svgLeast, svgNames+2*svgMargin+float64(across)*stepX)
	y, plane := svgTitle, 0
	for i := range s.d.Rows {
		row := &s.d.Rows[i]
		if row.Plane != plane {
			plane, y = row.Plane, y+stepY/2
		}
		y += stepY
		s.labels = append(s.labels, label{svgMargin, y + 4, row.Name})
		for n, at := range row.Blocks {
			if at != drawing.Vacant {
				s.x[at], s.y[at], s.plane[at] = svgNames+svgMargin+stepX*(float64(n)+0.5), y, plane
			}
		}
	}
	s.high = y + stepY
}

func (s *sheet) layRing() {
	s.setBoxes(60, 130)
	n := float64(len(s.d.Blocks))
	radius := max(240, n*(s.box[1]+14)/math.Pi)
	s.wide, s.high = max(svgLeast, 2*radius+2*s.box[0]+2*svgMargin), svgTitle+2*radius+3*svgMargin+s.box[1]
	for i := range s.d.Blocks {
		angle := 2*math.Pi*float64(i)/n - math.Pi/2
		s.x[i], s.y[i] = s.wide/2+radius*math.Cos(angle), svgTitle+svgMargin+s.box[1]/2+radius*(1+math.Sin(angle))
	}
}

// name returns the text of a block.
func (s *sheet) name(i int) string {
	b := &s.d.Blocks[i]
	if !b.Folded {
		return b.Name
	}
	return prose.When(b.Name == "", "", b.Name+": ") + prose.Count(len(b.Switches), "switch")
}

func (s *sheet) write(namespace string) {
	s.f(`<svg%s viewBox="0 0 %.0f %.0f" width="%.0f" role="img" aria-label="%s" font-family="sans-serif" `+
		`font-size="11">`+"\n", namespace, s.wide, s.high, s.wide, html.EscapeString(s.d.Title))
	s.f(`<rect width="100%%" height="100%%" fill="#fff"/><text x="%.0f" y="24" font-size="15" fill="#1a1a1a">%s</text>`+
		"\n", svgMargin, html.EscapeString(s.d.Title))
	for i := range s.d.Bundles {
		s.bundle(&s.d.Bundles[i])
	}
	for _, l := range s.labels {
		s.f(`<text x="%.1f" y="%.1f" fill="#555">%s</text>`+"\n", l.x, l.y, html.EscapeString(l.text))
	}
	for i := range s.d.Blocks {
		s.block(i)
	}
	s.f("</svg>\n")
}

func (s *sheet) block(i int) {
	b := &s.d.Blocks[i]
	stroke, fill := "#5a6b7b", "#eef3f8"
	switch {
	case 2*b.Down >= b.Links && b.Down > 0:
		stroke, fill = "#c62828", "#fdecea"
	case b.OnPath:
		stroke, fill = "#00695c", "#d9f2ee"
	case b.Down > 0:
		stroke = "#c62828"
	}
	x, y := s.x[i]-s.box[0]/2, s.y[i]-s.box[1]/2
	s.f(`<g><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4" fill="%s" stroke="%s"/>`,
		html.EscapeString(s.describe(i)), x, y, s.box[0], s.box[1], fill, stroke)
	if s.box[0] > 20 {
		s.f(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#1a1a1a">%s</text>`, s.x[i], s.y[i]-1,
			html.EscapeString(cutName(s.name(i), int(s.box[0]/charWide))))
		if b.Hosts > 0 {
			s.f(`<text x="%.1f" y="%.1f" text-anchor="middle" font-size="9" fill="#555">%s</text>`, s.x[i], s.y[i]+11,
				prose.Count(b.Hosts, "host"))
		}
	}
	s.f("</g>\n")
}

// describe returns the tooltip of a block.
func (s *sheet) describe(i int) string {
	return s.name(i) + ": " + s.d.Blocks[i].Words(prose.Count[int])
}

// cutName shortens a long name to its end, because names differ mostly at the end.
func cutName(name string, most int) string {
	if r := []rune(name); len(r) > most && most > 1 {
		return "…" + string(r[len(r)-most+1:])
	}
	return name
}

// bundle draws a bundle of cables as a line. It draws a curve if the blocks are in one row or the cables cross a
// dateline.
func (s *sheet) bundle(w *drawing.Bundle) {
	if w.A == w.B {
		return
	}
	x1, y1, x2, y2 := s.x[w.A], s.y[w.A], s.x[w.B], s.y[w.B]
	style := fmt.Sprintf(`stroke="%s" stroke-width="%.1f"`, s.colour(w), 1+math.Log2(float64(w.Cables)))
	switch {
	case w.Down == w.Cables:
		style = `stroke="#c62828" stroke-width="1.5" stroke-dasharray="4 4"`
	case w.Down > 0:
		style += ` stroke-dasharray="10 3"`
	case w.OnPath:
		style = fmt.Sprintf(`stroke="#00897b" stroke-width="%.1f"`, 3+math.Log2(float64(w.Cables)))
	}
	path := fmt.Sprintf("M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2)
	if bend := 18 + math.Abs(x2-x1)/12; w.Wraps || s.d.Kind == drawing.Tiers && y1 == y2 {
		path = fmt.Sprintf("M%.1f %.1fQ%.1f %.1f %.1f %.1f", x1, y1, (x1+x2)/2+prose.When(y1 == y2, 0, s.box[0]/2+bend),
			(y1+y2)/2-prose.When(y1 == y2, s.box[1]/2+bend, 0), x2, y2)
	}
	if s.plane[w.A] != s.plane[w.B] {
		style += ` opacity="0.25"`
	}
	s.f(`<path d="%s" fill="none" %s><title>%s</title></path>`+"\n", path, style,
		html.EscapeString(s.describeBundle(w)))
}

func (s *sheet) describeBundle(w *drawing.Bundle) string {
	text := fmt.Sprintf("%s to %s: %s", s.name(int(w.A)), s.name(int(w.B)), w.Words(prose.Count[int]))
	if s.d.Most > 0 {
		text += fmt.Sprintf(", at most %d paths over one, %.2fx of limit", w.Load, w.OfLimit)
	}
	return text
}

// colour returns the colour for the load of a bundle, divided by the limit, or grey if loads are unknown. Loads up to
// the limit are blue.
func (s *sheet) colour(w *drawing.Bundle) string {
	switch {
	case s.d.Most == 0 || w.Load == 0:
		return "#9aa7b3"
	case w.OfLimit >= linkload.FarOverLimit:
		return "#d8432b"
	case w.OfLimit >= linkload.OverLimit:
		return "#f0a020"
	case w.OfLimit >= linkload.HalfLimit:
		return "#5f8fb8"
	}
	return "#9fb8cf"
}
