// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const maxHistory = 500 // how many commands can be recalled

// typedLines holds the commands that were typed.
type typedLines struct {
	lines []string
	at    int    // which is shown; len(lines): none
	draft string // what was typed before the first was recalled
}

func (h *typedLines) add(line string) {
	if n := len(h.lines); n == 0 || h.lines[n-1] != line {
		h.lines = append(h.lines, line)
	}
	if extra := len(h.lines) - maxHistory; extra > 0 {
		h.lines = h.lines[extra:]
	}
	h.at = len(h.lines)
}

// recall moves by so many commands.
func (h *typedLines) recall(by int, now string) (string, bool) {
	to := h.at + by
	if to < 0 || to > len(h.lines) {
		return "", false
	}
	if h.at == len(h.lines) {
		h.draft = now
	}
	h.at = to
	if to == len(h.lines) {
		return h.draft, true
	}
	return h.lines[to], true
}

// completion is the candidates for a word, one of which may be in the line.
type completion struct {
	start      int
	candidates []lang.Candidate
	chosen     int // -1: none yet
	window     draw.Window
}

func (m *model) openCommand(text string) tea.Cmd {
	m.comp, m.history.at = nil, len(m.history.lines)
	m.typed = newTyped(text)
	m.typed.label, m.typed.key = func() string { return ":" }, m.commandKey
	m.typed.hints = m.keyed(tea.KeyEnter, "run", tea.KeyTab, "complete", tea.KeyUp, "recall", tea.KeyEsc, "leave")
	return nil
}

func (m *model) commandKey(k tea.KeyMsg) tea.Cmd {
	switch k.Type {
	case tea.KeyTab:
		m.complete(1)
		return nil
	case tea.KeyShiftTab:
		m.complete(-1)
		return nil
	case tea.KeyEsc:
		if m.comp == nil {
			m.typed = nil
		}
		m.comp = nil
		return nil
	}
	m.comp = nil
	switch k.Type {
	case tea.KeyEnter:
		return m.submit()
	case tea.KeyUp, tea.KeyCtrlP:
		m.remember(-1)
	case tea.KeyDown, tea.KeyCtrlN:
		m.remember(1)
	case tea.KeyBackspace:
		if m.typed.Value() == "" {
			m.typed = nil
			return nil
		}
		m.typed.edit(k)
	default:
		m.typed.edit(k)
	}
	return nil
}

func (m *model) remember(by int) {
	if line, ok := m.history.recall(by, m.typed.Value()); ok {
		m.typed.set(line)
	}
}

func (m *model) submit() tea.Cmd {
	text := strings.TrimSpace(m.typed.Value())
	m.typed = nil
	if text == "" {
		return nil
	}
	m.history.add(text)
	if text == "tour" && m.tour == nil {
		return m.toggleTour()
	}
	if text == "shell" {
		return m.perform(m.action("shell"))
	}
	if a := m.formOf(text); a != nil {
		return m.perform(a)
	}
	return m.say(text, false)
}

// formOf is the key that opens the form of a guided command, nil for other commands.
func (m *model) formOf(text string) *pane.Action {
	what, guided, _ := strings.Cut(text, " ")
	if strings.TrimSpace(guided) != "guided" {
		return nil
	}
	switch what {
	case "dump", "load", "engine":
		return m.action(what)
	case "fail":
		return m.action("fail-guided")
	}
	return nil
}

// complete goes on with the word before the cursor: as far as all candidates agree, then from one to the next.
func (m *model) complete(by int) {
	if c := m.comp; c != nil {
		c.chosen = (max(c.chosen, -by) + by + len(c.candidates)) % len(c.candidates)
		c.window.To(c.chosen)
		m.typed.replace(c.start, c.candidates[c.chosen].Text)
		return
	}
	start, all := m.candidates()
	switch len(all) {
	case 0:
		m.warn("nothing completes this")
		return
	case 1:
		text := all[0].Text
		if !strings.HasSuffix(text, "=") && !strings.HasSuffix(text, "/") {
			text += " "
		}
		m.typed.replace(start, text)
		return
	}
	if common := commonPrefix(all); len(common) > len(m.typed.before())-start {
		m.typed.replace(start, common)
	}
	m.comp = &completion{start: start, candidates: all, chosen: -1}
	m.comp.window.Resize(len(all), min(len(all), max(m.body().H-2, 1), 8))
}

// screenWords are commands that only the screen knows.
var screenWords = []lang.Candidate{
	{Text: "shell", Description: "leave the screen for the shell; exit comes back"},
	{Text: "tour", Description: "walk through a trace, a failure, routes around it and back"},
}

// candidates are those of the shell, and the words that only the screen knows.
func (m *model) candidates() (int, []lang.Candidate) {
	start, all := m.back.Complete(m.typed.Value(), len(m.typed.before()))
	for _, c := range screenWords {
		if word := m.typed.before(); word != "" && strings.HasPrefix(c.Text, word) {
			all = append(all, c)
		}
	}
	return start, all
}

func commonPrefix(all []lang.Candidate) string {
	common := all[0].Text
	for _, c := range all[1:] {
		for !strings.HasPrefix(c.Text, common) {
			common = common[:len(common)-1]
		}
	}
	return strings.ToValidUTF8(common, "")
}

// popup draws the candidates in lines of w cells.
func (m *model) popup(w int) []string {
	c := m.comp
	t := m.Look
	var lines []string
	head := draw.NewPen(t, w)
	head.Gap(1)
	head.Put(t.Dim, draw.Count(len(c.candidates), "candidate")+": Tab takes the next, Enter runs")
	lines = append(lines, head.Done())
	name := 12
	for _, x := range c.candidates {
		name = max(name, min(draw.Width(draw.Clean(x.Text, t.ASCII)), w/2))
	}
	for i := c.window.Top; i < min(c.window.Top+c.window.Height, len(c.candidates)); i++ {
		p := draw.NewPen(t, w)
		mark := " "
		if i == c.chosen {
			p.Over, mark = t.Cursor, t.Glyphs.Cursor
		}
		p.Put(t.Info, mark+" ")
		p.Cell("", c.candidates[i].Text, name)
		p.Gap(2)
		p.Put(t.Dim, c.candidates[i].Description)
		lines = append(lines, p.Done())
	}
	return lines
}

// commanding reports whether a command is being typed.
func (m *model) commanding() bool { return m.typed != nil && m.typed.label() == ":" }
