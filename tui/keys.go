// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// key sends a key to where it belongs.
func (m *model) key(k tea.KeyMsg) tea.Cmd {
	switch {
	case k.Type == tea.KeyCtrlC && m.question == nil:
		return m.interrupt()
	case m.over != nil:
		return m.over.Key(k)
	case m.typed != nil:
		return m.typed.key(k)
	case k.Paste:
		m.warn("a paste goes into the command line: press : first")
		return nil
	// Keys that were typed faster than the screen was drawn come as one.
	case k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Alt:
		return m.keys(k.Runes)
	}
	return m.act(k)
}

// keys takes several keys one after the other, as far as they are for the panes.
func (m *model) keys(runes []rune) tea.Cmd {
	var cmds []tea.Cmd
	for i, r := range runes {
		if m.over != nil || m.typed != nil {
			cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: runes[i:]}))
			break
		}
		cmds = append(cmds, m.act(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(cmds...)
}

// act does what a key stands for, or says why it cannot.
func (m *model) act(k tea.KeyMsg) tea.Cmd {
	m.untouched = false
	name := k.String()
	for i := range m.actions {
		if slices.Contains(m.actions[i].Keys(), name) { // key.Matches would spell the key for each
			return m.perform(&m.actions[i])
		}
	}
	m.warn(draw.Clean(name, m.Look.ASCII) + " is no key: ? lists them")
	return nil
}

func (m *model) perform(a *pane.Action) tea.Cmd {
	if a.Name != "quit" {
		m.quitting = false
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

const sideStep = 8 // how many cells, or columns of a map, a key moves

func (m *model) sideways(by int) tea.Cmd {
	if s, ok := m.pane().(pane.Stepper); ok {
		return m.heed(s.Step(by))
	}
	m.pane().(pane.Mover).Sideways(by * sideStep)
	return nil
}

func (m *model) whyNotFilter() string {
	if t := m.pane().Base(); t.N == 0 && t.Filt.Empty() {
		return "there are no rows"
	}
	return ""
}

func (m *model) openFilter() tea.Cmd {
	m.typed = newTyped("")
	m.typed.label, m.typed.key, m.typed.note = func() string { return "/" }, m.filterKey, true
	m.typed.hints = append([]hint{{"text /regexp ~letters @set !not", "", nil}}, m.keyed(tea.KeyEnter, "keep", tea.KeyUp, "move", tea.KeyEsc, "show all")...)
	return nil
}

func (m *model) filterKey(k tea.KeyMsg) tea.Cmd {
	p := m.pane().Base()
	switch k.Type {
	case tea.KeyEnter:
		text := m.typed.Value()
		m.typed = nil
		if text == "" {
			m.setFilter("")
		}
		if p.N == 0 || m.on(pane.SeatHome) {
			cmd, _ := m.findPort(text)
			return cmd
		}
	case tea.KeyTab:
		m.takeNear()
	case tea.KeyEsc:
		m.typed = nil
		m.setFilter("")
	case tea.KeyUp:
		m.moveTo(p.Cursor - 1)
	case tea.KeyDown:
		m.moveTo(p.Cursor + 1)
	case tea.KeyPgUp, tea.KeyPgDown:
		return m.act(k)
	default:
		if m.edit(k); m.typed.Value() != p.Filt.Text {
			m.typed.near = ""
			m.setFilter(m.typed.Value())
			return m.seekNear()
		}
	}
	return nil
}

func (m *model) setFilter(text string) {
	f, err := m.parseFilter(text)
	if err != nil {
		m.inform(err.Error())
		return
	}
	m.inform("")
	m.pane().Base().Filt = f
	m.pane().Renew()
	m.follow()
	m.fit()
}

func (m *model) whyNoEscape() string {
	act, _ := m.pane().Escape(true)
	if m.pane().Base().Filt.Empty() && m.leave < 0 && len(m.jobs) == 0 && act == nil {
		return "there is nothing to leave or cancel"
	}
	return ""
}

func (m *model) escape() tea.Cmd {
	act, _ := m.pane().Escape(len(m.jobs) == 0)
	switch {
	case !m.pane().Base().Filt.Empty():
		m.setFilter("")
	case m.leave >= 0:
		m.setFocus(m.leave)
	case act != nil:
		return m.heed(act())
	default:
		m.cancel()
	}
	return nil
}

// interrupt is Ctrl-C: it leaves what is being typed, cancels what runs, or quits.
func (m *model) interrupt() tea.Cmd {
	if p, ok := m.over.(*writePage); ok && p.end == nil {
		m.cancel()
		return nil
	}
	switch {
	case m.over != nil || m.typed != nil:
		m.cover(nil)
		m.typed, m.comp = nil, nil
	case len(m.jobs) > 0:
		m.cancel()
	default:
		return tea.Quit
	}
	return nil
}

// cancel ends the command that was begun last.
func (m *model) cancel() {
	if len(m.jobs) == 0 {
		return
	}
	j := m.jobs[len(m.jobs)-1]
	j.cancel()
	m.inform("cancelling " + j.text)
}

func (m *model) quit() tea.Cmd {
	if len(m.jobs) > 0 && !m.quitting {
		m.quitting = true
		m.warn(m.jobs[len(m.jobs)-1].text + " is running: q again cancels it and quits")
		return nil
	}
	if m.beside != nil && m.beside.running(m) != "" && !m.quitting {
		m.quitting = true
		m.warn(m.beside.running(m) + " is running: q again cancels it and quits")
		return nil
	}
	return tea.Quit
}
