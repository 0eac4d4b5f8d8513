// SPDX-License-Identifier: Apache-2.0

package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// key sends a key to where it belongs.
func (m *model) key(k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyCtrlC && m.mode != modeAsk {
		return m.interrupt()
	}
	switch m.mode {
	case modeCommand:
		return m.commandKey(k)
	case modeFilter:
		return m.filterKey(k)
	case modeExport:
		return m.exportKey(k)
	case modePage:
		return m.pageKey(k)
	case modeAsk:
		return m.askKey(k)
	case modeForm:
		return m.formKey(k)
	case modeHelp:
		return m.helpKey(k)
	}
	if k.Paste {
		m.warn("a paste goes into the command line: press : first")
		return nil
	}
	// Keys that were typed faster than the screen was drawn come as one.
	if k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Alt {
		return m.keys(k.Runes)
	}
	return m.act(k.String())
}

// keys takes several keys one after the other, as far as they are for the panes.
func (m *model) keys(runes []rune) tea.Cmd {
	var cmds []tea.Cmd
	for i, r := range runes {
		if m.mode != modeKeys {
			cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: runes[i:]}))
			break
		}
		cmds = append(cmds, m.act(string(r)))
	}
	return tea.Batch(cmds...)
}

// act does what a key stands for, or says why it cannot.
func (m *model) act(key string) tea.Cmd {
	m.untouched = false
	a := m.byKey[key]
	if a == nil {
		m.warn(draw.Clean(key, m.theme.Ascii) + " is no key: ? lists them")
		return nil
	}
	return m.perform(a)
}

func (m *model) perform(a *pane.Action) tea.Cmd {
	if a.Name != "quit" {
		m.quitting = false
	}
	if why := m.reason(a); why != "" {
		m.warn(keyWord(&m.theme.Glyphs, a) + ": " + why)
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

// sideStep is how many cells, or columns of a map, a key moves.
const sideStep = 8

func (m *model) sideways(by int) tea.Cmd {
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
	m.mode = modeFilter
	m.edit.set("")
	return nil
}

func (m *model) filterKey(k tea.KeyMsg) tea.Cmd {
	p := m.pane().Base()
	switch k.Type {
	case tea.KeyEnter:
		m.mode = modeKeys
		if m.edit.String() == "" {
			m.setFilter("")
		}
	case tea.KeyEsc:
		m.mode = modeKeys
		m.setFilter("")
	case tea.KeyUp:
		m.moveTo(p.Cursor - 1)
	case tea.KeyDown:
		m.moveTo(p.Cursor + 1)
	case tea.KeyPgUp, tea.KeyPgDown:
		return m.act(k.String())
	default:
		if m.edit.key(k) && m.edit.String() != p.Filt.Text {
			m.setFilter(m.edit.String())
		}
	}
	return nil
}

func (m *model) setFilter(text string) {
	f, err := draw.ParseFilter(text)
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
	case m.leave >= 0 && m.on(pane.SeatLog):
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
	switch {
	case m.mode != modeKeys:
		m.closeForm()
		m.mode, m.comp, m.page = modeKeys, nil, nil
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
	return tea.Quit
}
