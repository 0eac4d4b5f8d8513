// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// asking are the commands whose answers are shown also where a key stood for them.
var asking = []string{"balance", "check", "compare", "diff", "history", "hosts", "resilience", "show", "whatif", "who"}

// asks reports whether the command is run for its answer.
func (j *job) asks() bool { return j.opens != "" || slices.Contains(asking, draw.FirstWord(j.text)) }

// heard keeps, before their lines come, the values of the status line: warnings, and what a command did.
func (j *job) heard(a shell.Answer) {
	sheets := sheetsOf(a)
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := a.(shell.Tabled); ok {
		j.tabled = true
	}
	for _, s := range sheets {
		if n := len(j.sheets); n > 0 && j.sheets[n-1].Title == s.Title && slices.Equal(j.sheets[n-1].Columns, s.Columns) {
			j.sheets[n-1].Rows = append(j.sheets[n-1].Rows, s.Rows...)
			continue
		}
		j.sheets = append(j.sheets, s)
	}
	switch a := a.(type) {
	case shell.Action:
		j.outcome = a.Outcome()
	case shell.Note, shell.Warning:
	default:
		j.outcome = ""
	}
	switch a := a.(type) {
	case shell.Warning:
		j.warnings = append(j.warnings, "warning: "+string(a))
	case shell.Warned:
		for _, w := range a.Warned() {
			j.warnings = append(j.warnings, "warning: "+w)
		}
	}
}

const listed = "list" // the title of a table that is all of an answer

// sheetsOf are the tables of an answer; those of a list get their rows one by one.
func sheetsOf(a shell.Answer) []pane.Sheet {
	switch a := a.(type) {
	case *shell.List:
		if a.Details != nil {
			return []pane.Sheet{{Title: listed, Columns: a.Details}}
		}
		return []pane.Sheet{{Title: listed, Columns: a.Columns}}
	case shell.Tabled:
		var all []pane.Sheet
		for _, t := range a.Tables() {
			all = append(all, pane.SheetOf(&t))
		}
		return all
	}
	return nil
}

// row adds one to the list that was heard last.
func (j *job) row(r shell.Row) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sheets[len(j.sheets)-1].Add(r)
}

// answered brings up the tables of an answer, and reports whether there are any. What was said in lines stands before them.
func (m *model) answered(j *job) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	sheets := slices.DeleteFunc(j.sheets, func(s pane.Sheet) bool { return len(s.Rows) == 0 })
	if len(sheets) == 0 && (len(j.lines) < 2 || !j.tabled) {
		return false
	}
	if len(sheets) != 1 || sheets[0].Title != listed {
		sheets = append([]pane.Sheet{pane.Summary(j.lines, sheets)}, sheets...)
	}
	first := slices.IndexFunc(sheets, func(s pane.Sheet) bool { return s.Title == j.opens || j.opens == "" && s.Best > 0 })
	first = max(first, 0)
	m.jump(func() tea.Cmd {
		m.tellPanes(pane.Answered{Job: j.id, Command: strings.TrimSpace(j.text), Sheets: sheets, First: first})
		m.bring(m.named("Answer"))
		return nil
	})
	return true
}
