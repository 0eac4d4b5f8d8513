// SPDX-License-Identifier: Apache-2.0

package report

import (
	"html"
	"maps"
	"slices"

	"example.org/ibconsole/internal/base/prose"
)

// bar is a bar of a plot.
type bar struct {
	label string
	value int64
}

const mostBars = 16 // the most bars of a histogram

// histogram counts ports by their number of paths, which must be known for every port. If there are few numbers, each
// has a bar. Otherwise the bars are for 0, and for ranges whose width is 1, 2 or 5 times a power of ten. A single bar
// stands for several ranges without ports.
func histogram(ports []Port) []bar {
	count := map[int64]int64{}
	var most int64
	for i := range ports {
		n := *ports[i].Paths
		most = max(most, n)
		count[n]++
	}
	if len(count) <= mostBars {
		var bars []bar
		for _, n := range slices.Sorted(maps.Keys(count)) {
			bars = append(bars, bar{prose.Thousands(n), count[n]})
		}
		return bars
	}
	width := roundUp((most + mostBars - 1) / mostBars)
	inRange := make([]int64, most/width+1)
	for n, ports := range count {
		if n > 0 {
			inRange[(n-1)/width] += ports
		}
	}
	var bars []bar
	if count[0] > 0 {
		bars = []bar{{"0", count[0]}}
	}
	for i := range inRange {
		from := int64(i) * width
		if from >= most {
			break
		}
		if inRange[i] == 0 {
			if n := len(bars); n > 0 && bars[n-1].value == 0 {
				bars[n-1].label = "..."
				continue
			} else if n == 0 {
				continue
			}
		}
		bars = append(bars, bar{prose.Thousands(from+1) + "-" + prose.Thousands(from+width), inRange[i]})
	}
	return bars
}

// roundUp returns the lowest number of at least n that is 1, 2 or 5 times a power of ten.
func roundUp(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, times := range []int64{1, 2, 5} {
			if times*unit >= n {
				return times * unit
			}
		}
	}
}

// The measures of a plot, in pixels.
const (
	plotHigh, plotTop, plotLeft = 220, 40, 12
	plotStep, plotBar           = 58, 42
	plotLetter                  = 6 // width of a letter
)

// bars draws bars with their values above and their labels below. The arguments x and y are the names of the axes.
func (p *printer) bars(bars []bar, x, y string) {
	var most int64 = 1
	step := plotStep
	for _, b := range bars {
		most = max(most, b.value)
		step = max(step, plotLetter*len(b.label)+12)
	}
	wide, bottom := max(plotLeft*2+step*len(bars), 240), plotTop+plotHigh
	p.f(`<svg viewBox="0 0 %d %d" width="%d" role="img" aria-label="%s by %s" font-family="sans-serif" font-size="10">`+
		"\n", wide, bottom+44, wide, html.EscapeString(y), html.EscapeString(x))
	p.f(`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#888"/>`+"\n", plotLeft, bottom, wide-plotLeft, bottom)
	for i, b := range bars {
		at := plotLeft + i*step + (step-plotBar)/2
		high := float64(b.value) / float64(most) * plotHigh
		p.f(`<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="#2f6f9f"/>`, at, float64(bottom)-high, plotBar, high)
		p.f(`<text x="%d" y="%.1f" text-anchor="middle">%s</text>`, at+plotBar/2, float64(bottom)-high-4,
			prose.Thousands(b.value))
		p.f(`<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", at+plotBar/2, bottom+14,
			html.EscapeString(b.label))
	}
	p.f(`<text x="%d" y="%d" fill="#555">%s</text><text x="%d" y="12" fill="#555">%s</text></svg>`+"\n", plotLeft,
		bottom+34, html.EscapeString(x), plotLeft, html.EscapeString(y))
}
