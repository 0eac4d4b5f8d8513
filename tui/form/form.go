// SPDX-License-Identifier: Apache-2.0

// Package form asks the questions of a guided command on top of the panes, and then runs the command. The questions
// come from a [guided.Flow], as in the guided commands of the shell.
package form

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// Source starts the questions of a command.
type Source interface {
	Flow(ctx context.Context, what string, shown *session.Picture) (*guided.Flow, error)
}

// Form is the questions of a command.
type Form struct {
	What    string                    // the command: dump, load, engine or fail
	Prefill map[string]string         // initial answers, by the name of the question
	Shown   *session.Picture          // the past state that the screen shows, nil for none
	Leave   func(msg tea.Msg) tea.Cmd // closes the form and sends a message to the screen
	Body    func() draw.Rect          // the part of the screen for the form
	File    string                    // the file that was named, "" for none

	common *pane.Common
	src    Source
	ctx    context.Context
	cancel context.CancelFunc

	flow             *guided.Flow
	said             []string // all answers in order
	q                *guided.Question
	field            *field
	files            *browser // of a question for a file, nil for others
	figures          figures  // of a question whose choices have results
	size             [2]int   // of field
	above            int      // number of lines above it
	summary, command string   // the answers, and the command, "" before the last question
	waiting          bool
	err              string
	ahead            []tea.KeyMsg // keys typed before the next question arrived
}

// Msg delivers the next question after an answer.
type Msg struct {
	form    *Form
	flow    *guided.Flow
	said    []string
	q       *guided.Question // nil if all questions are answered
	command string
	err     error
	refused bool     // the last answer is invalid
	listed  *browser // the contents of a folder, nil in another message
	figured *figured // the result of a choice, nil in another message
}

// Open returns a form. The caller sets its fields before it calls Begin.
func Open(c *pane.Common, src Source, what string) *Form {
	f := &Form{What: what, common: c, src: src}
	f.ctx, f.cancel = context.WithCancel(c.Ctx)
	return f
}

// Begin asks the first question.
func (f *Form) Begin() tea.Cmd { return f.ask(nil) }

// Close ends the computations that run.
func (f *Form) Close() { f.cancel() }

// Chooses reports whether the question has choices to select from.
func (f *Form) Chooses() bool { return f.field != nil && f.field.choose != nil }

// Browses reports whether the answer is a file and the form lists folders.
func (f *Form) Browses() bool { return f.files != nil }

// ask starts a new flow and replays the given answers, up to the next question.
func (f *Form) ask(said []string) tea.Cmd {
	return f.step(func() Msg {
		flow, err := f.src.Flow(f.ctx, f.What, f.Shown)
		if err != nil {
			return Msg{err: err}
		}
		for _, text := range said {
			q, err := flow.Next()
			if err != nil || q == nil {
				return Msg{err: errors.Join(err, f.ctx.Err())}
			}
			if err := flow.Answer(q, text); err != nil {
				return Msg{err: err}
			}
		}
		return nextQuestion(flow, said)
	})
}

// step calls the function work in the background, because handling an answer may read a file.
func (f *Form) step(work func() Msg) tea.Cmd {
	f.waiting, f.err = true, ""
	f.common.Running++
	return func() tea.Msg {
		msg, err := pane.Shielded(func() (Msg, error) { return work(), nil })
		if err != nil {
			msg = Msg{err: err}
		}
		msg.form = f
		return msg
	}
}

func nextQuestion(flow *guided.Flow, said []string) Msg {
	q, err := flow.Next()
	msg := Msg{flow: flow, said: said, q: q, err: err}
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

// Update handles a message: it shows the next question, reports an invalid answer, or runs the command.
func (f *Form) Update(msg Msg) tea.Cmd {
	if msg.listed != nil {
		f.listed(msg.listed)
		return nil
	}
	if msg.figured != nil {
		return f.figured(msg.figured)
	}
	f.waiting = false
	switch {
	case msg.refused:
		f.err, f.ahead = msg.err.Error(), nil
		return nil
	case msg.err != nil:
		return f.Leave(pane.Warn{Text: f.What + ": " + msg.err.Error()})
	case msg.q == nil && msg.command == "":
		return f.nothing()
	case msg.q == nil:
		return f.Leave(pane.Run{Command: msg.command})
	}
	f.flow, f.said, f.q, f.command, f.field, f.files = msg.flow, msg.said, msg.q, msg.command, nil, nil
	f.summarize()
	f.Frame(f.Body()) // makes the field
	return tea.Batch(f.browse(), f.figure(), f.typedAhead())
}

func (f *Form) nothing() tea.Cmd { return f.Leave(pane.Inform{Text: "cancelled, no command was run"}) }

// typedAhead handles keys that were pressed before the question arrived. It drops them at the last question, because
// the user should read the command first.
func (f *Form) typedAhead() tea.Cmd {
	keys := f.ahead
	f.ahead = nil
	if f.q.Last() {
		return nil
	}
	var cmds []tea.Cmd
	for _, k := range keys {
		if f.ctx.Err() == nil {
			cmds = append(cmds, f.Key(k))
		}
	}
	return tea.Batch(cmds...)
}

// summarize sets the summary of the answers. It must not be called while a step uses the flow.
func (f *Form) summarize() {
	words := []string{}
	for _, name := range f.names() {
		words = append(words, name+" "+f.flow.Given(name))
	}
	f.summary = strings.Join(words, ", ")
}

// names returns the keys of the answered questions, in the order in which they are asked.
func (f *Form) names() []string {
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

// Key handles a key of the form or of the field.
func (f *Form) Key(k tea.KeyMsg) tea.Cmd {
	if !f.waiting {
		if cmd, taken := f.browsing(k); taken {
			return cmd
		}
	}
	switch {
	case k.Type == tea.KeyEsc && (f.field == nil || !f.field.finding()):
		return f.nothing()
	case f.waiting:
		f.ahead = append(f.ahead, k)
	case k.Type == tea.KeyEnter, k.Type == tea.KeyTab:
		if text, ok := f.field.value(); ok {
			return f.reply(text)
		}
	case k.Type == tea.KeyShiftTab:
		if n := len(f.said); n > 0 {
			f.Prefill[f.q.Name], _ = f.field.value()
			said := f.said[: n-1 : n-1]
			f.Prefill[""] = f.said[n-1]
			return f.ask(said)
		}
	default:
		f.err = f.field.key(k)
		return tea.Batch(f.browse(), f.figure())
	}
	return nil
}

// Click selects the clicked choice.
func (f *Form) Click(line int) tea.Cmd {
	if b := f.files; b != nil && !f.waiting && line > b.at && line-b.at-1+b.win.Top < len(b.fits) {
		return f.choose(b.fits[line-b.at-1+b.win.Top])
	}
	if f.waiting || f.field == nil || !f.field.click(line-f.above) {
		return nil
	}
	f.err = ""
	return f.Key(tea.KeyMsg{Type: tea.KeyEnter})
}

// Wheel moves the selection.
func (f *Form) Wheel(by int) tea.Cmd {
	return f.Key(tea.KeyMsg{Type: prose.When(by < 0, tea.KeyUp, tea.KeyDown)})
}

func (f *Form) reply(text string) tea.Cmd {
	flow, q, said := f.flow, f.q, append(slices.Clip(f.said), text)
	if q.Name == "file" {
		f.File = text
	}
	return f.step(func() Msg {
		if err := flow.Answer(q, text); err != nil {
			return Msg{err: err, refused: true}
		}
		return nextQuestion(flow, said)
	})
}

// begin returns the initial answer of a question.
func (f *Form) begin() string {
	if text, ok := f.Prefill[""]; ok {
		delete(f.Prefill, "")
		return text
	}
	if text, ok := f.Prefill[f.q.Name]; ok {
		return text
	}
	return f.q.Default
}

// Of reports whether the message is for the form f.
func (m *Msg) Of(f *Form) bool { return m.form == f }
