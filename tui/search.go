// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
)

func whyNotSearched(m *model) string {
	if m.prompt.searched == "" {
		return "nothing was searched yet: / types a text"
	}
	return whyNoRow(m)
}

// again returns the function of an action that goes to the next row, or for -1 to the previous row, with the text of
// the last filter. After the last row of the list comes the first.
func again(by int) func(m *model) tea.Cmd {
	return func(m *model) tea.Cmd {
		t := m.pane().Base()
		t.WorkAll()
		f, err := m.prompt.parseFilter(m.prompt.searched)
		if err != nil {
			m.warn(err.Error())
			return nil
		}
		line, found := t.Next(f, by)
		if !found {
			m.warn("no row of this list matches " + draw.Clean(m.prompt.searched, m.Look.ASCII))
			return nil
		}
		wrapped := cmp.Compare(line, t.Cursor) != by
		t.Reveal(line)
		m.follow()
		informView(m, "/"+draw.Clean(m.prompt.searched, m.Look.ASCII))
		if wrapped {
			informView(m, m.status.text+", from the other end of the list")
		}
		return nil
	}
}
