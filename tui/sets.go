// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// parseFilter is [draw.ParseFilter]; @NAME is for the hosts of a set, and NODE/PORT for a port where ports have no rows yet.
func (m *model) parseFilter(text string) (draw.Filter, error) {
	if node, _ := m.portNamed(text); node != fabric.None && m.on(pane.SeatHome) {
		return draw.OneOf(text, []string{m.sc.Top.Fabric.NodeName(node)}), nil
	}
	name, isSet := strings.CutPrefix(text, "@")
	if !isSet {
		return draw.ParseFilter(text)
	}
	st := &m.sc.State
	set := st.Sets.Named(name)
	if set == nil {
		names := prose.Words(st.Sets, func(s session.HostSet) string { return "@" + s.Name })
		if len(names) == 0 {
			return draw.Filter{}, fmt.Errorf("hosts have no names yet: H gives the marked ones one")
		}
		return draw.Filter{}, fmt.Errorf("sets: %s", strings.Join(names, " "))
	}
	f := m.sc.Top.Fabric
	ends, _, _ := set.In(f)
	return draw.OneOf(text, prose.Words(ends, func(e fabric.PortIndex) string { return f.NodeName(f.Ports[e].Node) })), nil
}

// chosenNodes are those that the marked rows are about; without marks those of all rows that the filter lets through, or
// that of the selected one.
func (m *model) chosenNodes() (f *fabric.Fabric, nodes []fabric.NodeIndex) {
	t := m.pane().Base()
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

func (m *model) whyNoSet() string {
	if m.pane().Base().N == 0 {
		return "there are no rows"
	}
	if m.sc.Why != "" {
		return m.sc.Why
	}
	return m.whyBusy()
}

// nameHosts asks for the name of a set of the chosen hosts, and makes it.
func (m *model) nameHosts() tea.Cmd {
	f, nodes := m.chosenNodes()
	if len(nodes) == 0 {
		m.warn("H: no row is about a host or a switch")
		return nil
	}
	words := feature.HostWords(f, nodes)
	m.typed = newTyped("")
	m.typed.label = func() string { return fmt.Sprintf("name for %s: ", draw.Count(len(nodes), "node")) }
	m.typed.hints = m.keyed(tea.KeyEnter, "give it", tea.KeyEsc, "leave")
	m.typed.key = func(k tea.KeyMsg) tea.Cmd {
		switch k.Type {
		case tea.KeyEnter:
			name := strings.TrimSpace(m.typed.Value())
			m.typed = nil
			if name == "" {
				return nil
			}
			m.pane().Base().Marks = nil
			return m.say("hosts "+name+" "+words, true)
		case tea.KeyEsc:
			m.typed = nil
		default:
			m.edit(k)
		}
		return nil
	}
	return nil
}
