// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/answer"
)

const loadsSheet = "links with other loads" // the table of a difference that has links before and after

// otherLoads are the links of which the load changes from what the staged tables are compared with.
func (m *model) otherLoads() []pane.Sheet {
	var out []pane.Sheet
	hear := func(a shell.Answer) {
		if t, ok := a.(shell.Tabled); ok {
			for _, x := range t.Tables() {
				if x.Title == loadsSheet {
					out = append(out, pane.SheetOf(&x))
				}
			}
		}
	}
	// The page is about the plan: where there is no difference to tell, it goes without.
	_ = m.back.Run(m.Ctx, "diff", &shell.Output{W: &strings.Builder{}, Hear: hear, Row: func(shell.Row) {}})
	return out
}

// Where tables have room beside one another, below what is said.
const besidesFrom, spoken = 100, 18

// besides draws tables beside one another, as many rows as a page has room for; nothing on a small one.
func (m *model) besides(sheets []pane.Sheet, body draw.Rect) []string {
	rows := body.H - spoken
	if len(sheets) == 0 || body.W < besidesFrom || rows < 3 {
		return nil
	}
	w := body.W/len(sheets) - 2
	var blocks []string
	for i := range sheets {
		blocks = append(blocks, strings.Join(m.small(&sheets[i], w, rows), "\n"))
		if i < len(sheets)-1 {
			blocks = append(blocks, "    ")
		}
	}
	return append([]string{""}, strings.Split(lipgloss.JoinHorizontal(lipgloss.Top, blocks...), "\n")...)
}

// small draws the first rows of a sheet in lines of w cells, under its title.
func (m *model) small(s *pane.Sheet, w, rows int) []string {
	t := m.Look
	table := draw.Table{Theme: t, Cols: answer.Columns(s)}
	table.Build(len(s.Rows))
	title := draw.NewPen(t, w)
	title.Put(t.Strong, s.Title+prose.When(s.Title == loadsSheet, ", before and after", ""))
	head := draw.NewPen(t, w)
	table.Header(head)
	lines := []string{title.Done(), head.Done()}
	n := prose.When(len(s.Rows)+s.More > rows-2, rows-3, len(s.Rows))
	for row := range min(max(n, 0), len(s.Rows)) {
		p := draw.NewPen(t, w)
		table.Draw(p, row)
		lines = append(lines, p.Done())
	}
	if more := len(s.Rows) + s.More - max(n, 0); more > 0 {
		p := draw.NewPen(t, w)
		p.Put(t.Dim, prose.More(more))
		lines = append(lines, p.Done())
	}
	return lines
}
