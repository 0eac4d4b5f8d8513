// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// helpPage lists all keys. It is made of the key map; Enter does what is selected.
type helpPage struct {
	draw.Window
	rows []helpRow
}

// helpRow is an action or, without one, a heading.
type helpRow struct {
	heading string
	action  *pane.Action
}

func (m *model) openHelp() tea.Cmd {
	h := &helpPage{}
	group := ""
	for i := range m.actions {
		a := &m.actions[i]
		if a.Group != group {
			group = a.Group
			h.rows = append(h.rows, helpRow{heading: group})
		}
		h.rows = append(h.rows, helpRow{action: a})
	}
	m.help, m.mode = h, modeHelp
	h.Resize(len(h.rows), max(m.body().H-2, 0))
	h.To(1)
	return nil
}

func (m *model) helpKey(k tea.KeyMsg) tea.Cmd {
	h := m.help
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
			m.mode = modeKeys
			return m.perform(a)
		}
	case "esc", "q", "?":
		m.mode = modeKeys
	}
	return nil
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

// keyWide is how wide the keys of an action are on the page.
const keyWide = 14

// helpCut is what the selected row does not have room for: why the key does nothing now,
// else what it does; "" where all can be read.
func (m *model) helpCut(w int) string {
	if m.mode != modeHelp {
		return ""
	}
	a := m.help.rows[m.help.Cursor].action
	if a == nil {
		return ""
	}
	text, why := a.Help, m.reason(a)
	if why != "" {
		text += "  (" + why + ")"
	}
	if w-6-keyWide >= draw.Width(text) {
		return ""
	}
	return cmp.Or(why, a.Help)
}

func (m *model) drawHelp(p *draw.Pen, row int) {
	r := m.help.rows[row]
	if r.action == nil {
		p.Put(p.Strong, r.heading)
		return
	}
	var names []string
	for _, k := range r.action.Keys {
		names = append(names, m.theme.KeyName(k))
	}
	why := m.reason(r.action)
	p.Gap(2)
	p.Cell(draw.When(why == "", p.Key, p.Dim), strings.Join(names, " "), keyWide)
	p.Put(draw.When(why == "", "", p.Dim), r.action.Help)
	if why != "" {
		p.Put(p.Dim, "  ("+why+")")
	}
}
