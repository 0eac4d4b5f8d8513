// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const maxHistory = 500 // commands that can be recalled

// typedLines holds the typed commands.
type typedLines struct {
	lines []string
	at    int    // the one that is shown; len(lines): none
	draft string // the line before the first recall
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

// recall moves by a number of commands.
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

// completion holds the candidates for a word. One of them may already be in the line.
type completion struct {
	start          int
	candidates     []lang.Candidate
	chosen         int // -1: none yet
	window         draw.Window
	usage, summary string // of the typed command
	automatic      bool   // shown without Tab
}

// prompt is the input line below the panes, for commands, filters and answers.
type prompt struct {
	m        *model
	typed    *typed      // nil for none
	comp     *completion // nil for none
	history  typedLines
	lastFile string // the last file that was written or read
	searched string // the last filter that was typed
}

// open opens the input line. The argument hints contains pairs of a key and its description for the footer.
func (in *prompt) open(text, label string, key func(tea.KeyMsg) tea.Cmd, hints ...any) {
	in.typed = newTyped(text)
	in.typed.label, in.typed.key, in.typed.hints = label, key, in.m.view.keyed(hints...)
}

func (in *prompt) openCommand(text string) tea.Cmd {
	in.comp, in.history.at = nil, len(in.history.lines)
	in.open(text, ":", in.commandKey, tea.KeyEnter, "run", tea.KeyTab, "complete", tea.KeyUp, "recall",
		tea.KeyEsc, "cancel")
	in.suggest()
	return nil
}

const maxSuggestions = 6 // candidates shown while a command is typed

// suggest shows how the line can continue.
func (in *prompt) suggest() {
	in.comp = nil
	if strings.TrimSpace(in.typed.Value()) == "" {
		return
	}
	c := &completion{chosen: -1, automatic: true}
	c.start, c.candidates = in.candidates()
	c.usage, c.summary = in.m.back.Hint(in.typed.before())
	if len(c.candidates) == 1 && c.candidates[0].Text == in.typed.before()[c.start:] {
		c.candidates = nil
	}
	if len(c.candidates) == 0 && c.usage == "" && c.summary == "" {
		return
	}
	c.window.Resize(len(c.candidates), min(len(c.candidates), max(in.m.body().H/3, 1), maxSuggestions))
	in.comp = c
}

func (in *prompt) commandKey(k tea.KeyMsg) tea.Cmd {
	switch k.Type {
	case tea.KeyTab:
		in.complete(1)
		return nil
	case tea.KeyShiftTab:
		in.complete(-1)
		return nil
	case tea.KeyEsc:
		if in.comp == nil || in.comp.automatic {
			in.typed = nil
		}
		in.comp = nil
		return nil
	}
	in.comp = nil
	switch k.Type {
	case tea.KeyEnter:
		return in.submit()
	case tea.KeyUp, tea.KeyCtrlP:
		in.remember(-1)
	case tea.KeyDown, tea.KeyCtrlN:
		in.remember(1)
	case tea.KeyBackspace:
		if in.typed.Value() == "" {
			in.typed = nil
			return nil
		}
		in.edit(k)
	default:
		in.edit(k)
		if text := in.typed.Value(); strings.HasPrefix(text, ":") { // typed as if no line was open yet
			in.typed.set(strings.TrimLeft(text, ":"))
		}
	}
	in.suggest()
	return nil
}

func (in *prompt) remember(by int) {
	if line, ok := in.history.recall(by, in.typed.Value()); ok {
		in.typed.set(line)
	}
}

func (in *prompt) submit() tea.Cmd {
	text := strings.TrimSpace(in.typed.Value())
	in.typed = nil
	if text == "" {
		return nil
	}
	in.history.add(text)
	if cmd, typed := in.sourceTyped(text); typed {
		return cmd
	}
	if cmd, typed := in.atTyped(text); typed {
		return cmd
	}
	if text == "tour" && in.m.tour == nil {
		return toggleTour(in.m)
	}
	if a := in.actionNamed(text); a != nil {
		return in.m.perform(a)
	}
	text = in.m.config.Expand(text)
	if a := in.formOf(text); a != nil {
		return in.m.perform(a)
	}
	if cmd, found := in.findPort(text); found {
		return cmd
	}
	return in.m.jobs.runCommand(text, false)
}

// complete completes the word before the cursor. It first adds the text that all candidates have in common. Then it
// inserts each candidate in turn.
func (in *prompt) complete(by int) {
	if c := in.comp; c != nil && !c.automatic {
		c.chosen = (max(c.chosen, -by) + by + len(c.candidates)) % len(c.candidates)
		c.window.To(c.chosen)
		in.typed.replace(c.start, c.candidates[c.chosen].Text)
		return
	}
	start, all := in.candidates()
	switch len(all) {
	case 0:
		in.m.warn("there is no completion")
		in.suggest()
		return
	case 1:
		text := all[0].Text
		if !strings.HasSuffix(text, "=") && !strings.HasSuffix(text, "/") {
			text += " "
		}
		in.typed.replace(start, text)
		in.suggest()
		return
	}
	if common := commonPrefix(all); len(common) > len(in.typed.before())-start {
		in.typed.replace(start, common)
	}
	in.comp = &completion{start: start, candidates: all, chosen: -1}
	in.comp.usage, in.comp.summary = in.m.back.Hint(in.typed.before())
	in.comp.window.Resize(len(all), min(len(all), max(in.m.body().H-2, 1), 8))
}

// screenWords are commands of the screen.
var screenWords = []lang.Candidate{
	{Text: "shell", Description: "leave the screen for the shell; exit returns"},
	{Text: "tour", Description: "take a tour of a trace, a failure and new routes"},
	{Text: "q", Description: "quit"},
}

// actionNamed returns the action for a word of the screen: shell, q, or a noun that opens a pane. For other texts it
// returns nil.
func (in *prompt) actionNamed(text string) *pane.Action {
	switch text {
	case "shell":
		return in.m.action(text)
	case "q", "q!", "qa":
		return in.m.action("quit")
	}
	for _, k := range in.m.layout.keys {
		if slices.Contains(nouns(&k), text) {
			return in.m.action(k.Name)
		}
	}
	return nil
}

// nouns returns the words that open a pane: its name in lower case, and others.
func nouns(k *feature.Key) []string {
	return append(strings.Fields(k.Nouns), strings.ToLower(k.Pane))
}

// candidates returns the candidates of the shell, together with the commands of the screen.
func (in *prompt) candidates() (int, []lang.Candidate) {
	start, all := in.m.back.Complete(in.typed.Value(), len(in.typed.before()))
	words := screenWords
	for _, k := range in.m.layout.keys {
		for _, noun := range nouns(&k) {
			words = append(words, lang.Candidate{Text: noun, Description: "pane " + k.Keys + ": " + k.Help})
		}
	}
	for _, alias := range slices.Sorted(maps.Keys(in.m.config.Aliases)) {
		words = append(words, lang.Candidate{Text: alias, Description: in.m.config.Aliases[alias]})
	}
	for _, c := range words {
		word := in.typed.before()
		if word != "" && strings.HasPrefix(c.Text, word) &&
			!slices.ContainsFunc(all, func(x lang.Candidate) bool { return x.Text == c.Text }) {
			all = append(all, c)
		}
	}
	if word := in.typed.before(); len(all) == 0 && len(word) >= shortestSearch && !strings.Contains(word, " ") {
		return 0, in.m.back.Search(word)
	}
	return start, all
}

const shortestSearch = 3 // shortest word that is searched in the summaries of commands

func commonPrefix(all []lang.Candidate) string {
	common := all[0].Text
	for _, c := range all[1:] {
		for !strings.HasPrefix(c.Text, common) {
			common = common[:len(common)-1]
		}
	}
	return strings.ToValidUTF8(common, "")
}

// commanding reports whether the user is typing a command.
func (in *prompt) commanding() bool { return in.typed != nil && in.typed.label == ":" }

// atTyped shows the state at the time of the command ":at TIME", or the changes between the times of ":at TIME TIME".
// It reports whether the text is this command.
func (in *prompt) atTyped(text string) (tea.Cmd, bool) {
	word, said, _ := strings.Cut(text, " ")
	if word != "at" {
		return nil, false
	}
	t, err := when.Parse(strings.TrimSpace(said), in.m.now())
	if from, until, ok := in.twoTimes(said); err != nil && ok {
		return in.m.jobs.runCommand("diff "+lang.Quote(from)+" "+lang.Quote(until), false), true
	}
	if err != nil {
		in.m.warn("at: " + err.Error())
		return nil, true
	}
	return in.m.choice.travel("at "+said+": reading the history", func(ctx context.Context) (*session.Picture, error) {
		return in.m.back.At(ctx, t)
	}), true
}

// twoTimes splits a text into two times.
func (in *prompt) twoTimes(text string) (from, until string, ok bool) {
	words := strings.Fields(text)
	for i := 1; i < len(words); i++ {
		from, until = strings.Join(words[:i], " "), strings.Join(words[i:], " ")
		_, err := when.Parse(from, in.m.now())
		if _, err2 := when.Parse(until, in.m.now()); err == nil && err2 == nil {
			return from, until, true
		}
	}
	return "", "", false
}

// rememberFile stores the file name of a command that read or wrote a file, as a default for forms.
func (in *prompt) rememberFile(text string) {
	stmts, err := lang.Parse("", text)
	if err != nil {
		return
	}
	for _, s := range stmts {
		if (s.Words[0] == "dump" || s.Words[0] == "load") && len(s.Words) > 2 {
			in.lastFile = s.Words[2]
		}
	}
}

// formOf returns the action that opens the form of a guided command. For other commands it returns nil.
func (in *prompt) formOf(text string) *pane.Action {
	what, guided, _ := strings.Cut(text, " ")
	if strings.TrimSpace(guided) != "guided" {
		return nil
	}
	switch what {
	case "dump", "load", "engine":
		return in.m.action(what)
	case "fail":
		return in.m.action("fail-guided")
	}
	return nil
}

// sourceTyped goes to the subnet of the command ":source NAME". It reports whether the text is this command.
func (in *prompt) sourceTyped(text string) (tea.Cmd, bool) {
	words := strings.Fields(text)
	if in.m.screens == nil || len(words) != 2 || words[0] != "source" {
		return nil, false
	}
	at, err := in.m.screens.subnets.Find(words[1])
	if err != nil {
		in.m.warn(fmt.Sprintf("source: %v", err))
		return nil, true
	}
	return func() tea.Msg { return enterMsg{at: at} }, true
}

// popup draws the candidates in lines of w cells.
func (v *view) popup(w int) []string {
	c := v.m.prompt.comp
	t := v.m.Look
	var lines []string
	line := func(st draw.Style, text, more string) {
		p := draw.NewPen(t, w)
		p.Gap(1)
		p.Put(st, text)
		p.Gap(2)
		p.Put(t.Dim, more)
		lines = append(lines, p.Done())
	}
	if c.usage != "" || c.summary != "" {
		line(t.Info, c.usage, c.summary)
	}
	switch n := len(c.candidates); {
	case n == 0:
		return lines
	case c.automatic:
		line(t.Dim, prose.Count(n, "candidate")+": Tab completes", "")
	default:
		line(t.Dim, prose.Count(n, "candidate")+": Tab takes the next, Enter runs", "")
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
