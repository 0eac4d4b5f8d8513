// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// helpPage lists all keys. It is made of the key map; Enter does what is selected.
type helpPage struct {
	window
	rows []helpRow
}

// helpRow is an action or, without one, a heading.
type helpRow struct {
	heading string
	action  *action
}

func (m *model) openHelp() tea.Cmd {
	h := &helpPage{}
	group := ""
	for i := range m.actions {
		a := &m.actions[i]
		if a.group != group {
			group = a.group
			h.rows = append(h.rows, helpRow{heading: group})
		}
		h.rows = append(h.rows, helpRow{action: a})
	}
	m.help, m.mode = h, modeHelp
	h.resize(len(h.rows), max(m.body().h-2, 0))
	h.to(1)
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
		h.step(-max(h.height-1, 1))
	case "pgdown", "ctrl+f", " ":
		h.step(max(h.height-1, 1))
	case "home", "g":
		h.to(1)
	case "end", "G":
		h.to(len(h.rows))
	case "enter":
		if a := h.rows[h.cursor].action; a != nil {
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
	h.to(h.cursor + by)
	if h.rows[h.cursor].action == nil {
		if by < 0 && h.cursor > 0 {
			h.to(h.cursor - 1)
		} else {
			h.to(h.cursor + 1)
		}
	}
	if h.cursor == 1 {
		h.top = 0
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
	a := m.help.rows[m.help.cursor].action
	if a == nil {
		return ""
	}
	text, why := a.help, a.reason(m)
	if why != "" {
		text += "  (" + why + ")"
	}
	if w-6-keyWide >= width(text) {
		return ""
	}
	return orElse(why, a.help)
}

func (m *model) drawHelp(p *pen, row int) {
	r := m.help.rows[row]
	if r.action == nil {
		p.put(p.strong, r.heading)
		return
	}
	var names []string
	for _, k := range r.action.keys {
		names = append(names, m.theme.keyName(k))
	}
	why := r.action.reason(m)
	p.gap(2)
	p.cell(when(why == "", p.key, p.dim), strings.Join(names, " "), keyWide)
	p.put(when(why == "", "", p.dim), r.action.help)
	if why != "" {
		p.put(p.dim, "  ("+why+")")
	}
}
