// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"io"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/pane"
)

func whyNoShell(m *model) string {
	if m.shell == nil {
		return "there is no shell on this terminal"
	}
	if len(m.jobs.running) > 0 {
		return m.jobs.latest().text + " is running: Esc cancels it"
	}
	return ""
}

// repl runs the shell on the terminal while the screen is suspended.
type repl struct {
	ctx context.Context
	run func(context.Context) error
	out *slowWriter
}

func (r repl) Run() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &pane.PanicError{Value: v}
		}
	}()
	if r.out != nil {
		r.out.flush(r.ctx)
	}
	return r.run(r.ctx)
}

func (repl) SetStdin(io.Reader) {}

func (repl) SetStdout(io.Writer) {}

func (repl) SetStderr(io.Writer) {}

func openShell(m *model) tea.Cmd {
	return tea.Exec(repl{m.Ctx, m.shell, m.out}, func(err error) tea.Msg { return shellMsg{"shell", err} })
}

func shellEnded(m *model, msg shellMsg) {
	m.refresh()
	if msg.err != nil {
		text := msg.what + ": " + msg.err.Error()
		m.note(pane.Line{When: m.now(), Kind: pane.LineError, Text: text})
		m.warn(text)
		return
	}
	m.inform("back from " + prose.When(msg.what == "shell", "the shell", msg.what))
}
