// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"io"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/pane"
)

// question is what a command that runs asks. What there is to choose from it has said in the log.
type question struct {
	job    *job
	prompt string
	reply  chan string // takes the answer once; it is closed where somebody leaves
}

// asked waits until a job asks something.
func (j *job) asked() tea.Msg {
	select {
	case q := <-j.questions:
		return q
	case <-j.done:
		return nil
	}
}

// ask asks and waits for the answer; io.EOF says that there will be none.
func (j *job) ask(ctx context.Context, prompt string) (string, error) {
	q := &question{j, prompt, make(chan string, 1)}
	select {
	case j.questions <- q:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case text, ok := <-q.reply:
		if !ok {
			return "", io.EOF
		}
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// openQuestion shows the log with what the question is, and takes the answer below it.
func (js *jobs) openQuestion(q *question) {
	js.drain(q.job, true)
	js.m.bring(js.m.at(pane.SeatLog))
	js.m.tellPanes(pane.ShowJob{})
	js.question, js.m.prompt.typed = q, newTyped("")
	js.m.prompt.typed.label, js.m.prompt.typed.key = func() string { return q.prompt }, js.askKey
	js.m.prompt.typed.hints = js.m.view.keyed(tea.KeyEnter, "answer; nothing typed takes what is in brackets",
		tea.KeyPgUp, "read", tea.KeyEsc, "leave")
}

func (js *jobs) askKey(k tea.KeyMsg) tea.Cmd {
	q := js.question
	switch k.Type {
	case tea.KeyEsc, tea.KeyCtrlC:
		close(q.reply)
	case tea.KeyEnter:
		q.reply <- js.m.prompt.typed.Value()
		js.m.note(pane.Line{Job: q.job.id, Kind: pane.LineNote, Text: q.prompt + js.m.prompt.typed.Value()})
	case tea.KeyPgUp, tea.KeyPgDown:
		return js.m.act(k)
	default:
		js.m.prompt.edit(k)
		return nil
	}
	js.question, js.m.prompt.typed = nil, nil
	return q.job.asked
}
