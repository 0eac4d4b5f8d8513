// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.org/ibconsole/internal/base/prose"
)

// Framed is the content of a frame.
type Framed struct {
	Tabs       func(p *Pen) // writes the name and title
	Badge      *Badge
	Filter     string
	Figure     string
	Focused    bool
	Win        *Window
	Head       func(p *Pen) // writes the heads of columns, nil for none
	Draw       func(p *Pen, row int)
	DrawPart   func(p *Pen, row, part int) // writes a line of a wrapped row after its first line
	Picture    bool                        // Draw writes the lines of a picture, which has a cursor of its own
	SketchWide int                         // cells on the left of the rows, for a picture
	Sketch     func(p *Pen, line int)      // writes a line of this picture; the line of the heads is -1
	Marked     func(row int) bool          // nil if no row can be marked
	Empty      []string                    // shown if there are no rows
}

// Frame draws a window with a border, in r.H lines of r.W cells. It is not a lipgloss style because such a border has
// no title, badge, count or scroll bar, and lipgloss measures all lines again.
func (t *Theme) Frame(r Rect, f *Framed) []string {
	frame, line := FrameLive, t.border
	if f.Focused {
		line = t.focus
	}
	if f.Badge != nil {
		frame = f.Badge.Frame
		if f.Badge.Line != "" {
			line = f.Badge.Line
		}
	}
	bx := &t.Borders[frame][Btoi(f.Focused)]
	lines := make([]string, 0, r.H)
	if r.H < 1 {
		return lines
	}
	lines = append(lines, t.frameTop(r.W, f, bx, line))
	inner := r.H - 2
	if f.Head != nil && inner > 0 {
		lines = append(lines, t.frameHead(r.W, f, bx, line))
		inner--
	}
	from, to := f.Win.thumb()
	row, part := f.Win.Top, 0
	for i := range inner {
		edge := prose.When(i >= from && i < to, t.thumb, bx.Left)
		p := NewPen(t, r.W)
		p.Put(line, bx.Left)
		p.Keeping(1, func() { t.frameRow(p, f, i, row, part) })
		p.Over, p.under = "", ""
		p.Put(line, edge)
		lines = append(lines, p.Done())
		if part++; part >= f.Win.tall(row) {
			row, part = row+1, 0
		}
	}
	if r.H > 1 {
		lines = append(lines, t.frameBottom(r.W, f, bx, line))
	}
	return lines
}

func (t *Theme) frameHead(w int, f *Framed, bx *lipgloss.Border, line Style) string {
	p := NewPen(t, w)
	p.Put(line, bx.Left)
	p.Keeping(1, func() {
		p.Gap(1)
		p.Keeping(1, func() {
			f.paintSketch(p, -1)
			f.Head(p)
		})
		p.Gap(p.Left)
	})
	p.Put(line, bx.Left)
	return p.Done()
}

// frameRow draws line i of the window, which is the first or a later part of a row.
func (t *Theme) frameRow(p *Pen, f *Framed, i, row, part int) {
	f.paintSketch(p, i)
	switch {
	case row < f.Win.N:
		t.frameMark(p, f, row, part)
		p.Keeping(1, func() {
			if part > 0 {
				f.DrawPart(p, row, part)
				return
			}
			f.Draw(p, row)
		})
	case i < len(f.Empty):
		p.Gap(2)
		p.Put(t.Dim, f.Empty[i])
	}
	p.Gap(p.Left)
}

// paintSketch draws a line of the picture on the left of the rows.
func (f *Framed) paintSketch(p *Pen, line int) {
	if f.SketchWide == 0 {
		return
	}
	p.Keeping(p.Left-f.SketchWide, func() {
		p.Gap(Btoi(line >= 0)) // before the heads is a blank
		f.Sketch(p, line)
		p.Gap(p.Left)
	})
}

// frameMark draws a mark before the first line of the selected row and of marked rows.
func (t *Theme) frameMark(p *Pen, f *Framed, row, part int) {
	marked := f.Marked != nil && f.Marked(row)
	switch {
	case f.Picture, part > 0 && row != f.Win.Cursor:
		p.Gap(1)
	case row != f.Win.Cursor && marked:
		p.Put(p.Theme.Warn, p.Theme.Glyphs.Mark)
	case row != f.Win.Cursor:
		p.Gap(1)
	case f.Focused:
		p.Over = p.Theme.Cursor
		p.Put("", prose.When(part > 0, " ", prose.When(marked, p.Theme.Glyphs.Mark, p.Glyphs.Cursor)))
	default:
		p.under = p.cursorIdle
		p.Put(p.Theme.focus, prose.When(part > 0, " ", prose.When(marked, p.Theme.Glyphs.Mark, p.idle)))
	}
}

func (t *Theme) frameTop(w int, f *Framed, bx *lipgloss.Border, line Style) string {
	p := NewPen(t, w)
	p.Put(line, bx.TopLeft+bx.Top)
	end, badge := 2, ""
	if f.Badge != nil {
		badge = stateIn(f.Badge.Word, w)
	}
	if badge != "" {
		end += BadgeWidth(badge) + 1
	}
	p.Keeping(end, func() {
		if p.Left > 2 {
			p.Gap(1)
			p.Keeping(1, func() { f.Tabs(p) })
			p.Gap(1)
		}
		p.Fill(line, bx.Top, 0)
	})
	if badge != "" {
		p.Badge(f.Badge.St, badge)
	}
	p.Fill(line, bx.Top, 1)
	p.Put(line, bx.TopRight)
	return p.Done()
}

// stateIn returns the part of a badge that fits next to the title in a frame of w cells: the complete badge, its first
// word, or nothing.
func stateIn(word string, w int) string {
	if w > BadgeWidth(word)+30 {
		return word
	}
	if word, _, _ = strings.Cut(strings.ReplaceAll(word, ",", ""), " "); w > BadgeWidth(word)+20 {
		return word
	}
	return ""
}

func (t *Theme) frameBottom(w int, f *Framed, bx *lipgloss.Border, line Style) string {
	p := NewPen(t, w)
	p.Put(line, bx.BottomLeft+bx.Bottom)
	p.Keeping(2, func() {
		if f.Filter != "" && p.Left > 3 {
			p.Gap(1)
			p.Keeping(1, func() { p.Put(t.Warn, "/"+f.Filter) })
			p.Gap(1)
		}
		figure := Clean(f.Figure, t.ASCII)
		if Width(figure)+2 < p.Left && figure != "" {
			p.Fill(line, bx.Top, Width(figure)+2)
			p.Put(t.Dim, " "+figure+" ")
		}
		p.Fill(line, bx.Top, 0)
	})
	p.Fill(line, bx.Top, 1)
	p.Put(line, bx.BottomRight)
	return p.Done()
}

// Rect is a part of the screen.
type Rect struct{ X, Y, W, H int }

// Holds reports whether a cell is in the rectangle.
func (r Rect) Holds(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// SplitRows splits a rectangle into an upper part of h lines and a lower part.
func SplitRows(r Rect, h int) (top, bottom Rect) {
	return Rect{r.X, r.Y, r.W, h}, Rect{r.X, r.Y + h, r.W, r.H - h}
}

// SplitColumns splits a rectangle into a left part of w cells and a right part.
func SplitColumns(r Rect, w int) (left, right Rect) {
	return Rect{r.X, r.Y, w, r.H}, Rect{r.X + w, r.Y, r.W - w, r.H}
}
