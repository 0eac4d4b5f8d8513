// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"errors"
	"fmt"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/pane"
)

// CrashError reports a panic of the screen. The panic ends the screen, but does not affect the session.
type CrashError struct {
	Value any
	Stack []byte
}

func (e *CrashError) Error() string { return fmt.Sprintf("internal error: %v\n%s", e.Value, e.Stack) }

// guard is the model that Bubble Tea runs. If the inner model or a command panics, guard quits the program. Bubble Tea
// itself would print the panic over the screen and lose its value.
type guard struct {
	inside tea.Model
	quit   func() // asks the program to quit without waiting
	crash  atomic.Pointer[CrashError]
}

// Init implements [tea.Model].
func (g *guard) Init() tea.Cmd {
	var cmd tea.Cmd
	if !g.survives(func() { cmd = g.inside.Init() }) {
		return tea.Quit
	}
	return g.shield(cmd)
}

// Update implements [tea.Model].
func (g *guard) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	if g.crash.Load() != nil || !g.survives(func() { g.inside, cmd = g.inside.Update(msg) }) {
		return g, tea.Quit
	}
	return g, g.shield(cmd)
}

// View implements [tea.Model].
func (g *guard) View() (view string) {
	if g.crash.Load() == nil && !g.survives(func() { view = g.inside.View() }) {
		g.quit()
	}
	return view
}

// shield returns a command that quits the program if cmd panics. Commands that cmd returns are also shielded.
func (g *guard) shield(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		if !g.survives(func() { msg = cmd() }) {
			return tea.QuitMsg{}
		}
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = g.shield(batch[i])
			}
		}
		return msg
	}
}

// survives reports whether work returns without a panic. The first panic is stored.
func (g *guard) survives(work func()) bool {
	_, err := pane.Shielded(func() (struct{}, error) { work(); return struct{}{}, nil })
	if p, ok := errors.AsType[*pane.PanicError](err); ok {
		g.crash.CompareAndSwap(nil, &CrashError{p.Value, p.Stack})
	}
	return err == nil
}
