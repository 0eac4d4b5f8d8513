// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// helpPage lists all keys. It is made of the key map; Enter does what is selected, which
// the help of bubbles, columns of keys, cannot.
type helpPage struct {
	draw.Window
	m    *model
	rows []helpRow
	find draw.Filter
}

// helpRow is an action or, without one, a heading.
type helpRow struct {
	heading string
	action  *pane.Action
}

func (m *model) openHelp() tea.Cmd {
	h := &helpPage{m: m}
	h.list()
	m.cover(h)
	h.Resize(len(h.rows), max(m.body().H-2, 0))
	h.To(1)
	return nil
}

// list takes the actions that the filter lets through.
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
		h.rows = append(h.rows, helpRow{action: a})
	}
}

// seek lets somebody type what the keys that are listed have to do with.
func (h *helpPage) seek() {
	m := h.m
	m.typed = newTyped(h.find.Text)
	m.typed.label, m.typed.note = func() string { return "/" }, true
	m.typed.hints = m.keyed(tea.KeyEnter, "do it", tea.KeyUp, "move", tea.KeyEsc, "show all")
	m.typed.key = func(k tea.KeyMsg) tea.Cmd {
		switch k.Type {
		case tea.KeyEnter:
			m.typed = nil
			return h.Key(k)
		case tea.KeyEsc:
			m.typed, h.find = nil, draw.Filter{}
		default:
			m.typed.edit(k)
			f, err := draw.ParseFilter(m.typed.Value())
			if err != nil {
				m.warn(err.Error())
				return nil
			}
			h.find = f
		}
		h.list()
		h.To(1)
		m.inform(prose.When(len(h.rows) == 0, "no key has to do with that", ""))
		return nil
	}
}

// Key moves the cursor, does what is selected, or leaves.
func (h *helpPage) Key(k tea.KeyMsg) tea.Cmd {
	if typed := h.m.typed; typed != nil && k.Type != tea.KeyUp && k.Type != tea.KeyDown && k.Type != tea.KeyPgUp && k.Type != tea.KeyPgDown {
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
			h.m.cover(nil)
			return h.m.perform(a)
		}
	case "/":
		h.seek()
	case "esc", "q", "?":
		h.m.cover(nil)
	}
	return nil
}

// Wheel moves the cursor.
func (h *helpPage) Wheel(by int) tea.Cmd {
	h.step(by)
	return nil
}

// Click does what is clicked.
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
	h.Resize(len(h.rows), max(body.H-2, 0))
	m := h.m
	return m.Look.Frame(body, &draw.Framed{
		Tabs:    func(p *draw.Pen) { p.Put(p.Key, "Keys") },
		Focused: true, Win: &h.Window, Draw: h.drawRow, Figure: fmt.Sprintf("pane %d, %s", m.focus+1, m.pane().About().Name),
	})
}

// selected is the action of the cursor, nil for none.
func (h *helpPage) selected() *pane.Action {
	if h.Cursor < 0 || h.Cursor >= len(h.rows) {
		return nil
	}
	return h.rows[h.Cursor].action
}

// step moves the cursor and passes over headings.
func (h *helpPage) step(by int) {
	h.To(h.Cursor + by)
	if len(h.rows) > 0 && h.selected() == nil {
		if by < 0 && h.Cursor > 0 {
			h.To(h.Cursor - 1)
		} else {
			h.To(h.Cursor + 1)
		}
	}
	if h.Cursor == 1 {
		h.Top = 0
	}
}

const keyWide = 14 // how wide the keys of an action are on the page

// cut is what the selected row lacks room for: why the key does nothing now, else what it does; "" for nothing.
func (h *helpPage) cut(w int) string {
	a := h.selected()
	if a == nil {
		return ""
	}
	text, why := a.Help().Desc, h.m.reason(a)
	if why != "" {
		text += "  (" + why + ")"
	}
	if w-6-keyWide >= draw.Width(text) {
		return ""
	}
	return cmp.Or(why, a.Help().Desc)
}

func (h *helpPage) drawRow(p *draw.Pen, row int) {
	r := h.rows[row]
	if r.action == nil {
		p.Put(p.Strong, r.heading)
		return
	}
	names := prose.Words(r.action.Keys(), p.KeyName)
	why := h.m.reason(r.action)
	p.Gap(2)
	p.Cell(prose.When(why == "", p.Key, p.Dim), strings.Join(names, " "), keyWide)
	p.Put(prose.When(why == "", "", p.Dim), r.action.Help().Desc)
	if why != "" {
		p.Put(p.Dim, "  ("+why+")")
	}
}
