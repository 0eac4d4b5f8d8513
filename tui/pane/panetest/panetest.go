// SPDX-License-Identifier: Apache-2.0

// Package panetest shows a single pane of a small simulated subnet in tests, without the screen.
package panetest

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// Stand shows a pane of a session.
type Stand struct {
	t       testing.TB
	Session *session.Session
	Common  *pane.Common
	Pane    pane.Pane
	Scene   *pane.Scene
	shell   *shell.Shell
	indexes pane.Indexes
}

// New opens a simulated subnet, runs commands, and shows the pane that the function make constructs.
func New(t testing.TB, from, commands string, make func(*pane.Common, *session.Session) pane.Pane) *Stand {
	t.Helper()
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	session, err := session.Open(t.Context(), src, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := &Stand{t: t, Session: session, shell: shell.New(session), Common: Common(t)}
	s.Common.Memo = session.Analysis()
	s.Pane = make(s.Common, session)
	s.Run(commands)
	return s
}

// Of adapts the constructor of a pane that needs no source to [New].
func Of(make func(*pane.Common) pane.Pane) func(*pane.Common, *session.Session) pane.Pane {
	return func(c *pane.Common, _ *session.Session) pane.Pane { return make(c) }
}

// Common returns the data that panes share, with a theme without colours.
func Common(t testing.TB) *pane.Common {
	t.Helper()
	env := draw.Environment(func(string) string { return "C.UTF-8" })
	theme, err := draw.NewTheme("none", termenv.Ascii, env.Glyphs(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &pane.Common{
		Look: theme, Ctx: t.Context(), Focused: func() pane.Subject { return pane.Nothing },
		MarkedNodes: func() (*fabric.Fabric, []fabric.NodeIndex) { return nil, nil }, Unmark: func() {},
		JobSet: func() (set, create string) { return "", "" },
	}
}

// Run runs commands and shows the resulting state.
func (s *Stand) Run(commands string) {
	s.t.Helper()
	if err := s.shell.Run(s.t.Context(), "test", commands, &shell.Output{W: io.Discard}); err != nil {
		s.t.Fatal(err)
	}
	s.Scene = pane.NewScene(s.Session.State(), "", nil, nil, s.indexes.Of)
	s.Scene.Clock = time.Now
	s.Pane.Show(s.Scene, true)
	s.settle()
}

// Tell sends the pane a message.
func (s *Stand) Tell(msg tea.Msg) {
	s.Pane.Update(msg)
	s.settle()
}

// Turn switches to another view.
func (s *Stand) Turn(kind int) {
	s.Pane.Base().Show(kind)
	s.Pane.Renew()
	s.settle()
}

// settle computes what the pane needs.
func (s *Stand) settle() {
	for cmd := s.Pane.Seek(pane.Stage{Visible: true, Focused: true, Idle: true}); cmd != nil; {
		s.deliver(cmd())
		s.Pane.Collect()
		cmd = s.Pane.Seek(pane.Stage{Visible: true, Focused: true, Idle: true})
	}
	s.Pane.Collect()
}

func (s *Stand) deliver(msg tea.Msg) {
	switch msg := msg.(type) {
	case pane.ResultMsg:
		msg.Deliver()
	case tea.BatchMsg:
		for _, cmd := range msg {
			s.deliver(cmd())
		}
	}
}

// Place returns the place of the node with a name.
func (s *Stand) Place(name string) pane.Place {
	s.t.Helper()
	f := s.Scene.Picture.Fabric
	for i := range f.Nodes {
		if f.NodeName(fabric.NodeIndex(i)) == name || strings.HasPrefix(f.Nodes[i].Desc, name+" ") {
			return pane.PlaceOf(f, fabric.NodeIndex(i), fabric.None)
		}
	}
	s.t.Fatalf("unknown node %s", name)
	return pane.Place{}
}

// Rows returns the rows of the list as text. If the list has column heads, they are the first row.
func (s *Stand) Rows() []string {
	table := s.Pane.Base()
	lines := make([]int, table.N)
	for i := range lines {
		lines[i] = i
	}
	return strings.Split(strings.TrimRight(table.PlainText(lines, true), "\n"), "\n")
}

// Drawn returns the lines of the pane, drawn in w cells. It fails the test if a line has another width.
func (s *Stand) Drawn(w int) []string {
	s.t.Helper()
	var all []string
	for line := range s.Pane.Base().N {
		p := draw.NewPen(s.Common.Look, w)
		s.Pane.Draw(p, line)
		text := ansi.Strip(p.Done())
		if draw.Width(text) != w {
			s.t.Errorf("line %d has %d cells, want %d: %q", line, draw.Width(text), w, text)
		}
		all = append(all, strings.TrimRight(text, " "))
	}
	return all
}

// Has fails the test unless a single row contains all words.
func (s *Stand) Has(words ...string) {
	s.t.Helper()
	rows := s.Rows()
	if !slices.ContainsFunc(rows, func(row string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(row, word) })
	}) {
		s.t.Errorf("no row has %q:\n%s", words, strings.Join(rows, "\n"))
	}
}

// Cells returns the cells of the row whose first cell has a given text, by column name. It returns nil if there is no
// such row.
func (s *Stand) Cells(first string) map[string]string {
	table := s.Pane.Base()
	cols := table.Shown()
	for line := range table.N {
		if row := table.Row(line); strings.TrimSpace(cols[0].Cell(row)) == first {
			cells := map[string]string{}
			for _, c := range cols {
				cells[c.Name] = strings.TrimSpace(c.Cell(row))
			}
			return cells
		}
	}
	return nil
}
