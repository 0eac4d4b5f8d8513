// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
)

// atTyped goes to the time that ":at TIME" names, and reports whether that was typed.
func (m *model) atTyped(text string) (tea.Cmd, bool) {
	word, said, _ := strings.Cut(text, " ")
	if word != "at" {
		return nil, false
	}
	t, err := when.Parse(strings.TrimSpace(said), m.now())
	if err != nil {
		m.warn("at: " + err.Error())
		return nil, true
	}
	return m.travel("at "+said, func(ctx context.Context) (*session.Picture, error) { return m.back.At(ctx, t) }), true
}

// step goes to what was seen before or after what is shown.
func (m *model) step(by int) func() tea.Cmd {
	return func() tea.Cmd {
		from := m.sc.Picture
		return m.travel(prose.When(by < 0, "earlier", "later"), func(ctx context.Context) (*session.Picture, error) { return m.back.Beside(ctx, from, by) })
	}
}

func (m *model) whyNotLater() string {
	return prose.When(m.old == nil, "the panes show the present: ( goes back", "")
}

// travel shows a picture of another time.
func (m *model) travel(what string, recall func(context.Context) (*session.Picture, error)) tea.Cmd {
	m.inform(what + ": reading the history")
	m.Common.Running++
	ctx := m.Ctx
	return func() tea.Msg {
		pic, err := pane.Shielded(func() (*session.Picture, error) { return recall(ctx) })
		if err == nil && pic != nil {
			m.indexes.Of(pic.Fabric)
		}
		return recalledMsg{pic, err}
	}
}

// asOf says which time is shown.
func asOf(p *session.Picture) string { return p.When.Local().Format(time.DateTime) }
