// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"

	"example.org/ibconsole/tui/draw"
)

// lay makes the field in w by h cells.
func (f *Form) lay(w, h int) {
	if f.q == nil || f.field != nil && f.size == [2]int{w, h} {
		return
	}
	answer := ""
	if f.field != nil {
		answer, _ = f.field.value()
	} else {
		answer = f.begin()
	}
	f.size = [2]int{w, h}
	explain := f.q.Explain
	if f.command != "" {
		explain = nil
	}
	// The question and its answer have precedence over the explanation.
	fit := h - 1 - min(max(len(f.q.Choices), 1), 4)
	var lines []string
	for _, l := range explain {
		lines = append(lines, draw.Wrap(draw.Clean(l, f.common.Look.ASCII), w-1)...)
	}
	if fit < len(lines) {
		lines = lines[:max(fit, 0)]
		if n := len(lines); n > 0 {
			lines[n-1] = draw.Cut(lines[n-1]+" "+f.common.Look.Ellipsis+f.common.Look.Ellipsis, w-1,
				f.common.Look.Ellipsis)
		}
	}
	f.field = newField(f.common.Look, f.q, lines, answer, w)
}

// Frame draws the form.
func (f *Form) Frame(body draw.Rect) []string {
	t := f.common.Look
	inner := max(body.H-2, 1)
	type line struct {
		st     draw.Style
		text   string
		styled bool
	}
	var lines []line
	if f.summary != "" && inner >= 6 {
		lines = append(lines, line{t.Dim, f.summary, false})
		if inner >= 10 {
			lines = append(lines, line{})
		}
	}
	if f.command != "" {
		text := draw.Wrap("runs: "+draw.Clean(f.command, t.ASCII), max(body.W-5, 8))
		for _, l := range text[:min(len(text), max(inner-4, 1))] {
			lines = append(lines, line{t.Command, l, false})
		}
		if last := &lines[len(lines)-1]; len(text) > max(inner-4, 1) {
			last.text += " " + t.Ellipsis
		}
	}
	figures := f.figuresOf(max(body.W-5, 8), inner-len(lines)-1-leastField)
	fit := inner - len(lines) - 1 - len(figures)
	if f.waiting && f.field == nil {
		lines = append(lines, line{t.Dim, "computing the questions", false})
	} else {
		f.lay(max(body.W-5, 8), max(fit, 2))
	}
	if f.field != nil {
		f.above = len(lines)
		for _, l := range f.field.lines(max(fit, 1)) {
			lines = append(lines, line{"", l, true})
		}
		if len(lines) < inner-1 {
			lines = append(lines, line{})
		}
		switch {
		case f.err != "":
			lines = append(lines, line{t.Bad, "! " + f.err, false})
		case f.waiting:
			lines = append(lines, line{t.Dim, "checking the answer", false})
		}
		for _, l := range figures[:max(min(len(figures), inner-len(lines)), 0)] {
			lines = append(lines, line{t.Info, l, false})
		}
		if b := f.files; b != nil && inner-len(lines) > 1 {
			b.at = len(lines)
			for _, l := range b.rows(t, max(body.W-5, 8), inner-len(lines)) {
				lines = append(lines, line{"", l, true})
			}
		}
	}
	win := &draw.Window{N: len(lines), Height: inner, Cursor: -1}
	return f.common.Look.Frame(body, &draw.Framed{
		Tabs: func(p *draw.Pen) { p.Put(p.Key, strings.ToUpper(f.What[:1])+f.What[1:]) }, Focused: true, Win: win,
		Draw: func(p *draw.Pen, row int) {
			if l := lines[row]; l.styled {
				p.Styled(l.text)
			} else {
				p.Put(l.st, l.text)
			}
		},
	})
}
