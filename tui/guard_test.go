// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// fragile is a model that panics in one place.
type fragile struct{ at string }

type nextMsg int

func (m fragile) crash(at string) {
	if m.at == at {
		panic("in " + at)
	}
}

func (m fragile) Init() tea.Cmd {
	m.crash("Init")
	return func() tea.Msg {
		m.crash("the first command")
		return nextMsg(1)
	}
}

func (m fragile) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	step, ok := msg.(nextMsg)
	if !ok {
		return m, nil
	}
	m.crash(fmt.Sprint("Update ", step))
	if step > 1 {
		return m, tea.Quit
	}
	return m, tea.Batch(func() tea.Msg { return nil }, tea.Batch(nil, func() tea.Msg {
		m.crash("a command of a batch")
		return nextMsg(2)
	}, func() tea.Msg { return nil }))
}

func (m fragile) View() string {
	m.crash("View")
	return "view"
}

// TestGuard checks that a panic anywhere ends the program and is reported with its stack.
func TestGuard(t *testing.T) {
	for _, at := range []string{"", "Init", "View", "the first command", "Update 1", "a command of a batch",
		"Update 2"} {
		g := &guard{inside: fragile{at}}
		p := tea.NewProgram(g, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutSignalHandler())
		g.quit = func() { go p.Quit() }
		ended := make(chan error, 1)
		go func() {
			_, err := p.Run()
			ended <- err
		}()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%q: %v", at, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q: the program does not end", at)
		}
		switch crash := g.crash.Load(); {
		case at == "" && crash != nil:
			t.Errorf("%v without a panic", crash)
		case at != "" && (crash == nil || crash.Value != "in "+at ||
			!strings.Contains(string(crash.Stack), "fragile.crash")):
			t.Errorf("%q: %v", at, crash)
		}
	}
}
