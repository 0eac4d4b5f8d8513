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
		if system := m.pane().subject().system; system != "" {
			command, why = "fail director "+system, ""
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

// usesCommand asks whose packets go over what is selected.
func (m *model) usesCommand() (command, why string) {
	s := m.pane().subject()
	f := m.sc.pic.Fabric
	switch {
	case s.node == fabric.None:
		return "", "no link, switch or host is selected"
	case m.sc.why != "":
		return "", m.sc.why
	case len(s.with) > 0:
		return "", "two links are selected, and this is of one: Enter goes to the first"
	}
	if s.link != fabric.None {
		node, port := placeOf(s.f, s.f.Ports[s.link].Node, s.link).in(f)
		if port == fabric.None || !f.Ports[port].Linked() {
			return "", s.f.PortName(s.link) + " has no link in " + string(m.sc.pic.Kind)
		}
		return fmt.Sprintf("who uses %s %d%s", nodeWord(f, node), f.Ports[port].Num, m.sc.ofWord()), ""
	}
	node, _ := placeOf(s.f, s.node, fabric.None).in(f)
	if node == fabric.None {
		return "", s.f.NodeName(s.node) + " is not in " + string(m.sc.pic.Kind)
	}
	return "who uses " + nodeWord(f, node) + m.sc.ofWord(), ""
}

func (m *model) whyNotUses() string {
	_, why := m.usesCommand()
	return why
}

func (m *model) whoUses() tea.Cmd {
	command, _ := m.usesCommand()
	return m.say(command, true)
}
