// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/form"
	"example.org/ibconsole/tui/page"
	"example.org/ibconsole/tui/pane"
)

// pages opens and closes overlays: text pages, the list of keys, and forms.
type pages struct {
	m    *model
	over overlay // nil for none
}

func (pg *pages) openPage(p *page.Page) {
	p.Leave = pg.closePage
	p.Fit(pg.m.body())
	pg.cover(p)
}

func (pg *pages) closePage() tea.Cmd {
	pg.cover(nil)
	return nil
}

// onPage reports whether a page is shown.
func (pg *pages) onPage() bool {
	switch pg.over.(type) {
	case *page.Page, *commitPage, *writePage, *welcomePage:
		return true
	}
	return false
}

// cover replaces the overlay, nil for none.
func (pg *pages) cover(o overlay) {
	if pg.over != nil {
		pg.over.Close()
	}
	pg.over = o
}

// overlay covers the panes and handles all keys.
type overlay interface {
	Key(k tea.KeyMsg) tea.Cmd
	Frame(body draw.Rect) []string
	// Click handles a click on a line. Lines are counted from 0, below the border.
	Click(line int) tea.Cmd
	Wheel(by int) tea.Cmd
	// Close is called when the overlay is left.
	Close()
}

// openForm returns the function of an action that opens a form.
func openForm(what string) func(m *model) tea.Cmd {
	return func(m *model) tea.Cmd {
		f := form.Open(m.Common, m.back, what)
		f.Prefill, f.Body, f.Shown = prefill(m, what), m.body, m.choice.old
		f.Leave = func(msg tea.Msg) tea.Cmd {
			m.prompt.lastFile = cmp.Or(f.File, m.prompt.lastFile)
			m.pages.cover(nil)
			return m.handle(msg)
		}
		m.pages.cover(f)
		return f.Begin()
	}
}

// questioned passes the next question to its form.
func (pg *pages) questioned(msg form.Msg) tea.Cmd {
	pg.m.Common.Running--
	if f, ok := pg.over.(*form.Form); ok && msg.Of(f) {
		return f.Update(msg)
	}
	return nil
}

// prefill returns the answers of a form that follow from the selected object, or from an earlier command.
func prefill(m *model, what string) map[string]string {
	out := map[string]string{}
	switch what {
	case "dump", "load":
		if m.prompt.lastFile != "" {
			out["file"] = m.prompt.lastFile
		}
	case "fail":
		prefillFailure(m, out)
	}
	return out
}

func prefillFailure(m *model, out map[string]string) {
	s := m.pane().Subject()
	if s.Node == fabric.None {
		return
	}
	f := m.sc.State.Paper()
	if s.Link != fabric.None {
		node, port := pane.PlaceOf(s.Fabric, s.Fabric.Ports[s.Link].Node, s.Link).In(f)
		if port != fabric.None && f.Ports[port].Linked() {
			out["what"], out["name"], out["port"] = "link", places.NodeRef(f, node),
				strconv.Itoa(int(f.Ports[port].Num))
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
