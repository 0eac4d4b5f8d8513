// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"io"

	tea "github.com/charmbracelet/bubbletea"

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
	return tea.Exec(repl{m.Ctx, m.shell, m.out}, func(err error) tea.Msg { return shellMsg{err} })
}

func shellEnded(m *model, err error) {
	m.refresh()
	if err != nil {
		m.note(pane.Line{When: m.now(), Kind: pane.LineError, Text: "shell: " + err.Error()})
		m.warn("shell: " + err.Error())
		return
	}
	m.inform("back from the shell")
}
