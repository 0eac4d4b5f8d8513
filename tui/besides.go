// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
	answers "example.org/ibconsole/tui/pane/answer"
)

const loadsSheet = "links with other loads" // the table of a difference that has links before and after

// otherLoads are the links of which the load changes from what the staged tables are compared with.
func (m *model) otherLoads() []pane.Sheet {
	var out []pane.Sheet
	hear := func(a *answer.Answer) {
		out = append(out, slices.DeleteFunc(pane.SheetsOf(a), func(s pane.Sheet) bool {
			return s.Title != loadsSheet
		})...)
	}
	// The page is about the plan: where there is no difference to tell, it goes without.
	_ = m.back.Run(m.Ctx, "diff", &shell.Output{W: &strings.Builder{}, Hear: hear})
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
	table := draw.Table{Theme: t, Cols: answers.Columns(s)}
	table.Build(s.Len())
	title := draw.NewPen(t, w)
	title.Put(t.Strong, s.Title+prose.When(s.Title == loadsSheet, ", before and after", ""))
	head := draw.NewPen(t, w)
	table.Header(head)
	lines := []string{title.Done(), head.Done()}
	n := prose.When(s.Len()+s.More > rows-2, rows-3, s.Len())
	for row := range min(max(n, 0), s.Len()) {
		p := draw.NewPen(t, w)
		table.Draw(p, row)
		lines = append(lines, p.Done())
	}
	if more := s.Len() + s.More - max(n, 0); more > 0 {
		p := draw.NewPen(t, w)
		p.Put(t.Dim, prose.More(more))
		lines = append(lines, p.Done())
	}
	return lines
}
