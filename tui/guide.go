// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/settings"
)

// guide asks over the panes, question by question, what a command needs, and runs it.
// What it asks is a [shell.Flow], which the shell's guided commands ask too.
type guide struct {
	what   string // "dump", "load", "engine" or "fail"
	ctx    context.Context
	cancel context.CancelFunc
	// prefill are answers to begin from, by the name of the question.
	prefill map[string]string

	flow  *shell.Flow
	said  []string // all answers, in their order
	q     *shell.Question
	field *field
	size  [2]int // of field
	above int    // how many lines stand above it
	// summary says what was answered, command what will be run, "" before the last
	// question.
	summary, command string
	waiting          bool
	err              string
	// ahead are keys that were typed while the next question was looked for.
	ahead []tea.KeyMsg
}

// formMsg brings the question after an answer.
type formMsg struct {
	form *guide
	flow *shell.Flow
	said []string
	// q is nil where all is answered.
	q       *shell.Question
	command string
	err     error
	// refused says that the last answer will not do.
	refused bool
}

// guided is a key that opens a form.
func guided(what string) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { return m.openForm(what) }
}

func (m *model) openForm(what string) tea.Cmd {
	f := &guide{what: what, prefill: m.prefill(what), waiting: true}
	f.ctx, f.cancel = context.WithCancel(m.ctx)
	m.form, m.mode = f, modeForm
	return m.askForm(f, nil)
}

func (m *model) closeForm() {
	if m.form != nil {
		m.form.cancel()
		m.form, m.mode = nil, modeKeys
	}
}

// askForm goes through a flow from its beginning, with answers, to the next question.
func (m *model) askForm(f *guide, said []string) tea.Cmd {
	return m.stepForm(f, func() formMsg {
		flow, err := m.back.Flow(f.ctx, f.what)
		if err != nil {
			return formMsg{err: err}
		}
		for _, text := range said {
			q, err := flow.Next()
			if err != nil || q == nil {
				return formMsg{err: errors.Join(err, f.ctx.Err())}
			}
			if err := flow.Answer(q, text); err != nil {
				return formMsg{err: err}
			}
		}
		return nextQuestion(flow, said)
	})
}

// stepForm does beside the screen what an answer wants: it may read a file.
func (m *model) stepForm(f *guide, work func() formMsg) tea.Cmd {
	f.waiting, f.err = true, ""
	m.errands++
	return func() tea.Msg {
		msg, err := shielded(func() (formMsg, error) { return work(), nil })
		if err != nil {
			msg = formMsg{err: err}
		}
		msg.form = f
		return msg
	}
}

func nextQuestion(flow *shell.Flow, said []string) formMsg {
	q, err := flow.Next()
	msg := formMsg{flow: flow, said: said, q: q, err: err}
	if err != nil {
		return msg
	}
	if q == nil && !flow.Agreed() {
		return msg
	}
	if q == nil || q.Last() {
		msg.command = flow.Command()
	}
	return msg
}

// questioned shows the next question, says why an answer will not do, or runs the
// command.
func (m *model) questioned(msg formMsg) tea.Cmd {
	m.errands--
	f := msg.form
	if f != m.form || m.mode != modeForm {
		return nil
	}
	f.waiting = false
	switch {
	case msg.refused:
		f.err, f.ahead = msg.err.Error(), nil
		return nil
	case msg.err != nil:
		m.closeForm()
		m.warn(f.what + ": " + msg.err.Error())
		return nil
	case msg.q == nil && msg.command == "":
		m.closeForm()
		m.inform("nothing was done")
		return nil
	case msg.q == nil:
		m.closeForm()
		return m.say(msg.command, true)
	}
	f.flow, f.said, f.q, f.command, f.field = msg.flow, msg.said, msg.q, msg.command, nil
	f.summarize()
	m.formFrame(m.body()) // makes the field
	return m.typedAhead(f)
}

// typedAhead takes the keys that were typed before the question was there, unless it is
// the last one: what is run is to be read.
func (m *model) typedAhead(f *guide) tea.Cmd {
	keys := f.ahead
	f.ahead = nil
	if f.q.Last() {
		return nil
	}
	var cmds []tea.Cmd
	for _, k := range keys {
		if m.mode == modeForm {
			cmds = append(cmds, m.formKey(k))
		}
	}
	return tea.Batch(cmds...)
}

// summarize says what was answered: only now does nobody else use the flow.
func (f *guide) summarize() {
	words := []string{}
	for _, name := range f.names() {
		words = append(words, name+" "+f.flow.Given(name))
	}
	f.summary = strings.Join(words, ", ")
}

// names are the questions of all forms, in the order in which they are asked.
func (f *guide) names() []string {
	var out []string
	all := []string{"of", "file", "kind", "what", "name", "port", "links", "seed", "engine"}
	for _, o := range settings.Options {
		all = append(all, o.Name)
	}
	for _, name := range all {
		if f.flow.Given(name) != "" && (f.q == nil || f.q.Name != name) {
			out = append(out, name)
		}
	}
	return out
}

func (m *model) formKey(k tea.KeyMsg) tea.Cmd {
	f := m.form
	switch {
	case k.Type == tea.KeyEsc && (f.field == nil || !f.field.finding()):
		m.closeForm()
		m.inform("nothing was done")
	case f.waiting:
		f.ahead = append(f.ahead, k)
	case k.Type == tea.KeyEnter, k.Type == tea.KeyTab:
		if text, ok := f.field.value(); ok {
			return m.answerForm(text)
		}
	case k.Type == tea.KeyShiftTab:
		if n := len(f.said); n > 0 {
			f.prefill[f.q.Name], _ = f.field.value()
			said := f.said[: n-1 : n-1]
			f.prefill[""] = f.said[n-1]
			return m.askForm(f, said)
		}
	default:
		f.err = ""
		f.field.key(k)
	}
	return nil
}

// clickForm takes the choice that is clicked.
func (m *model) clickForm(y int) tea.Cmd {
	f := m.form
	if f.waiting || f.field == nil || !f.field.click(y-m.body().y-1-f.above) {
		return nil
	}
	f.err = ""
	return m.formKey(tea.KeyMsg{Type: tea.KeyEnter})
}

// answerForm answers the question.
func (m *model) answerForm(text string) tea.Cmd {
	f := m.form
	flow, q, said := f.flow, f.q, append(slices.Clip(f.said), text)
	if q.Name == "file" {
		m.lastFile = text
	}
	return m.stepForm(f, func() formMsg {
		if err := flow.Answer(q, text); err != nil {
			return formMsg{err: err, refused: true}
		}
		return nextQuestion(flow, said)
	})
}

// begin is the answer that a question begins from.
func (f *guide) begin() string {
	if text, ok := f.prefill[""]; ok {
		delete(f.prefill, "")
		return text
	}
	if text, ok := f.prefill[f.q.Name]; ok {
		return text
	}
	return f.q.Default
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
	s := m.pane().subject()
	if s.node == fabric.None {
		return
	}
	f := m.sc.st.Paper()
	if s.link != fabric.None {
		node, port := placeOf(s.f, s.f.Ports[s.link].Node, s.link).in(f)
		if port != fabric.None && f.Ports[port].Linked() {
			out["what"], out["name"], out["port"] = "link", nodeRef(f, node), strconv.Itoa(int(f.Ports[port].Num))
		}
		return
	}
	node, _ := placeOf(s.f, s.node, fabric.None).in(f)
	if node == fabric.None {
		return
	}
	out["what"], out["name"] = "node", nodeRef(f, node)
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

// layForm makes the field in w by h cells.
func (m *model) layForm(f *guide, w, h int) {
	if f.q == nil || f.field != nil && f.size == [2]int{w, h} {
		return
	}
	answer := ""
	if f.field != nil {
		answer, _ = f.field.value()
	} else {
		answer = f.begin()
	}
	f.size = [2]int{w, h}
	explain := f.q.Explain
	if f.command != "" {
		explain = nil
	}
	// The question and an answer have room first, then what explains it.
	room := h - 1 - min(max(len(f.q.Choices), 1), 4)
	var lines []string
	for _, l := range explain {
		lines = append(lines, wrap(clean(l, m.theme.ascii), w-1)...)
	}
	if room < len(lines) {
		lines = lines[:max(room, 0)]
		if n := len(lines); n > 0 {
			lines[n-1] = cut(lines[n-1]+" "+m.theme.ellipsis+m.theme.ellipsis, w-1, m.theme.ellipsis)
		}
	}
	f.field = newField(m.theme, f.q, lines, answer, w)
}

// formFrame draws the form.
func (m *model) formFrame(body rect) []string {
	f, t := m.form, m.theme
	inner := max(body.h-2, 1)
	type line struct {
		st     style
		text   string
		styled bool
	}
	var lines []line
	if f.summary != "" && inner >= 6 {
		lines = append(lines, line{t.dim, f.summary, false})
		if inner >= 10 {
			lines = append(lines, line{})
		}
	}
	if f.command != "" {
		text := wrap("runs: "+clean(f.command, t.ascii), max(body.w-5, 8))
		for _, l := range text[:min(len(text), max(inner-4, 1))] {
			lines = append(lines, line{t.command, l, false})
		}
		if last := &lines[len(lines)-1]; len(text) > max(inner-4, 1) {
			last.text += " " + t.ellipsis
		}
	}
	room := inner - len(lines) - 1
	if f.waiting && f.field == nil {
		lines = append(lines, line{t.dim, "one moment", false})
	} else {
		m.layForm(f, max(body.w-5, 8), max(room, 2))
	}
	if f.field != nil {
		f.above = len(lines)
		for _, l := range f.field.lines(max(room, 1)) {
			lines = append(lines, line{"", l, true})
		}
		if len(lines) < inner-1 {
			lines = append(lines, line{})
		}
		switch {
		case f.err != "":
			lines = append(lines, line{t.bad, "! " + f.err, false})
		case f.waiting:
			lines = append(lines, line{t.dim, "looking", false})
		}
	}
	win := &window{n: len(lines), height: inner, cursor: -1}
	return m.frame(body, &framed{
		tabs: func(p *pen) { p.put(p.key, strings.ToUpper(f.what[:1])+f.what[1:]) }, focused: true, win: win,
		draw: func(p *pen, row int) {
			if l := lines[row]; l.styled {
				p.styled(l.text)
			} else {
				p.put(l.st, l.text)
			}
		},
	})
}
