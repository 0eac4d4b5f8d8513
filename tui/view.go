// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"
)

// View implements [tea.Model]. While the terminal is behind the frame before is
// left as it is.
func (m *model) View() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	size := [2]int{m.width, m.height}
	if m.out != nil && m.out.behind() && m.drawn != "" && m.drawnSize == size {
		return m.drawn
	}
	m.drawn, m.drawnSize = m.frameLines(), size
	return m.drawn
}

func (m *model) frameLines() string {
	m.zones = m.zones[:0]
	body := m.body()
	lines := make([]string, 0, m.height)
	if body.y > 0 {
		lines = append(lines, m.header(m.width))
	}
	if body.y > 1 {
		lines = append(lines, m.tabs(m.width))
	}
	switch m.mode {
	case modeHelp:
		lines = append(lines, m.helpFrame(body)...)
	case modePage:
		lines = append(lines, m.pageFrame(body)...)
	case modeForm:
		lines = append(lines, m.formFrame(body)...)
	default:
		lines = append(lines, m.drawPanes(body)...)
	}
	lines = append(lines, m.tourLines(m.width)...)
	bottom := m.height - len(lines)
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
	marked  func(row int) bool // nil where no row can be
	empty   []string           // said where there are no rows
}

func (m *model) drawPane(p placed) []string {
	x := m.paneOf(p.id)
	t := x.base()
	f := framed{
		tabs: func(pn *pen) { m.name(pn, p.id) }, picture: x.picture(), filter: t.filt.text, figure: x.figure(),
		focused: p.id == m.focus && m.mode != modeCommand, win: &t.window, draw: x.draw, marked: func(line int) bool { return t.marked(t.row(line)) },
	}
	if word := t.sortWord(); word != "" && !x.hasHead() {
		f.figure = orElse(f.figure, "rows") + ", " + word
	}
	if x.hasHead() {
		f.head = x.header
	}
	if f.win.n == 0 {
		f.empty = wrap(clean(x.empty(), m.theme.ascii), p.w-5)
		if p.h > 6 {
			f.empty = append([]string{""}, f.empty...)
		}
	}
	return m.frame(p.rect, &f)
}

// name writes the name and title of a pane.
func (m *model) name(p *pen, id paneID) {
	own := p.theme.title
	mark := ""
	if id == m.focus {
		own, mark = p.theme.key, p.prompt
	}
	p.put(own, mark+id.key()+" "+paneNames[id])
	if title := m.paneOf(id).title(); title != "" {
		p.put(p.theme.title, " "+title)
	}
}

// frame draws a window with a border around it, r.h lines of r.w cells.
func (m *model) frame(r rect, f *framed) []string {
	t := m.theme
	frame, line := frameLive, t.border
	if f.focused {
		line = t.focus
	}
	if f.picture != nil {
		frame = f.picture.frame
		if f.picture.line != "" {
			line = f.picture.line
		}
	}
	bx := t.box(frame, f.focused)
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

// frameMark marks the selected row before its text and in its colours, and rows
// that were marked.
func (m *model) frameMark(p *pen, f *framed, row int) {
	marked := f.marked != nil && f.marked(row)
	switch {
	case row != f.win.cursor && marked:
		p.put(p.theme.warn, p.theme.glyphs.mark)
	case row != f.win.cursor:
		p.gap(1)
	case f.focused:
		p.over = p.theme.cursor
		p.put("", when2(marked, p.theme.glyphs.mark, p.glyphs.cursor))
	default:
		p.under = p.cursorIdle
		p.put(p.theme.focus, when2(marked, p.theme.glyphs.mark, p.idle))
	}
}

func when2(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
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

func (m *model) pageFrame(body rect) []string {
	pg := m.page
	m.fitPage()
	w := pg.window
	w.cursor = -1
	figure := ""
	if pg.n > pg.height {
		figure = fmt.Sprintf("%d%%", 100*min(pg.top+pg.height, pg.n)/pg.n)
	}
	return m.frame(body, &framed{
		tabs:    func(p *pen) { p.put(p.key, pg.title) },
		picture: pg.badge, focused: true, win: &w, figure: figure,
		draw: func(p *pen, row int) { p.put(pg.lines[row].st, pg.lines[row].text) },
	})
}
