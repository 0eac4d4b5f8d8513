// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// key handles a key.
func (m *model) key(k tea.KeyMsg) tea.Cmd {
	switch {
	case k.Type == tea.KeyCtrlC && m.jobs.question == nil:
		return interrupt(m)
	case m.pages.over != nil:
		return m.pages.over.Key(k)
	case m.prompt.typed != nil:
		return m.prompt.typed.key(k)
	case k.Paste:
		m.warn("a paste goes into the command line: press : first")
		return nil
	// If keys are typed faster than the screen is drawn, they arrive as one message.
	case k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Alt:
		return m.keys(k.Runes)
	}
	return m.act(k)
}

// keys handles several keys in turn. As soon as a page or an input line is open, the remaining keys go there.
func (m *model) keys(runes []rune) tea.Cmd {
	var cmds []tea.Cmd
	for i, r := range runes {
		if m.pages.over != nil || m.prompt.typed != nil {
			cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: runes[i:]}))
			break
		}
		cmds = append(cmds, m.act(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(cmds...)
}

// act runs the action of a key, or reports the reason why the action is not possible.
func (m *model) act(k tea.KeyMsg) tea.Cmd {
	m.untouched = false
	name := k.String()
	var other *pane.Action // for other panes
	for i := range m.actions {
		a := &m.actions[i]
		if !slices.Contains(a.Keys(), name) { // key.Matches would spell the key for each
			continue
		}
		if a.Panes == nil || slices.Contains(a.Panes, m.pane().About().Name) {
			return m.perform(a)
		}
		other = a
	}
	if other != nil {
		return m.perform(other)
	}
	m.warn(draw.Clean(name, m.Look.ASCII) + " has no action: ? lists all keys")
	return nil
}

func (m *model) perform(a *pane.Action) tea.Cmd {
	if a.Name != "quit" {
		m.jobs.quitting = false
	}
	if why := m.reason(a); why != "" {
		m.warn(keyWord(&m.Look.Glyphs, a) + ": " + why)
		return nil
	}
	if m.status.bad {
		m.status = status{}
	}
	cmd := a.Run()
	m.follow()
	m.fit()
	return cmd
}

// moveTo moves the cursor of the focused pane.
func (m *model) moveTo(row int) {
	m.pane().Base().To(row)
	m.follow()
}

const sideStep = 8 // how many cells, or columns of a map, a key scrolls

func (m *model) sideways(by int) tea.Cmd {
	if s, ok := m.pane().(pane.Stepper); ok {
		return m.handle(s.Step(by))
	}
	if pic, ok := m.pane().(pane.Pictured); ok && pic.IsPicture() {
		pic.Walk(by, 0)
		return nil
	}
	m.pane().(pane.Mover).Sideways(by * sideStep)
	return nil
}

func whyNotWrap(m *model) string { return m.pane().(pane.Wrapper).WhyNotWrap() }

// toggleWrap wraps the long lines of the pane, or cuts them again.
func toggleWrap(m *model) tea.Cmd {
	t := m.pane().Base()
	if t.Lines == nil {
		t.Lines, t.Offset = m.pane().(pane.Wrapper).Wrap, 0
		informView(m, "long lines are wrapped")
	} else {
		t.Lines = nil
		informView(m, "long lines are cut")
	}
	t.To(t.Cursor)
	return nil
}

func whyNoEscape(m *model) string {
	act, _ := m.pane().Escape(true)
	if m.pane().Base().Filt.Empty() && m.leave < 0 && len(m.jobs.running) == 0 && act == nil {
		return "there is nothing to close or cancel"
	}
	return ""
}

func escape(m *model) tea.Cmd {
	act, _ := m.pane().Escape(len(m.jobs.running) == 0)
	switch {
	case !m.pane().Base().Filt.Empty():
		m.prompt.setFilter("")
	case m.leave >= 0:
		m.setFocus(m.leave)
	case act != nil:
		return m.handle(act())
	default:
		m.jobs.cancel()
	}
	return nil
}

// interrupt handles Ctrl-C: it leaves the input line, cancels the running command, or quits.
func interrupt(m *model) tea.Cmd {
	if p, ok := m.pages.over.(*writePage); ok && p.end == nil {
		m.jobs.cancel()
		return nil
	}
	switch {
	case m.pages.over != nil || m.prompt.typed != nil:
		m.pages.cover(nil)
		m.prompt.typed, m.prompt.comp = nil, nil
	case len(m.jobs.running) > 0:
		m.jobs.cancel()
	default:
		return tea.Quit
	}
	return nil
}

func quit(m *model) tea.Cmd {
	if len(m.jobs.running) > 0 && !m.jobs.quitting {
		m.jobs.quitting = true
		m.warn(m.jobs.latest().text + " is running: q again cancels it and quits")
		return nil
	}
	if m.screens != nil && m.screens.runningElsewhere(m) != "" && !m.jobs.quitting {
		m.jobs.quitting = true
		m.warn(m.screens.runningElsewhere(m) + " is running: q again cancels it and quits")
		return nil
	}
	return tea.Quit
}

func (m *model) updatePanes(msg tea.Msg) {
	for _, p := range m.all {
		p.Update(msg)
	}
}

// note adds lines to the log.
func (m *model) note(lines ...pane.Line) { m.updatePanes(pane.Log{Lines: lines}) }

// handle carries out a message of a pane.
func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case pane.Several:
		var cmds []tea.Cmd
		for _, x := range msg {
			cmds = append(cmds, m.handle(x))
		}
		return tea.Batch(cmds...)
	case pane.Run:
		return m.jobs.runFor(msg)
	case pane.EnterSubnet:
		return enterSubnet(msg)
	case pane.Choose:
		return m.choice.set(msg.Kind)
	case pane.Recall:
		return m.choice.recallEntry(msg.ID)
	case pane.OpenMoment:
		return m.choice.openMoment(msg)
	case pane.Rollback:
		if why := whyNotRollback(m); why != "" {
			m.warn("U: " + why)
			return nil
		}
		return m.pages.openRollback(msg.ID)
	case pane.ShowKind:
		return leadKind(m, msg)
	case pane.Type:
		return m.prompt.openCommand(prose.When(msg.Text == reading, "sweep", msg.Text))
	default:
		m.show(msg)
	}
	m.follow()
	m.fit()
	return nil
}

// show handles messages that do not result in a command.
func (m *model) show(msg tea.Msg) {
	switch msg := msg.(type) {
	case pane.Inform:
		m.inform(msg.Text)
	case pane.Warn:
		m.warn(msg.Text)
	case pane.Open:
		m.setFocus(m.named(msg.Name))
	case pane.GoTo:
		m.setFocus(m.at(pane.SeatHome))
		m.updatePanes(pane.Visit(msg))
	case pane.Follow:
		if node, _ := pane.PlaceOf(msg.Fabric, msg.Node, fabric.None).In(m.sc.Top.Fabric); node == fabric.None {
			m.warn(msg.Fabric.NodeName(msg.Node) + " is not in the topology")
		}
		m.updatePanes(msg)
	default:
		m.updatePanes(msg)
	}
}

// bring gives the keyboard focus to a pane. Esc returns the focus.
func (m *model) bring(at int) {
	if was := m.focus; was != at {
		m.setFocus(at)
		m.leave = was
	}
}
