// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// visit gives a pane the keyboard, so that there is a way back.
func (m *model) visit(at int) tea.Cmd {
	return m.jump(func() tea.Cmd {
		m.setFocus(at)
		return nil
	})
}

func (m *model) toggleZoom() tea.Cmd {
	m.zoom = !m.zoom
	m.fit()
	return nil
}

// counting is what the session calls the reading of counters. What is read for the trace yields to every command.
const counting = "counters"

// whyBusy says what keeps the session from another operation.
func (m *model) whyBusy() string {
	if busy := m.back.State().Busy; busy != "" && (busy != counting || !m.holding()) {
		return busy + " is running: Esc cancels it"
	}
	return ""
}

func (m *model) whyNotRoute() string {
	if len(m.sc.State.Live.Fabric.Nodes) == 0 && m.sc.State.WhatIf == nil {
		return cmp.Or(m.whyBusy(), "there is no subnet to route: R reads it")
	}
	return m.whyBusy()
}

// holding reports whether a pane keeps the session from other work.
func (m *model) holding() bool {
	return slices.ContainsFunc(m.all, func(p pane.Pane) bool {
		h, ok := p.(pane.Holder)
		return ok && h.Holding()
	})
}

// yield ends what panes keep the session with, and returns a function that waits for that.
func (m *model) yield() (wait func()) {
	wait = func() {}
	for _, p := range m.all {
		if h, ok := p.(pane.Holder); ok && h.Holding() {
			before, ended := wait, h.Yield()
			wait = func() { before(); ended() }
		}
	}
	return wait
}

// rowDiff is the command that compares what is selected, if there is one.
func (m *model) rowDiff() (command string, ok bool) {
	if d, has := m.pane().(pane.Differ); has {
		return d.Diff()
	}
	return "", false
}

func (m *model) whyNotDiff() string {
	if _, ok := m.rowDiff(); !ok && m.sc.State.Staged == nil && m.sc.State.WhatIf == nil {
		return "there is only the live picture: f lets something fail, r routes"
	}
	return m.whyBusy()
}

func (m *model) diffNow() tea.Cmd {
	command, ok := m.rowDiff()
	return m.say(prose.When(ok, command, "diff"), true)
}

func (m *model) whyNotSweep() string {
	if m.sc.State.Source.Offline() {
		return "a file cannot be swept"
	}
	return m.whyBusy()
}

func (m *model) whyNotWrite() string {
	return prose.When(m.sc.State.Source.Offline(), "a file has no switches to write to", "")
}

func (m *model) toggleWrite() tea.Cmd {
	return m.say(prose.When(m.st.WriteOn, "write off", "write on"), true)
}

func (m *model) whyNotWatch() string {
	return prose.When(m.sc.State.Source.Offline(), "a file does not change: there is nothing to watch", "")
}

const usualWatch = "watch 30"

func (m *model) toggleWatch() tea.Cmd {
	return m.say(prose.When(m.st.Every > 0, "watch off", usualWatch), true)
}

func (m *model) whyNotOpen() string {
	_, why := m.pane().Enter()
	return why
}

// open is Enter: it goes to what the selected row leads to.
func (m *model) open() tea.Cmd {
	act, _ := m.pane().Enter()
	return m.jump(func() tea.Cmd { return m.heed(act()) })
}

func (m *model) whyNotSort() string { return m.pane().WhyNotSort() }

func (m *model) sort() tea.Cmd {
	m.inform(cmp.Or(m.pane().Base().NextSort(), "in the order that they come in"))
	return nil
}

func (m *model) whyNoKind() string {
	return prose.When(len(m.pane().Base().Kinds) == 0, "there is one manner of showing this", "")
}

func (m *model) nextKind() tea.Cmd {
	t := m.pane().Base()
	return m.setKind((t.Kind+1)%len(t.Kinds), 0)
}

// leadKind shows what a row leads to. The filter by which the row was found ends.
func (m *model) leadKind(to pane.ShowKind) tea.Cmd {
	m.pane().Base().Filt = draw.Filter{}
	return m.setKind(to.Kind, to.Row)
}

// setKind shows the list in one of its manners, with the cursor on a row.
func (m *model) setKind(kind int, row uint64) tea.Cmd {
	p := m.pane()
	t := p.Base()
	p.Leaving()
	t.Show(kind)
	p.Renew()
	if row != 0 {
		t.Find(row)
	}
	m.inform(t.Kinds[t.Kind])
	m.follow()
	m.fit()
	return nil
}

func (m *model) whyNoRow() string { return prose.When(m.pane().Base().N == 0, "there are no rows", "") }

func (m *model) markRow() tea.Cmd {
	t := m.pane().Base()
	t.ToggleMark()
	m.inform(draw.Count(len(t.Marks), "row") + " marked")
	return nil
}

func (m *model) whyNoMarks() string {
	return prose.When(len(m.pane().Base().Marks) == 0, "no row of this list is marked", "")
}

func (m *model) unmark() tea.Cmd {
	m.pane().Base().Marks = nil
	m.inform("")
	return nil
}

// freeze lets the panes stand still, or go on with the newest state.
func (m *model) freeze() tea.Cmd {
	if m.frozen.IsZero() {
		m.frozen = m.now()
		m.inform("frozen: the panes stand still until Space is pressed again")
		return nil
	}
	m.frozen = time.Time{}
	m.refresh()
	m.inform("the panes follow the subnet again")
	return nil
}

func (m *model) whyNoTheme() string {
	if m.retheme == nil || m.Look.Name == "none" && m.Look.Fixed {
		return "this terminal, or NO_COLOR, allows no colours"
	}
	return ""
}

func (m *model) nextTheme() tea.Cmd {
	next := draw.Themes[(slices.Index(draw.Themes, m.Look.Name)+1)%len(draw.Themes)]
	t, err := m.retheme(next)
	if err != nil {
		m.warn(err.Error())
		return nil
	}
	*m.Look = *t
	m.inform("theme " + next)
	return nil
}
