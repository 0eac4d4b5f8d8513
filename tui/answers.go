// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// asking are the commands whose answers are shown also where a key stood for them.
var asking = []string{"balance", "check", "compare", "diff", "history", "hosts", "resilience", "show", "whatif", "who"}

// asks reports whether the command is run for its answer.
func (j *job) asks() bool { return j.opens != "" || slices.Contains(asking, draw.FirstWord(j.text)) }

// heard keeps the tables of an answer and, for the status line, its warnings and what a command did.
func (j *job) heard(a *answer.Answer) {
	sheets := pane.SheetsOf(a)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tabled = j.tabled || !a.IsAction()
	for i := range sheets {
		if n := len(j.sheets); n == 0 || !j.sheets[n-1].Join(&sheets[i]) {
			j.sheets = append(j.sheets, sheets[i])
		}
	}
	if p, ok := a.Value().(pane.Traced); ok {
		j.path, j.pathOf = p, a.Basis().State
	}
	j.outcome = a.Outcome()
	for _, w := range a.Basis().Warnings {
		j.warnings = append(j.warnings, "warning: "+w)
	}
}

// heeded keeps a warning for the status line.
func (j *job) heeded(warning string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.warnings = append(j.warnings, "warning: "+warning)
}

// answered brings up the tables of an answer, and reports whether there are any. What was said in lines stands before
// them.
func (m *model) answered(j *job) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	sheets := slices.DeleteFunc(j.sheets, func(s pane.Sheet) bool { return s.Len() == 0 })
	if len(sheets) == 0 && (len(j.lines) < 2 || !j.tabled) {
		return false
	}
	if len(sheets) != 1 || sheets[0].Title != pane.ListTitle {
		sheets = append([]pane.Sheet{pane.Summary(j.lines, sheets)}, sheets...)
	}
	first := slices.IndexFunc(sheets, func(s pane.Sheet) bool {
		return s.Title == j.opens || j.opens == "" && s.Best > 0
	})
	first = max(first, 0)
	m.jump(func() tea.Cmd {
		m.tellPanes(pane.Answered{Job: j.id, Command: strings.TrimSpace(j.text), Sheets: sheets, First: first})
		m.bring(m.named("Answer"))
		return nil
	})
	return true
}
