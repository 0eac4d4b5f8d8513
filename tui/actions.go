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

// visit gives the keyboard focus to a pane and records this stop in the trail, the list of visited panes.
func (m *model) visit(at int) tea.Cmd {
	return m.jump(func() tea.Cmd {
		m.setFocus(at)
		return nil
	})
}

func toggleZoom(m *model) tea.Cmd {
	m.zoom = !m.zoom
	m.fit()
	return nil
}

// counting is the name of the operation that reads counters. If the operation reads them for the trace pane, every
// command interrupts it.
const counting = "counters"

func whyNotRoute(m *model) string {
	if len(m.sc.State.Live.Fabric.Nodes) == 0 && m.sc.State.WhatIf == nil {
		return cmp.Or(m.jobs.whyBusy(), "the subnet has not been read: R reads it")
	}
	return m.jobs.whyBusy()
}

// rowDiff returns the command that compares the selected row. ok is false if the row cannot be compared.
func rowDiff(m *model) (command string, ok bool) {
	if d, has := m.pane().(pane.Differ); has {
		return d.Diff()
	}
	return "", false
}

func whyNotDiff(m *model) string {
	if _, ok := rowDiff(m); !ok && m.sc.State.Staged == nil && m.sc.State.WhatIf == nil {
		return "there is only the live state: f simulates a failure, r computes routes"
	}
	return m.jobs.whyBusy()
}

func diffNow(m *model) tea.Cmd {
	command, ok := rowDiff(m)
	return m.jobs.runCommand(prose.When(ok, command, "diff"), true)
}

func whyNotSweep(m *model) string {
	if m.sc.State.Source.Offline() {
		return "the source is a file"
	}
	return m.jobs.whyBusy()
}

func whyNotCabling(m *model) string {
	if m.sc.Cabling() == nil {
		return "the cabling has not been checked: :check cabling PLAN compares it with a plan"
	}
	return m.jobs.whyBusy()
}

// workList checks the cabling again and shows the list of work.
func workList(m *model) tea.Cmd {
	return m.handle(pane.Run{Command: m.sc.Cabling().Command, Sheet: "work list"})
}

func whyNotWrite(m *model) string {
	return prose.When(m.sc.State.Source.Offline(), "the source is a file", "")
}

func toggleWrite(m *model) tea.Cmd {
	return m.jobs.runCommand(prose.When(m.st.WriteOn, "write off", "write on"), true)
}

func whyNotWatch(m *model) string {
	return prose.When(m.sc.State.Source.Offline(), "the source is a file", "")
}

const usualWatch = "watch 30"

func toggleWatch(m *model) tea.Cmd {
	return m.jobs.runCommand(prose.When(m.st.Every > 0, "watch off", usualWatch), true)
}

func whyNotOpen(m *model) string {
	_, why := m.pane().Enter()
	return why
}

// open implements the Enter key: it goes to the target of the selected row.
func open(m *model) tea.Cmd {
	act, _ := m.pane().Enter()
	return m.jump(func() tea.Cmd { return m.handle(act()) })
}

func whyNotSort(m *model) string { return m.pane().WhyNotSort() }

func sort(m *model) tea.Cmd {
	informView(m, cmp.Or(m.pane().Base().NextSort(), "in the original order"))
	return nil
}

func whyNoKind(m *model) string {
	return prose.When(len(m.pane().Base().Kinds) == 0, "this pane has only one view", "")
}

func nextKind(m *model) tea.Cmd {
	t := m.pane().Base()
	return setKind(m, (t.Kind+1)%len(t.Kinds), 0)
}

// leadKind shows another view of the focused pane and clears the filter.
func leadKind(m *model, to pane.ShowKind) tea.Cmd {
	m.pane().Base().Filt = draw.Filter{}
	return setKind(m, to.Kind, to.Row)
}

// setKind shows another view of the focused pane, with the cursor on the row with the given ID.
func setKind(m *model, kind int, row uint64) tea.Cmd {
	p := m.pane()
	t := p.Base()
	p.Leaving()
	t.Show(kind)
	p.Renew()
	if row != 0 {
		t.Find(row)
	}
	informView(m, t.Kinds[t.Kind])
	m.follow()
	m.fit()
	return nil
}

func whyNoRow(m *model) string { return prose.When(m.pane().Base().N == 0, "there are no rows", "") }

func markRow(m *model) tea.Cmd {
	t := m.pane().Base()
	t.ToggleMark()
	informView(m, prose.Count(len(t.Marks), "row")+" marked")
	return nil
}

// markRange marks the rows between the cursor and the nearest marked row.
func markRange(m *model) tea.Cmd {
	t := m.pane().Base()
	if !t.MarkRange() {
		m.warn("only the row of the cursor is marked: move to the other end of the range")
		return nil
	}
	informView(m, prose.Count(len(t.Marks), "row")+" marked")
	return nil
}

func whyNoMarks(m *model) string {
	return prose.When(len(m.pane().Base().Marks) == 0, "no row of this list is marked", "")
}

func unmark(m *model) tea.Cmd {
	m.pane().Base().Marks = nil
	m.inform("")
	return nil
}

// freeze stops the updates of the panes. If they are already stopped, it continues with the newest state.
func freeze(m *model) tea.Cmd {
	if m.frozen.IsZero() {
		m.frozen = m.now()
		again := keyWord(&m.Look.Glyphs, m.action("freeze"))
		m.inform("frozen: the panes do not change until " + again + " is pressed again")
		return nil
	}
	m.frozen = time.Time{}
	m.refresh()
	m.inform("the panes are updated again")
	return nil
}

func whyNoTheme(m *model) string {
	if m.retheme == nil || m.Look.Name == "none" && m.Look.Fixed {
		return "no colours on this terminal, or NO_COLOR is set"
	}
	return ""
}

func nextTheme(m *model) tea.Cmd {
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
