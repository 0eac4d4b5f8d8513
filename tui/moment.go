// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
)

// momentMsg brings the pictures of before and after an event.
type momentMsg struct {
	between pane.Between
	err     error
}

// openMoment shows the pictures of before and after an event.
func (m *model) openMoment(ask pane.OpenMoment) tea.Cmd {
	m.inform(fmt.Sprintf("reading entries %d and %d", ask.Moment.Before, ask.Moment.After))
	m.Common.Running++
	return func() tea.Msg {
		b, err := pane.Shielded(func() (b pane.Between, err error) {
			b = pane.Between{Moment: ask.Moment, Earlier: ask.Earlier}
			if b.Before, err = m.recall(ask.Moment.Before); err == nil {
				b.After, err = m.recall(ask.Moment.After)
			}
			return b, err
		})
		return momentMsg{b, err}
	}
}

func (m *model) recall(id int64) (*session.Picture, error) {
	p, err := m.back.Recall(id)
	if err == nil {
		m.indexes.Of(p.Fabric)
	}
	return p, err
}

func (m *model) openedMoment(msg momentMsg) {
	m.Common.Running--
	if msg.err != nil {
		m.warn("history: " + msg.err.Error())
		return
	}
	m.showMoment(msg.between)
}

// showMoment shows one side of an event, compared with the other.
func (m *model) showMoment(b pane.Between) {
	m.between, m.old = &b, b.Shown()
	m.refresh()
	at := b.Moment.When.Local().Format(time.TimeOnly)
	m.inform(fmt.Sprintf("%s %s (%s): v shows what was %s, B the present", prose.When(b.Earlier, "before", "after"), at, b.Moment.Text, b.OtherSide()))
}

func (m *model) whyNotNow() string {
	return prose.When(m.old == nil, "the panes show the present", "")
}

// showNow goes back to the present.
func (m *model) showNow() tea.Cmd { return m.choosePicture("") }
