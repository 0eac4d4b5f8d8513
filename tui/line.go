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
	start          int
	candidates     []lang.Candidate
	chosen         int // -1: none yet
	window         draw.Window
	usage, summary string // of the command that is being typed
	seen           bool   // says that it came by itself, not by Tab
}

func (m *model) openCommand(text string) tea.Cmd {
	m.comp, m.history.at = nil, len(m.history.lines)
	m.typed = newTyped(text)
	m.typed.label, m.typed.key = func() string { return ":" }, m.commandKey
	m.typed.hints = m.keyed(tea.KeyEnter, "run", tea.KeyTab, "complete", tea.KeyUp, "recall", tea.KeyEsc, "leave")
	m.foresee()
	return nil
}

const foreseen = 6 // how many candidates are shown while a command is typed

// foresee shows how what is being typed can go on.
func (m *model) foresee() {
	m.comp = nil
	if strings.TrimSpace(m.typed.Value()) == "" {
		return
	}
	c := &completion{chosen: -1, seen: true}
	c.start, c.candidates = m.candidates()
	c.usage, c.summary = m.back.Hint(m.typed.before())
	if len(c.candidates) == 1 && c.candidates[0].Text == m.typed.before()[c.start:] {
		c.candidates = nil
	}
	if len(c.candidates) == 0 && c.usage == "" && c.summary == "" {
		return
	}
	c.window.Resize(len(c.candidates), min(len(c.candidates), max(m.body().H/3, 1), foreseen))
	m.comp = c
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
		if m.comp == nil || m.comp.seen {
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
		m.edit(k)
	default:
		m.edit(k)
		if text := m.typed.Value(); strings.HasPrefix(text, ":") { // somebody who thinks that no line was open yet
			m.typed.set(strings.TrimLeft(text, ":"))
		}
	}
	m.foresee()
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
	if cmd, typed := m.sourceTyped(text); typed {
		return cmd
	}
	if cmd, typed := m.atTyped(text); typed {
		return cmd
	}
	if text == "tour" && m.tour == nil {
		return m.toggleTour()
	}
	if text == "shell" {
		return m.perform(m.action("shell"))
	}
	if a := m.formOf(text); a != nil {
		return m.perform(a)
	}
	if cmd, found := m.findPort(text); found {
		return cmd
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
	if c := m.comp; c != nil && !c.seen {
		c.chosen = (max(c.chosen, -by) + by + len(c.candidates)) % len(c.candidates)
		c.window.To(c.chosen)
		m.typed.replace(c.start, c.candidates[c.chosen].Text)
		return
	}
	start, all := m.candidates()
	switch len(all) {
	case 0:
		m.warn("nothing completes this")
		m.foresee()
		return
	case 1:
		text := all[0].Text
		if !strings.HasSuffix(text, "=") && !strings.HasSuffix(text, "/") {
			text += " "
		}
		m.typed.replace(start, text)
		m.foresee()
		return
	}
	if common := commonPrefix(all); len(common) > len(m.typed.before())-start {
		m.typed.replace(start, common)
	}
	m.comp = &completion{start: start, candidates: all, chosen: -1}
	m.comp.usage, m.comp.summary = m.back.Hint(m.typed.before())
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
	if word := m.typed.before(); len(all) == 0 && len(word) >= searched && !strings.Contains(word, " ") {
		return 0, m.back.Search(word)
	}
	return start, all
}

const searched = 3 // letters of a word that is no command, from which on commands are found by what they do

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
	say := func(st draw.Style, text, more string) {
		p := draw.NewPen(t, w)
		p.Gap(1)
		p.Put(st, text)
		p.Gap(2)
		p.Put(t.Dim, more)
		lines = append(lines, p.Done())
	}
	if c.usage != "" || c.summary != "" {
		say(t.Info, c.usage, c.summary)
	}
	switch n := len(c.candidates); {
	case n == 0:
		return lines
	case c.seen:
		say(t.Dim, draw.Count(n, "candidate")+": Tab completes", "")
	default:
		say(t.Dim, draw.Count(n, "candidate")+": Tab takes the next, Enter runs", "")
	}
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
