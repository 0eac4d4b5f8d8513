// SPDX-License-Identifier: Apache-2.0

package tui

import "example.org/ibconsole/tui/draw"

// popup draws the candidates in lines of w cells.
func (v *view) popup(w int) []string {
	c := v.m.prompt.comp
	t := v.m.Look
	var lines []string
	say := func(st draw.Style, text, more string) {
		p := draw.NewPen(t, w)
		p.Gap(1)
		p.Put(st, text)
		p.Gap(2)
		p.Put(t.Dim, more)
		lines = append(lines, p.Done())
	}
	if c.usage != "" || c.summary != "" {
		say(t.Info, c.usage, c.summary)
	}
	switch n := len(c.candidates); {
	case n == 0:
		return lines
	case c.seen:
		say(t.Dim, draw.Count(n, "candidate")+": Tab completes", "")
	default:
		say(t.Dim, draw.Count(n, "candidate")+": Tab takes the next, Enter runs", "")
	}
	name := 12
	for _, x := range c.candidates {
		name = max(name, min(draw.Width(draw.Clean(x.Text, t.ASCII)), w/2))
	}
	for i := c.window.Top; i < min(c.window.Top+c.window.Height, len(c.candidates)); i++ {
		p := draw.NewPen(t, w)
		mark := " "
		if i == c.chosen {
			p.Over, mark = t.Cursor, t.Glyphs.Cursor
		}
		p.Put(t.Info, mark+" ")
		p.Cell("", c.candidates[i].Text, name)
		p.Gap(2)
		p.Put(t.Dim, c.candidates[i].Description)
		lines = append(lines, p.Done())
	}
	return lines
}
