// SPDX-License-Identifier: Apache-2.0

// Package draw is how the screen is drawn: pens, themes and glyphs, the measuring and cleaning
// of text, tables, frames, bars and maps. It knows no subnet and no session.
package draw

import (
	"strings"
)

// Pen writes one line that fills exactly so many cells. Text given to it is
// cleaned first and cut with a mark where it does not fit.
type Pen struct {
	*Theme
	b     strings.Builder
	Left  int
	Over  Style // where set, all is written in it
	under Style // where set, it is the background of all
}

// NewPen makes a pen for a line of w cells.
func NewPen(t *Theme, w int) *Pen {
	p := &Pen{Theme: t, Left: max(w, 0)}
	p.b.Grow(w + 64)
	return p
}

// Put writes text.
func (p *Pen) Put(st Style, s string) {
	s = Cut(Clean(s, p.ASCII), p.Left, p.Ellipsis)
	p.Left -= Width(s)
	p.raw(st, s)
}

// Cell writes text in exactly w cells, at the left of them.
func (p *Pen) Cell(st Style, s string, w int) {
	w = max(min(w, p.Left), 0)
	s = Cut(Clean(s, p.ASCII), w, p.Ellipsis)
	p.Left -= w
	p.raw(st, s)
	p.raw("", Spaces(w-Width(s)))
}

// Right writes text in exactly w cells, at the right of them.
func (p *Pen) Right(st Style, s string, w int) {
	w = max(min(w, p.Left), 0)
	s = Cut(Clean(s, p.ASCII), w, p.Ellipsis)
	p.Left -= w
	p.raw("", Spaces(w-Width(s)))
	p.raw(st, s)
}

// Badge writes a word that is told apart from what is around it, also without colour.
func (p *Pen) Badge(st Style, word string) {
	if p.Name == "none" {
		p.Put(st, "["+word+"]")
		return
	}
	p.Put(st, " "+word+" ")
}

// BadgeWidth is how many cells a badge takes.
func BadgeWidth(word string) int { return Width(word) + 2 }

// Keeping sets n cells at the end aside while something is written.
func (p *Pen) Keeping(n int, write func()) {
	n = max(min(n, p.Left), 0)
	p.Left -= n
	write()
	p.Left += n
}

// Gap writes blanks.
func (p *Pen) Gap(n int) {
	n = max(min(n, p.Left), 0)
	p.Left -= n
	p.raw("", Spaces(n))
}

// fill repeats a glyph up to n cells before the end.
func (p *Pen) fill(st Style, glyph string, n int) {
	if k := p.Left - n; k > 0 {
		p.Left -= k
		p.raw(st, strings.Repeat(glyph, k))
	}
}

func (p *Pen) raw(st Style, s string) {
	if s == "" {
		return
	}
	if p.Over != "" {
		st = p.Over
	}
	if st == "" {
		st = p.ground
	}
	if st == "" && p.under == "" {
		p.b.WriteString(s)
		return
	}
	p.b.WriteString(string(p.under))
	p.b.WriteString(string(st))
	p.b.WriteString(s)
	p.b.WriteString(Reset)
}

// Styled writes text that has styles in it already; it is cleaned and cut all the same.
func (p *Pen) Styled(s string) {
	st := Style("")
	for s != "" {
		text, rest, found := strings.Cut(s, "\x1b[")
		p.Put(st, text)
		if !found {
			return
		}
		code, after, ends := strings.Cut(rest, "m")
		switch {
		case !ends || strings.Trim(code, "0123456789;:") != "":
			p.Put(st, rest)
			return
		case strings.Trim(code, "0") == "":
			st = ""
		default:
			st += Style("\x1b[" + code + "m")
		}
		s = after
	}
}

// Done fills the line up and returns it.
func (p *Pen) Done() string {
	p.Gap(p.Left)
	return p.b.String()
}

// Badge is a word that names a picture.
type Badge struct {
	St Style
	// Line is for the frame of a pane that shows the picture, "" for the usual, and frame the kind of its lines.
	Line  Style
	Frame int
	Word  string
}

// Short is the word for where there is little room: "STAGED" for "STAGED minhop".
func (b *Badge) Short() string {
	switch b.Word {
	case "WRITE ON":
		return b.Word
	case "SIMULATED":
		return "SIM"
	case "STAGED, STALE":
		return "STALE"
	}
	return strings.TrimRight(FirstWord(b.Word), ",")
}
