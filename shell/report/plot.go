// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
)

// bar is a bar of a plot.
type bar struct {
	label string
	value int64
}

const mostBars = 16 // the most bars of a histogram

// histogram counts ports by their number of paths, in classes of equal width. The number of paths of every port must be
// known.
func histogram(ports []Port) []bar {
	if len(ports) == 0 {
		return nil
	}
	least, most := *ports[0].Paths, *ports[0].Paths
	for i := range ports {
		least, most = min(least, *ports[i].Paths), max(most, *ports[i].Paths)
	}
	width := (most-least)/mostBars + 1
	bars := make([]bar, (most-least)/width+1)
	for i := range bars {
		from := least + int64(i)*width
		bars[i].label = fmt.Sprint(from)
		if width > 1 {
			bars[i].label += fmt.Sprintf("-%d", from+width-1)
		}
	}
	for i := range ports {
		bars[(*ports[i].Paths-least)/width].value++
	}
	return bars
}

// The measures of a plot, in pixels.
const (
	plotHigh, plotTop, plotLeft = 220, 24, 12
	plotStep, plotBar           = 58, 42
)

// bars draws bars with their values above and their labels below. The arguments x and y are the names of the axes.
func (p *printer) bars(bars []bar, x, y string) {
	var most int64 = 1
	for _, b := range bars {
		most = max(most, b.value)
	}
	wide, bottom := max(plotLeft*2+plotStep*len(bars), 240), plotTop+plotHigh
	p.f(`<svg viewBox="0 0 %d %d" width="%d" role="img" aria-label="%s by %s" font-family="sans-serif" font-size="10">`+
		"\n", wide, bottom+44, wide, html.EscapeString(y), html.EscapeString(x))
	p.f(`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#888"/>`+"\n", plotLeft, bottom, wide-plotLeft, bottom)
	for i, b := range bars {
		at := plotLeft + i*plotStep + (plotStep-plotBar)/2
		high := float64(b.value) / float64(most) * plotHigh
		p.f(`<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="#2f6f9f"/>`, at, float64(bottom)-high, plotBar, high)
		p.f(`<text x="%d" y="%.1f" text-anchor="middle">%d</text>`, at+plotBar/2, float64(bottom)-high-4, b.value)
		p.f(`<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", at+plotBar/2, bottom+14,
			html.EscapeString(b.label))
	}
	p.f(`<text x="%d" y="%d" fill="#555">%s</text><text x="%d" y="12" fill="#555">%s</text></svg>`+"\n", plotLeft,
		bottom+34, html.EscapeString(x), plotLeft, html.EscapeString(y))
}
