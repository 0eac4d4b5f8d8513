// SPDX-License-Identifier: Apache-2.0

package tui

import "strings"

// pen writes one line that fills exactly so many cells. Text given to it is
// cleaned first and cut with a mark where it does not fit.
type pen struct {
	*theme
	b     strings.Builder
	left  int
	over  style // where set, all is written in it
	under style // where set, it is the background of all
}

func newPen(t *theme, w int) *pen {
	p := &pen{theme: t, left: max(w, 0)}
	p.b.Grow(w + 64)
	return p
}

// put writes text.
func (p *pen) put(st style, s string) {
	s = cut(clean(s, p.ascii), p.left, p.ellipsis)
	p.left -= width(s)
	p.raw(st, s)
}

// cell writes text in exactly w cells, at the left of them.
func (p *pen) cell(st style, s string, w int) {
	w = max(min(w, p.left), 0)
	s = cut(clean(s, p.ascii), w, p.ellipsis)
	p.left -= w
	p.raw(st, s)
	p.raw("", spaces(w-width(s)))
}

// right writes text in exactly w cells, at the right of them.
func (p *pen) right(st style, s string, w int) {
	w = max(min(w, p.left), 0)
	s = cut(clean(s, p.ascii), w, p.ellipsis)
	p.left -= w
	p.raw("", spaces(w-width(s)))
	p.raw(st, s)
}

// badge writes a word that is told apart from what is around it, also without colour.
func (p *pen) badge(st style, word string) {
	if p.name == "none" {
		p.put(st, "["+word+"]")
		return
	}
	p.put(st, " "+word+" ")
}

func badgeWidth(word string) int { return width(word) + 2 }

// keeping sets n cells at the end aside while something is written.
func (p *pen) keeping(n int, write func()) {
	n = max(min(n, p.left), 0)
	p.left -= n
	write()
	p.left += n
}

// gap writes blanks.
func (p *pen) gap(n int) {
	n = max(min(n, p.left), 0)
	p.left -= n
	p.raw("", spaces(n))
}

// fill repeats a glyph up to n cells before the end.
func (p *pen) fill(st style, glyph string, n int) {
	if k := p.left - n; k > 0 {
		p.left -= k
		p.raw(st, strings.Repeat(glyph, k))
	}
}

func (p *pen) raw(st style, s string) {
	if s == "" {
		return
	}
	if p.over != "" {
		st = p.over
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
	p.b.WriteString(reset)
}

// styled writes text that has styles in it already; it is cleaned and cut all the same.
func (p *pen) styled(s string) {
	st := style("")
	for s != "" {
		text, rest, found := strings.Cut(s, "\x1b[")
		p.put(st, text)
		if !found {
			return
		}
		code, after, ends := strings.Cut(rest, "m")
		switch {
		case !ends || strings.Trim(code, "0123456789;:") != "":
			p.put(st, rest)
			return
		case strings.Trim(code, "0") == "":
			st = ""
		default:
			st += style("\x1b[" + code + "m")
		}
		s = after
	}
}

// done fills the line up and returns it.
func (p *pen) done() string {
	p.gap(p.left)
	return p.b.String()
}
