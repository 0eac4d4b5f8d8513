// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	tea "github.com/charmbracelet/bubbletea"
)

// failCommands let all that is marked, or else what is selected, fail on paper.
func (m *model) failCommands() (commands []string, why string) {
	t := m.pane().base()
	if len(t.Marks) == 0 {
		command, why := m.sc.fail(m.pane().subject())
		if director := m.tree.director(); m.focus == paneTopology && director != "" {
			command, why = "fail director "+director, ""
		}
		return []string{command}, why
	}
	at := t.Cursor
	for _, line := range t.Chosen() {
		t.Cursor = line
		if command, no := m.sc.fail(m.pane().subject()); no == "" {
			commands = append(commands, command)
		} else {
			why = no
		}
	}
	t.Cursor = at
	if len(commands) > 0 {
		why = ""
	}
	return commands, why
}

func (m *model) whyNotFail() string {
	if why := m.whyBusy(); why != "" {
		return why
	}
	_, why := m.failCommands()
	return why
}

func (m *model) fail() tea.Cmd {
	commands, _ := m.failCommands()
	m.pane().base().Marks = nil
	return m.say(strings.Join(commands, "; "), true)
}

// undoCommand takes back the failure of what is selected, or else the last one.
func (m *model) undoCommand() (command, why string) {
	if command, why = m.sc.restore(m.pane().subject()); why == "" {
		return command, ""
	}
	st := &m.sc.st
	if st.Base == nil || len(st.Failures) == 0 {
		return "", "nothing has failed on paper"
	}
	last := &st.Failures[len(st.Failures)-1]
	f := st.Base.Fabric
	if len(last.Links) == 1 && last.What == "link" {
		p := last.Links[0].A
		return fmt.Sprintf("restore link %s %d", nodeWord(f, f.Ports[p].Node), f.Ports[p].Num), ""
	}
	for node := range f.Nodes {
		if (last.What == "switch" || last.What == "node") && last.InvolvesNode(fabric.NodeIndex(node)) {
			return fmt.Sprintf("restore %s %s", last.What, nodeWord(f, fabric.NodeIndex(node))), ""
		}
	}
	return "undo", ""
}

func (m *model) whyNotUndo() string {
	if why := m.whyBusy(); why != "" {
		return why
	}
	_, why := m.undoCommand()
	return why
}

func (m *model) undo() tea.Cmd {
	command, _ := m.undoCommand()
	return m.say(command, true)
}
