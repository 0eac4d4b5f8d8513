// SPDX-License-Identifier: Apache-2.0

package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// zone is a part of the frame that does something when it is clicked.
type zone struct {
	draw.Rect
	click func() tea.Cmd
}

const wheelRows = 3 // how many rows a notch of the wheel moves

// mouse sends a click or a turn of the wheel to what is below it.
func (m *model) mouse(e tea.MouseMsg) tea.Cmd {
	if e.Action != tea.MouseActionPress {
		return nil
	}
	m.untouched = false
	switch e.Button {
	case tea.MouseButtonWheelUp:
		return m.wheel(e, -wheelRows)
	case tea.MouseButtonWheelDown:
		return m.wheel(e, wheelRows)
	case tea.MouseButtonLeft:
		return m.click(e.X, e.Y)
	}
	return nil
}

func (m *model) wheel(e tea.MouseMsg, by int) tea.Cmd {
	if m.over != nil {
		return m.over.Wheel(by)
	}
	if at, ok := m.under(e.X, e.Y); ok {
		t := m.all[at.at].Base()
		t.To(t.Cursor + by)
		m.follow()
	}
	return nil
}

// under is the pane at a cell, if it takes the mouse now.
func (m *model) under(x, y int) (placed, bool) {
	for _, p := range m.panes() {
		if p.Holds(x, y) {
			return p, m.typed == nil || m.typed.note
		}
	}
	return placed{}, false
}

func (m *model) click(x, y int) tea.Cmd {
	for _, z := range m.zones {
		if z.Holds(x, y) {
			return z.click()
		}
	}
	if m.over != nil {
		return m.over.Click(y - m.body().Y - 1)
	}
	if p, ok := m.under(x, y); ok {
		return m.clickPane(p, x, y)
	}
	return nil
}

// clickPane gives a pane the keyboard. A click on a row selects it, on the
// selected row it is Enter, on the head of a column it sorts.
func (m *model) clickPane(p placed, x, y int) tea.Cmd {
	had := m.focus == p.at
	if !had {
		m.visit(p.at)
	}
	l := m.all[p.at]
	t := l.Base()
	line := y - p.Y - 1
	if l.HasHead() {
		if line == 0 {
			return m.clickHead(l, x-p.X-2, p.W-4)
		}
		line--
	}
	line += t.Top
	if y <= p.Y || y >= p.Y+p.H-1 || line < 0 || line >= t.N {
		return nil
	}
	same := had && line == t.Cursor
	m.moveTo(line)
	if l, ok := l.(pane.Columnar); ok {
		same = l.Column(x-p.X-2, p.W-4) && same
		m.follow()
	}
	if same {
		return m.perform(m.action("open"))
	}
	return nil
}

func (m *model) clickHead(l pane.Pane, x, w int) tea.Cmd {
	if why := l.WhyNotSort(); why != "" {
		m.warn(why)
		return nil
	}
	if col := l.Base().HeadAt(x, w); col > 0 && l.Base().Cols[col-1].Name != "" {
		l.Base().SortBy(col)
		m.inform(l.Base().SortWord())
	}
	return nil
}

// zoneAt makes a part of a line clickable.
func (m *model) zoneAt(y, from, to int, click func() tea.Cmd) {
	m.zones = append(m.zones, zone{draw.Rect{X: from, Y: y, W: to - from, H: 1}, click})
}
