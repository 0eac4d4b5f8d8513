// SPDX-License-Identifier: Apache-2.0

package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
)

// overlay is something over the panes that takes all keys.
type overlay interface {
	Key(k tea.KeyMsg) tea.Cmd
	Frame(body draw.Rect) []string
	// Click takes a click on a line of its frame, counted from 0 below the border.
	Click(line int) tea.Cmd
	Wheel(by int) tea.Cmd
	// Close is called when it is left.
	Close()
}

// cover shows an overlay instead of the one that is there, nil for none.
func (m *model) cover(o overlay) {
	if m.over != nil {
		m.over.Close()
	}
	m.over = o
}

// hint is a key, what it does, and that for a click.
type hint struct {
	key, word string
	click     func() tea.Cmd
}

// keyed are hints of keys with what they do. Up stands for both ways, and is not clicked.
func (m *model) keyed(pairs ...any) []hint {
	var out []hint
	for i := 0; i < len(pairs); i += 2 {
		k := tea.KeyMsg{Type: pairs[i].(tea.KeyType)}
		h := hint{draw.PlainKeyName(k.String()), pairs[i+1].(string), func() tea.Cmd { return m.key(k) }}
		if k.Type == tea.KeyUp {
			h.key, h.click = m.theme.Up+m.theme.Down, nil
		}
		out = append(out, h)
	}
	return out
}
