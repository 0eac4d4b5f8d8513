// SPDX-License-Identifier: Apache-2.0

// Package draw draws the screen: pens, themes and glyphs, text of a known width, tables, frames, bars and maps. It does
// not depend on subnets or sessions.
package draw

import (
	"strings"
)

// Pen writes one line of a fixed number of cells. It cleans text, and cuts text that does not fit.
type Pen struct {
	*Theme
	b     strings.Builder
	Left  int
	Over  Style // if set, the style of all text
	under Style // if set, the background of all text
}

// NewPen returns a pen for a line of w cells.
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

// Cell writes text into exactly w cells, aligned to the left.
func (p *Pen) Cell(st Style, s string, w int) {
	w = max(min(w, p.Left), 0)
	s = Cut(Clean(s, p.ASCII), w, p.Ellipsis)
	p.Left -= w
	p.raw(st, s)
	p.raw("", Spaces(w-Width(s)))
}

// Right writes text into exactly w cells, aligned to the right.
func (p *Pen) Right(st Style, s string, w int) {
	w = max(min(w, p.Left), 0)
	s = Cut(Clean(s, p.ASCII), w, p.Ellipsis)
	p.Left -= w
	p.raw("", Spaces(w-Width(s)))
	p.raw(st, s)
}

// PutFrom writes clean text without its first cells, of which the sign of a cut remains.
func (p *Pen) PutFrom(st Style, text string, skip int) {
	switch {
	case skip == 0:
		p.Put(st, text)
	case Width(text) > skip:
		p.Put(p.Dim, p.Ellipsis)
		p.Put(st, Skip(text, skip+1))
	}
}

// Badge writes a word in a style that stands out. Without colours the word is in brackets.
func (p *Pen) Badge(st Style, word string) {
	if p.Name == "none" {
		p.Put(st, "["+word+"]")
		return
	}
	p.Put(st, " "+word+" ")
}

// BadgeWidth returns the number of cells that a badge takes.
func BadgeWidth(word string) int { return Width(word) + 2 }

// Keeping calls the function write and meanwhile reserves n cells at the end of the line.
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

// Fill repeats a glyph until only n cells are left.
func (p *Pen) Fill(st Style, glyph string, n int) {
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

// Styled writes text that contains escape sequences for styles. It cleans and cuts the text as Put does.
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

// Done fills the line with blanks and returns it.
func (p *Pen) Done() string {
	p.Gap(p.Left)
	return p.b.String()
}

// Badge is a word that names the state of the subnet that a pane shows.
type Badge struct {
	St Style
	// Line is the style of the frame, or "" for the default style. Frame is the kind of lines of the frame.
	Line  Style
	Frame int
	Word  string
}

// Short returns the badge in a short form for a small screen: "STAGED" instead of "STAGED minhop".
func (b *Badge) Short() string {
	switch b.Word {
	case "WRITE ON":
		return b.Word
	case "SIMULATED":
		return "SIM"
	case "STAGED, STALE":
		return "STALE"
	}
	short := strings.TrimRight(FirstWord(b.Word), ",")
	if strings.HasSuffix(b.Word, ChangedWord) {
		short += "!"
	}
	return short
}

// ChangedWord ends the badge of a state that lacks changes of the live subnet. Its short form is an exclamation mark.
const ChangedWord = ", LIVE CHANGED"
