// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"
)

// View implements [tea.Model].
func (m *model) View() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	body := m.body()
	lines := make([]string, 0, m.height)
	if body.y > 0 {
		lines = append(lines, m.header(m.width))
	}
	if m.mode == modeHelp {
		lines = append(lines, m.helpFrame(body)...)
	} else {
		lines = append(lines, m.drawPanes(body)...)
	}
	bottom := m.height - body.y - body.h
	if bottom > 0 {
		lines = append(lines, m.statusLine(m.width))
	}
	if bottom > 1 {
		lines = append(lines, m.footer(m.width))
	}
	if m.mode == modeCommand && m.comp != nil {
		over := m.popup(m.width)
		from := body.y + body.h - len(over)
		for i, l := range over {
			if from+i >= body.y {
				lines[from+i] = l
			}
		}
	}
	return strings.Join(lines, "\n")
}

// drawPanes draws the panes and puts them beside one another.
func (m *model) drawPanes(body rect) []string {
	all := m.panes()
	drawn := make([][]string, len(all))
	for i, p := range all {
		drawn[i] = m.drawPane(p)
	}
	lines := make([]string, body.h)
	var b strings.Builder
	for y := range body.h {
		b.Reset()
		for i, p := range all {
			if row := body.y + y - p.y; row >= 0 && row < p.h {
				b.WriteString(drawn[i][row])
			}
		}
		lines[y] = b.String()
	}
	return lines
}

// framed is what a frame holds.
type framed struct {
	tabs    func(p *pen) // writes the name and title
	picture *badge
	filter  string
	figure  string
	focused bool
	win     *window
	head    func(p *pen) // writes the heads of columns, nil without
	draw    func(p *pen, row int)
	empty   []string // said where there are no rows
}

func (m *model) drawPane(p placed) []string {
	x := m.paneOf(p.id)
	f := framed{
		tabs: func(pn *pen) { m.tabs(pn, p.id) }, picture: x.picture(), filter: x.filter(), figure: x.figure(),
		focused: p.id == m.focus && m.mode != modeCommand, win: x.win(), draw: x.draw,
	}
	if m.headRows(p.id) > 0 {
		f.head = m.lft.header
	}
	if f.win.n == 0 {
		f.empty = append([]string{""}, wrap(clean(x.empty(), m.theme.ascii), p.w-5)...)
	}
	return m.frame(p.rect, &f)
}

// tabs writes the name and title of a pane; where it stands alone those of all,
// so that it is seen what there is.
func (m *model) tabs(p *pen, id paneID) {
	own := p.theme.title
	if id == m.focus {
		own = p.theme.key
	}
	write := func(mark, title string) {
		p.put(own, mark+fmt.Sprintf("%d %s", id, paneNames[id]))
		if title != "" {
			p.put(p.theme.title, " "+title)
		}
	}
	title := m.paneOf(id).title()
	all, rest := 0, 0
	for i := paneTopology; int(i) <= paneCount; i++ {
		all += width(paneNames[i]) + 5
		if i > id {
			rest += width(paneNames[i]) + 5
		}
	}
	if id != m.focus || len(m.panes()) > 2 || all > p.left {
		write("", title)
		return
	}
	for i := paneTopology; int(i) <= paneCount; i++ {
		if i > paneTopology {
			p.put(p.dim, " "+p.frame.v+" ")
		}
		if i == id {
			p.keeping(rest, func() { write(p.prompt, title) })
			continue
		}
		p.put(p.dim, fmt.Sprintf("%d %s", i, paneNames[i]))
	}
}

// frame draws a window with a border around it, r.h lines of r.w cells.
func (m *model) frame(r rect, f *framed) []string {
	t := m.theme
	bx, line := t.frame, t.border
	if f.focused {
		bx, line = t.focused, t.focus
	}
	if f.picture != nil && f.picture.line != "" {
		line = f.picture.line
	}
	lines := make([]string, 0, r.h)
	if r.h < 1 {
		return lines
	}
	lines = append(lines, m.frameTop(r.w, f, bx, line))
	inner := r.h - 2
	if f.head != nil && inner > 0 {
		lines = append(lines, m.frameHead(r.w, f, bx, line))
		inner--
	}
	from, to := f.win.thumb()
	for i := range inner {
		edge := bx.v
		if i >= from && i < to {
			edge = t.thumb
		}
		lines = append(lines, m.frameRow(r.w, f, bx, line, edge, i))
	}
	if r.h > 1 {
		lines = append(lines, m.frameBottom(r.w, f, bx, line))
	}
	return lines
}

func (m *model) frameHead(w int, f *framed, bx box, line style) string {
	p := newPen(m.theme, w)
	p.put(line, bx.v)
	p.keeping(1, func() {
		p.gap(1)
		p.keeping(1, func() { f.head(p) })
		p.gap(p.left)
	})
	p.put(line, bx.v)
	return p.done()
}

func (m *model) frameRow(w int, f *framed, bx box, line style, edge string, i int) string {
	t := m.theme
	p := newPen(t, w)
	p.put(line, bx.v)
	p.keeping(1, func() {
		row := f.win.top + i
		switch {
		case row < f.win.n:
			m.frameMark(p, f, row)
			p.keeping(1, func() { f.draw(p, row) })
		case i < len(f.empty):
			p.gap(2)
			p.put(t.dim, f.empty[i])
		}
		p.gap(p.left)
	})
	p.over, p.under = "", ""
	p.put(line, edge)
	return p.done()
}

// frameMark marks the selected row before its text and in its colours.
func (m *model) frameMark(p *pen, f *framed, row int) {
	switch {
	case row != f.win.cursor:
		p.gap(1)
	case f.focused:
		p.over = p.theme.cursor
		p.put("", p.glyphs.cursor)
	default:
		p.under = p.cursorIdle
		p.put(p.theme.focus, p.idle)
	}
}

func (m *model) frameTop(w int, f *framed, bx box, line style) string {
	p := newPen(m.theme, w)
	p.put(line, bx.tl+bx.h)
	end := 2
	if f.picture != nil && w > badgeWidth(f.picture.word)+30 {
		end += badgeWidth(f.picture.word) + 1
	}
	p.keeping(end, func() {
		if p.left > 2 {
			p.gap(1)
			p.keeping(1, func() { f.tabs(p) })
			p.gap(1)
		}
		p.fill(line, bx.h, 0)
	})
	if end > 2 {
		p.badge(f.picture.st, f.picture.word)
	}
	p.fill(line, bx.h, 1)
	p.put(line, bx.tr)
	return p.done()
}

func (m *model) frameBottom(w int, f *framed, bx box, line style) string {
	t := m.theme
	p := newPen(t, w)
	p.put(line, bx.bl+bx.h)
	p.keeping(2, func() {
		if f.filter != "" && p.left > 3 {
			p.gap(1)
			p.keeping(1, func() { p.put(t.warn, "/"+f.filter) })
			p.gap(1)
		}
		figure := clean(f.figure, t.ascii)
		if width(figure)+2 < p.left && figure != "" {
			p.fill(line, bx.h, width(figure)+2)
			p.put(t.dim, " "+figure+" ")
		}
		p.fill(line, bx.h, 0)
	})
	p.fill(line, bx.h, 1)
	p.put(line, bx.br)
	return p.done()
}

func (m *model) helpFrame(body rect) []string {
	m.help.resize(len(m.help.rows), max(body.h-2, 0))
	return m.frame(body, &framed{
		tabs:    func(p *pen) { p.put(p.key, "Keys") },
		focused: true, win: &m.help.window, draw: m.drawHelp, figure: fmt.Sprintf("pane %d, %s", m.focus, paneNames[m.focus]),
	})
}
