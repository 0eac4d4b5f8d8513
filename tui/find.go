// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// portNamed is the port that NODE/PORT names in the topology, fabric.None where a text is nothing of that kind.
func (m *model) portNamed(text string) (fabric.NodeIndex, fabric.PortIndex) {
	if strings.LastIndexByte(text, '/') <= 0 {
		return fabric.None, fabric.None
	}
	at, err := places.Resolve(m.sc.Top.Fabric, strings.Trim(text, `'"`))
	if err != nil || !at.PortNamed {
		return fabric.None, fabric.None
	}
	return at.Node, at.Port
}

// findPort goes to the port that NODE/PORT names, and reports whether there is one.
func (m *model) findPort(text string) (tea.Cmd, bool) {
	node, port := m.portNamed(text)
	if port == fabric.None {
		return nil, false
	}
	f := m.sc.Top.Fabric
	return m.jump(func() tea.Cmd {
		m.setFilter("")
		m.setFocus(m.at(pane.SeatHome))
		m.setFilter("")
		cmd := m.heed(pane.GoTo{At: pane.PlaceOf(f, node, port)})
		m.inform(f.PortName(port))
		return cmd
	}), true
}

// nearMsg brings names near to one that no row has.
type nearMsg struct {
	text  string
	names []string
}

// seekNear looks, beside the screen, for names near to what the filter lets nothing through for.
func (m *model) seekNear() tea.Cmd {
	t := m.pane().Base()
	text, f := t.Filt.Text, m.sc.Top.Fabric
	if t.N > 0 || !t.Filt.Plain() {
		return nil
	}
	m.Common.Running++
	return func() tea.Msg { return nearMsg{text, places.Near(f, text)} }
}

// near offers the nearest name.
func (m *model) near(msg nearMsg) {
	m.Common.Running--
	if m.typed == nil || m.typed.Value() != msg.text || m.pane().Base().Filt.Text != msg.text || len(msg.names) == 0 {
		return
	}
	m.typed.near = msg.names[0]
	m.inform(fmt.Sprintf("did you mean %s? Tab takes it", draw.Clean(msg.names[0], m.Look.ASCII)))
}

// takeNear types the name that was offered.
func (m *model) takeNear() {
	if m.typed.near == "" {
		m.warn("nothing completes this")
		return
	}
	m.typed.set(m.typed.near)
	m.setFilter(m.typed.near)
}
