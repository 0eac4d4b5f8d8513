// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// helpPage lists all keys and the columns of the pane. Enter runs the selected key. The help of bubbles cannot do this.
type helpPage struct {
	draw.Window
	m    *model
	rows []helpRow
	wide int // width of the texts
	find draw.Filter
}

// helpRow is a line of the help page: a heading, an action or column with the first line of its text, or a further line
// of such a text.
type helpRow struct {
	heading string
	name    string // keys, or a column
	text    string
	action  *pane.Action
	off     bool // the key is not possible now
}

// rests reports whether the cursor can be on the row.
func (r *helpRow) rests() bool { return r.name != "" }

func openHelp(m *model) tea.Cmd {
	h := &helpPage{m: m}
	m.pages.cover(h)
	h.fit(m.body())
	h.To(1)
	return nil
}

// fit breaks the texts to fit a part of the screen. The cursor stays on the same row.
func (h *helpPage) fit(body draw.Rect) {
	if w := max(body.W-6-keyWide, 8); w != h.wide {
		name := ""
		if h.Cursor < len(h.rows) {
			name = h.rows[h.Cursor].name
		}
		h.wide = w
		h.list()
		h.N = len(h.rows)
		h.To(max(slices.IndexFunc(h.rows, func(r helpRow) bool { return r.rests() && r.name == name }), 1))
	}
	h.Resize(len(h.rows), max(body.H-2, 0))
}

// list sets the rows to the actions and columns that match the filter.
func (h *helpPage) list() {
	m := h.m
	h.rows = h.rows[:0]
	group := ""
	for i := range m.actions {
		a := &m.actions[i]
		if !h.find.Match(strings.ToLower(strings.Join(a.Keys(), " ") + " " + a.Name + " " + a.Help().Desc)) {
			continue
		}
		if a.Group != group {
			group = a.Group
			h.rows = append(h.rows, helpRow{heading: group})
		}
		text, why := a.Help().Desc, m.reason(a)
		if why != "" {
			text += " (" + why + ")"
		}
		h.add(helpRow{name: strings.Join(prose.Words(a.Keys(), m.Look.KeyName), " "), text: text, action: a,
			off: why != ""})
	}
	about := m.pane().About().Name
	heading := "Columns of " + m.digit(m.focus) + " " + about
	for _, c := range m.pane().Base().Shown() {
		text := c.Help
		if text == "" || !h.find.Match(strings.ToLower(c.Name+" "+text)) {
			continue
		}
		if heading != "" {
			h.rows = append(h.rows, helpRow{heading: heading})
			heading = ""
		}
		h.add(helpRow{name: strings.TrimSpace(c.Name), text: text})
	}
}

// add adds a row, split into as many lines as it needs.
func (h *helpPage) add(r helpRow) {
	for i, text := range draw.Wrap(draw.Clean(r.text, h.m.Look.ASCII), h.wide) {
		if r.text = text; i > 0 {
			r.name, r.action = "", nil
		}
		h.rows = append(h.rows, r)
	}
}

// columns returns the row of the first column, or -1 if no column is listed.
func (h *helpPage) columns() int {
	return slices.IndexFunc(h.rows, func(r helpRow) bool { return r.rests() && r.action == nil })
}

// seek edits the filter.
func (h *helpPage) seek() {
	m := h.m
	key := func(k tea.KeyMsg) tea.Cmd {
		switch k.Type {
		case tea.KeyEnter:
			m.prompt.typed = nil
			return h.Key(k)
		case tea.KeyEsc:
			m.prompt.typed, h.find = nil, draw.Filter{}
		default:
			m.prompt.edit(k)
			f, err := draw.ParseFilter(m.prompt.typed.Value())
			if err != nil {
				m.warn(err.Error())
				return nil
			}
			h.find = f
		}
		h.list()
		h.To(1)
		m.inform(prose.When(len(h.rows) == 0, "no key matches", ""))
		return nil
	}
	m.prompt.open(h.find.Text, "/", key, tea.KeyEnter, "run", tea.KeyUp, "move", tea.KeyEsc, "show all")
	m.prompt.typed.note = true
}

// Key handles the keys that move the cursor, run the selected key, or leave the page.
func (h *helpPage) Key(k tea.KeyMsg) tea.Cmd {
	if typed := h.m.prompt.typed; typed != nil && k.Type != tea.KeyUp && k.Type != tea.KeyDown &&
		k.Type != tea.KeyPgUp && k.Type != tea.KeyPgDown {
		return typed.key(k)
	}
	switch k.String() {
	case "up", "k":
		h.step(-1)
	case "down", "j":
		h.step(1)
	case "pgup", "ctrl+b":
		h.step(-max(h.Height-1, 1))
	case "pgdown", "ctrl+f", " ":
		h.step(max(h.Height-1, 1))
	case "home", "g":
		h.To(1)
	case "end", "G":
		h.To(len(h.rows))
	case "enter":
		if a := h.selected(); a != nil {
			h.m.pages.cover(nil)
			return h.m.perform(a)
		}
	case "/":
		h.seek()
	case "?":
		if at := h.columns(); at > h.Cursor {
			h.To(len(h.rows))
			h.To(at - 1)
			h.To(at)
			break
		}
		h.m.pages.cover(nil)
	case "esc", "q":
		h.m.pages.cover(nil)
	}
	return nil
}

// Wheel moves the cursor.
func (h *helpPage) Wheel(by int) tea.Cmd {
	h.step(by)
	return nil
}

// Click runs the clicked key.
func (h *helpPage) Click(line int) tea.Cmd {
	if line += h.Top; line < 0 || line >= h.N {
		return nil
	}
	h.To(line)
	return h.Key(tea.KeyMsg{Type: tea.KeyEnter})
}

// Close does nothing.
func (h *helpPage) Close() {}

// Frame draws the page.
func (h *helpPage) Frame(body draw.Rect) []string {
	h.fit(body)
	m := h.m
	return m.Look.Frame(body, &draw.Framed{
		Tabs:    func(p *draw.Pen) { p.Put(p.Key, "Keys") },
		Focused: true, Win: &h.Window, Draw: h.drawRow, Figure: "keys of the pane " + m.pane().About().Name,
	})
}

// selected returns the action under the cursor, or nil if there is none.
func (h *helpPage) selected() *pane.Action {
	if h.Cursor < 0 || h.Cursor >= len(h.rows) {
		return nil
	}
	return h.rows[h.Cursor].action
}

// step moves the cursor. It skips lines on which the cursor cannot be.
func (h *helpPage) step(by int) {
	h.To(h.Cursor + by)
	for _, on := range []int{prose.When(by < 0, -1, 1), prose.When(by < 0, 1, -1)} {
		for h.Cursor+on >= 0 && h.Cursor+on < len(h.rows) && !h.rows[h.Cursor].rests() {
			h.To(h.Cursor + on)
		}
	}
	if h.Cursor == 1 {
		h.Top = 0
	}
}

const keyWide = 14 // cells of the keys

func (h *helpPage) drawRow(p *draw.Pen, row int) {
	r := h.rows[row]
	if r.heading != "" {
		p.Put(p.Strong, r.heading)
		return
	}
	p.Gap(2)
	p.Cell(prose.When(r.off, p.Dim, p.Key), r.name, keyWide)
	p.Put(prose.When(r.off, p.Dim, ""), r.text)
}
