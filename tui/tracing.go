// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
)

func (m *model) whyNoEnd() string {
	if m.pane().subject().node == fabric.None {
		return "no switch or host is selected"
	}
	return ""
}

// mark makes what is selected the source (0) or the destination (1) of the trace.
func (m *model) mark(which int) tea.Cmd {
	s := m.pane().subject()
	var port fabric.PortIndex = fabric.None
	if !s.f.Nodes[s.node].IsSwitch() {
		port = s.port
	}
	m.trace.mark(which, placeOf(s.f, s.node, port), 0)
	return m.traced()
}

// traced shows the trace between the marked ends, and says the command for it
// where there are both.
func (m *model) traced() tea.Cmd {
	m.retrace()
	if !m.trace.ok {
		m.inform(m.trace.why)
		return nil
	}
	m.trace.To(m.trace.firstBetween())
	cmd := m.jump(func() tea.Cmd {
		m.setFocus(paneTrace)
		return nil
	})
	return tea.Batch(cmd, m.say(m.traceCommand(), true))
}

func (m *model) traceCommand() string {
	f := m.sc.pic.Fabric
	return fmt.Sprintf("trace %s %s%s", portWord(f, m.trace.ends[0].endPort(f)), portWord(f, m.trace.ends[1].endPort(f)), m.sc.ofWord())
}

// retrace follows the path anew and marks it in the topology.
func (m *model) retrace() {
	if m.of != m.sc.of {
		m.refresh()
	}
	m.trace.show(m.sc)
	m.trace.To(0)
	m.tree.ends, m.tree.path = m.trace.ends, m.trace.nodes()
	m.spread()
}

func (m *model) whyNoTrace() string {
	if m.trace.ends[0].none() || m.trace.ends[1].none() {
		return "there is no trace: t and T mark its ends"
	}
	return ""
}

func (m *model) exchange() tea.Cmd {
	e := m.trace.ends
	m.trace.mark(0, e[1], 0)
	m.trace.mark(1, e[0], 0)
	return m.traced()
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
