// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"
	"strings"
)

// Bar is a bar of at most w cells for n of most.
func (g *Glyphs) Bar(n, most, w int) string {
	if most <= 0 || n <= 0 {
		return ""
	}
	return strings.Repeat(g.Full, max((n*w+most/2)/most, 1))
}

// Spark draws figures in at most w cells, the largest of those that share one; most is as high as a cell.
func (g *Glyphs) Spark(list []int64, most int64, w int) string {
	var b strings.Builder
	w = min(w, len(list))
	for i := range w {
		x := slices.Max(list[i*len(list)/w : (i+1)*len(list)/w])
		b.WriteString(g.sparks[int(x*int64(len(g.sparks)-1)/most)])
	}
	return b.String()
}

// Warmth is the style of a figure that is to be near a mean.
func (t *Theme) Warmth(x int64, mean float64) Style {
	switch {
	case float64(x) > 2*mean:
		return t.Bad
	case float64(x) > 1.2*mean:
		return t.Warn
	}
	return t.Good
}

// Heat writes a cell of a heat map. Bubbles and lipgloss have nothing like it, and a style
// of theirs for each of 120 x 40 cells would take longer than the frame.
func (p *Pen) Heat(x, most int64, mean float64) {
	i := 0
	if x > 0 {
		i = int(min(1+3*x/max(most, 1), 4))
	}
	p.Put(p.Warmth(x, mean), p.Shades[i])
}
