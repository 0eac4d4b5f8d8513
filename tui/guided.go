// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/form"
	"example.org/ibconsole/tui/pane"
)

// guided is a key that opens a form.
func (m *model) guided(what string) func() tea.Cmd {
	return func() tea.Cmd {
		f := form.Open(m.Common, m.back, what)
		f.Prefill, f.Body = m.prefill(what), m.body
		f.Leave = func(msg tea.Msg) tea.Cmd {
			m.lastFile = cmp.Or(f.File, m.lastFile)
			m.cover(nil)
			return m.heed(msg)
		}
		m.cover(f)
		return f.Begin()
	}
}

// questioned brings a form the question after an answer.
func (m *model) questioned(msg form.Msg) tea.Cmd {
	m.Common.Running--
	if f, ok := m.over.(*form.Form); ok && msg.Of(f) {
		return f.Update(msg)
	}
	return nil
}

// prefill are the answers that what is selected gives.
func (m *model) prefill(what string) map[string]string {
	out := map[string]string{}
	switch what {
	case "dump", "load":
		if m.lastFile != "" {
			out["file"] = m.lastFile
		}
	case "fail":
		m.prefillFailure(out)
	}
	return out
}

func (m *model) prefillFailure(out map[string]string) {
	s := m.pane().Subject()
	if s.Node == fabric.None {
		return
	}
	f := m.sc.State.Paper()
	if s.Link != fabric.None {
		node, port := pane.PlaceOf(s.Fabric, s.Fabric.Ports[s.Link].Node, s.Link).In(f)
		if port != fabric.None && f.Ports[port].Linked() {
			out["what"], out["name"], out["port"] = "link", places.NodeRef(f, node), strconv.Itoa(int(f.Ports[port].Num))
		}
		return
	}
	node, _ := pane.PlaceOf(s.Fabric, s.Node, fabric.None).In(f)
	if node == fabric.None {
		return
	}
	out["what"], out["name"] = "node", places.NodeRef(f, node)
	if f.Nodes[node].IsSwitch() {
		out["what"] = "switch"
	}
}

// learnFile keeps the file of a command that read or wrote one.
func (m *model) learnFile(text string) {
	stmts, err := lang.Parse("", text)
	if err != nil {
		return
	}
	for _, s := range stmts {
		if (s.Words[0] == "dump" || s.Words[0] == "load") && len(s.Words) > 2 {
			m.lastFile = s.Words[2]
		}
	}
}
