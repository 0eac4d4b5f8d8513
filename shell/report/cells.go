// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/drawing"
)

// cells is a drawing with a small square for each switch. It is for subnets with so many switches that boxes with names
// and lines between them could not be read.
type cells struct {
	*printer
	structure *classify.Structure
	failed    map[fabric.Link]bool
	onPath    map[fabric.SwitchIndex]bool
	loads     *linkload.Loads // nil if they are not known
	limits    linkload.Limits
	body      []string // the elements so far
	y         float64
}

// The measures of cells, in pixels.
const (
	cellPitch = 13.0
	cellSide  = 11.0
	cellWide  = 900.0 // of the drawing
	cellLeft  = svgNames + svgMargin/2
	zoneGap   = 14.0
)

// The colours of values, divided by the limit of a link.
var shades = []struct {
	from         float64
	colour, word string
}{
	{0, "#eceff1", "no paths"}, {1e-9, "#d3ead9", "to 0.5x of limit"}, {linkload.HalfLimit, "#8fcda0", "to 1.1x"},
	{linkload.OverLimit, "#f5b83d", "above"}, {linkload.FarOverLimit, "#d8432b", "1.5x and more"},
}

const notReadColour = "#ffffff"

// write writes the SVG element.
func (c *cells) write(namespace string) {
	c.y = svgTitle
	c.legend()
	for _, b := range drawing.Bands(c.structure) {
		c.band(&b)
	}
	title := html.EscapeString(c.structure.Title())
	c.f(`<svg%s viewBox="0 0 %.0f %.0f" width="%.0f" role="img" aria-label="%s" font-family="sans-serif" `+
		`font-size="11">`+"\n", namespace, cellWide, c.y+svgMargin, cellWide, title)
	c.f(`<rect width="100%%" height="100%%" fill="#fff"/><text x="%.0f" y="24" font-size="15" fill="#1a1a1a">%s</text>`+
		"\n", svgMargin, title)
	for _, element := range c.body {
		c.f("%s\n", element)
	}
	c.f("</svg>\n")
}

func (c *cells) add(format string, args ...any) {
	c.body = append(c.body, fmt.Sprintf(format, args...))
}

func (c *cells) text(x, y float64, text string) {
	c.add(`<text x="%.1f" y="%.1f" fill="#555">%s</text>`, x, y, html.EscapeString(text))
}

func (c *cells) square(x, y float64, colour, stroke string) string {
	return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.0f" height="%.0f" fill="%s" stroke="%s"/>`, x, y, cellSide,
		cellSide, colour, stroke)
}

func (c *cells) legend() {
	x := svgMargin
	entry := func(colour, word string) {
		c.body = append(c.body, c.square(x, c.y, colour, "#90a4ae"))
		c.text(x+cellPitch+3, c.y+9, word)
		x += cellPitch + 24 + charWide*float64(len(word))
	}
	if c.loads != nil {
		for _, s := range shades {
			entry(s.colour, s.word)
		}
	}
	entry(notReadColour, "not read")
	c.add(`<path d="%s" stroke="#b71c1c" stroke-width="2"/>`, cross(x, c.y))
	c.text(x+cellPitch+3, c.y+9, "failed")
	c.y += 2 * cellPitch
}

// cross returns the path of a cross over a square.
func cross(x, y float64) string {
	return fmt.Sprintf("M%.1f %.1fl%.0f %.0fM%.1f %.1fl%.0f -%.0f", x, y, cellSide, cellSide, x, y+cellSide, cellSide,
		cellSide)
}

// band draws the zones of a band next to each other, on as many shelves as they need.
func (c *cells) band(b *drawing.Band) {
	room := cellWide - svgMargin - cellLeft
	most := max(int(room/cellPitch), 1) // cells of a line
	x, shelf, next := cellLeft, c.y, c.y
	for i := range b.Zones {
		z := &b.Zones[i]
		longest := 0
		for r := range z.Rows {
			longest = max(longest, min(len(z.Rows[r].Switches), most))
		}
		wide := max(float64(longest)*cellPitch, charWide*float64(len(z.Name)))
		if i > 0 && x+wide > cellWide-svgMargin {
			x, shelf = cellLeft, next+zoneGap/2
		}
		y := shelf
		if z.Name != "" {
			c.text(x, y+9, z.Name)
			y += cellPitch + 2
		}
		for r := range z.Rows {
			row := &z.Rows[r]
			if x == cellLeft {
				c.text(svgMargin, y+9, prose.When(row.Name == "" && i == 0, b.Name, row.Name))
			}
			for n, sw := range row.Switches {
				if sw != fabric.None {
					c.cell(x+float64(n%most)*cellPitch, y+float64(n/most)*cellPitch, sw)
				}
			}
			y += float64((len(row.Switches)+most-1)/most) * cellPitch
		}
		next = max(next, y)
		x += wide + zoneGap
	}
	c.y = next + zoneGap
}

// cell draws a switch.
func (c *cells) cell(x, y float64, sw fabric.SwitchIndex) {
	f := c.structure.Fabric
	busiest, value, known, down, links := fabric.PortIndex(fabric.None), 0.0, false, 0, 0
	for p := range f.SwitchNode(sw).Ports() {
		link, linked := f.LinkOf(p)
		if !linked {
			continue
		}
		if links++; c.failed[link] {
			down++
			continue
		}
		if c.loads == nil || linkload.ClassOf(c.loads.Fabric, p) != linkload.BetweenSwitches {
			continue
		}
		for _, end := range [2]fabric.PortIndex{p, f.Ports[p].Peer} {
			if v, ok := c.loads.OfLimit(c.limits, end); ok && (!known || v > value) {
				busiest, value, known = end, v, true
			}
		}
	}
	colour := notReadColour
	text := f.NodeName(f.Switches[sw]) + ": " + prose.Count(links, "link")
	if known {
		for _, s := range shades {
			if value >= s.from {
				colour = s.colour
			}
		}
		text += fmt.Sprintf(", busiest: %s to %s with %d paths, %.2fx of limit", f.PortName(busiest),
			f.PortName(f.Ports[busiest].Peer), c.loads.Paths[busiest], value)
	}
	element := "<g><title>%s</title>" + c.square(x, y, colour, prose.When(c.onPath[sw], "#00695c", "#90a4ae"))
	if c.onPath[sw] {
		element += fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="3" fill="#00695c"/>`, x+cellSide/2, y+cellSide/2)
		text += ", on the path"
	}
	if down > 0 {
		text += fmt.Sprintf(", %d failed", down)
		element += fmt.Sprintf(`<path d="%s" stroke="#b71c1c" stroke-width="%s"/>`, cross(x, y),
			prose.When(down == links, "2.5", "1"))
	}
	c.add(element+"</g>", html.EscapeString(text))
}
