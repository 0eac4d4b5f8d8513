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
}

// helpRow is an action or, without one, a heading.
type helpRow struct {
	heading string
	action  *pane.Action
}

func (m *model) openHelp() tea.Cmd {
	h := &helpPage{m: m}
	group := ""
	for i := range m.actions {
		a := &m.actions[i]
		if a.Group != group {
			group = a.Group
			h.rows = append(h.rows, helpRow{heading: group})
		}
		h.rows = append(h.rows, helpRow{action: a})
	}
	m.cover(h)
	h.Resize(len(h.rows), max(m.body().H-2, 0))
	h.To(1)
	return nil
}

// Key moves the cursor, does what is selected, or leaves.
func (h *helpPage) Key(k tea.KeyMsg) tea.Cmd {
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
		if a := h.rows[h.Cursor].action; a != nil {
			h.m.cover(nil)
			return h.m.perform(a)
		}
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

// step moves the cursor and passes over headings.
func (h *helpPage) step(by int) {
	h.To(h.Cursor + by)
	if h.rows[h.Cursor].action == nil {
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
	a := h.rows[h.Cursor].action
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
