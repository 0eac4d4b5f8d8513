// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/tui/draw"
)

// chosenNodes are those that the marked rows are about; without marks those of all rows that the filter lets through,
// or that of the selected one.
func chosenNodes(m *model) (f *fabric.Fabric, nodes []fabric.NodeIndex) {
	t := m.pane().Base()
	t.WorkAll()
	lines := t.Chosen()
	if len(t.Marks) == 0 && !t.Filt.Empty() {
		lines = lines[:0]
		for line := range t.N {
			lines = append(lines, line)
		}
	}
	at := t.Cursor
	seen := map[fabric.NodeIndex]bool{}
	for _, line := range lines {
		t.Cursor = line
		s := m.pane().Subject()
		node := s.Node
		if node == fabric.None && s.Fabric != nil && s.Port != fabric.None {
			node = s.Fabric.Ports[s.Port].Node
		}
		if node != fabric.None && !seen[node] {
			f, seen[node] = s.Fabric, true
			nodes = append(nodes, node)
		}
	}
	t.Cursor = at
	return f, nodes
}

func whyNoSet(m *model) string {
	if m.pane().Base().N == 0 {
		return "there are no rows"
	}
	if m.sc.Why != "" {
		return m.sc.Why
	}
	return m.jobs.whyBusy()
}

// nameHosts asks for the name of a set of the chosen hosts, and makes it.
func nameHosts(m *model) tea.Cmd {
	f, nodes := chosenNodes(m)
	if len(nodes) == 0 {
		m.warn("H: no row is about a host or a switch")
		return nil
	}
	words := feature.HostWords(f, nodes)
	m.prompt.typed = newTyped("")
	m.prompt.typed.label = func() string { return fmt.Sprintf("name for %s: ", draw.Count(len(nodes), "node")) }
	m.prompt.typed.hints = m.view.keyed(tea.KeyEnter, "give it", tea.KeyEsc, "leave")
	m.prompt.typed.key = func(k tea.KeyMsg) tea.Cmd {
		switch k.Type {
		case tea.KeyEnter:
			name := strings.TrimSpace(m.prompt.typed.Value())
			m.prompt.typed = nil
			if name == "" {
				return nil
			}
			m.pane().Base().Marks = nil
			return m.jobs.say("hosts "+name+" "+words, true)
		case tea.KeyEsc:
			m.prompt.typed = nil
		default:
			m.prompt.edit(k)
		}
		return nil
	}
	return nil
}
