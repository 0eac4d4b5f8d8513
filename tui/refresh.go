// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/pane"
)

// refresh takes the present state of the session. While updates are stopped, the panes do not change.
func (m *model) refresh() {
	m.st = m.back.State()
	m.jobs.pace.note(&m.st, m.now())
	m.pages.followWriting()
	if !m.frozen.IsZero() {
		return
	}
	before := m.sc
	m.sc = pane.NewScene(m.st, m.choice.of, m.choice.old, m.choice.between, m.indexes.Of)
	m.sc.Clock = m.now
	m.sc.CountDown(before)
	m.choice.of = m.sc.Of
	if before != nil {
		m.events.report(before, len(m.jobs.running) == 0)
	}
	changed := m.sc.Changed(before)
	for _, p := range m.all {
		p.Base().Shared = m.sc.Top.Shared
		p.Show(m.sc, changed)
	}
	if !changed {
		return
	}
	if before == nil || len(before.Top.Fabric.Nodes) == 0 {
		m.welcome = m.untouched
	}
	m.follow()
	m.collect()
}

// welcomeSubnet goes to the head pane (the list of problems) if a subnet that was just read has errors.
func (m *model) welcomeSubnet() {
	switch head := m.at(pane.SeatHead); {
	case !m.welcome:
	case m.untouched && m.all[head].Alarm() > 0:
		m.welcome = false
		m.setFocus(head)
		m.chosen = false
	default:
		m.welcome = m.untouched && (m.Running > 0 || m.sc.Reading())
	}
}

// follow shows the object that was selected last in the panes that follow it.
func (m *model) follow() {
	for i, p := range m.all {
		to, ok := p.(pane.Pointer)
		if !ok || i != m.focus && i != m.at(pane.SeatHome) {
			continue
		}
		if at := to.Pointed(); at != m.pointed[i] {
			m.pointed[i] = at
			if !at.None() || i == m.at(pane.SeatHome) {
				m.followed = at
			}
		}
	}
	for _, q := range m.all {
		if f, ok := q.(pane.Follower); ok {
			f.Follow(m.followed)
		}
	}
}

// collect makes all panes accept the results of their background computations.
func (m *model) collect() {
	for _, p := range m.all {
		p.Collect()
	}
	m.fit()
}

// seek starts the computations that the visible panes need.
func (m *model) seek() tea.Cmd {
	if !m.frozen.IsZero() {
		return nil
	}
	var cmds []tea.Cmd
	idle := m.st.Busy == "" && len(m.jobs.running) == 0 && !m.pages.onPage()
	unread := len(m.sc.Picture.Fabric.Nodes) == 0
	for i, p := range m.all {
		if _, beyond := p.(pane.Global); unread && !beyond {
			continue
		}
		if c := p.Seek(pane.Stage{Visible: m.visible(i), Focused: i == m.focus, Idle: idle}); c != nil {
			cmds = append(cmds, c)
		}
	}
	if cmds == nil {
		return nil
	}
	m.collect()
	return tea.Batch(append(cmds, m.tick())...)
}

// sift returns a command that continues unfinished filters and sorts. Keys that were pressed before are handled first.
func (m *model) sift() tea.Cmd {
	if m.sifting || !slices.ContainsFunc(m.all, func(p pane.Pane) bool { return p.Base().Working() }) {
		return nil
	}
	m.sifting = true
	m.Common.Running++
	return func() tea.Msg { return siftMsg{} }
}

// sifted continues filters and sorts.
func (m *model) sifted() tea.Cmd {
	m.sifting = false
	m.Common.Running--
	for _, p := range m.all {
		if p.Base().Working() {
			p.Base().Work()
		}
	}
	m.follow()
	m.fit()
	if in := &m.prompt; in.typed != nil && in.typed.Value() == m.pane().Base().Filt.Text {
		return in.seekNear()
	}
	return nil
}
