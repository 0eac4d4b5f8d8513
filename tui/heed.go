// SPDX-License-Identifier: Apache-2.0

package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/pane"
)

func (m *model) tellPanes(msg tea.Msg) {
	for _, p := range m.all {
		p.Update(msg)
	}
}

// note adds lines to the log.
func (m *model) note(lines ...pane.Line) { m.tellPanes(pane.Log{Lines: lines}) }

// heed does what a pane asks for.
func (m *model) heed(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case pane.Several:
		var cmds []tea.Cmd
		for _, x := range msg {
			cmds = append(cmds, m.heed(x))
		}
		return tea.Batch(cmds...)
	case pane.Run:
		cmd := m.jobs.say(msg.Command, !msg.Typed)
		m.jobs.latest().opens = msg.Sheet
		return cmd
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

// show does what a pane asks for that is on the screen already.
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
		m.tellPanes(pane.Visit(msg))
	case pane.Follow:
		if node, _ := pane.PlaceOf(msg.Fabric, msg.Node, fabric.None).In(m.sc.Top.Fabric); node == fabric.None {
			m.warn(msg.Fabric.NodeName(msg.Node) + " is not in the topology that is shown")
		}
		m.tellPanes(msg)
	default:
		m.tellPanes(msg)
	}
}

// bring gives a pane the keyboard, so that Esc goes back from there.
func (m *model) bring(at int) {
	if was := m.focus; was != at {
		m.setFocus(at)
		m.leave = was
	}
}
