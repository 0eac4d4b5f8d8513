// SPDX-License-Identifier: Apache-2.0

// Package answer declares the answers of commands. An answer is a value with a basis (subnet, state, time, unread
// parts), a verdict, facts and tables. Text, JSON, CSV, Markdown, HTML and the tables of the screen are derived from
// one declaration, a [Decl].
package answer

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// SchemaVersion is the version of the JSON schema. The keys of a version are never renamed or removed.
const SchemaVersion = 2

// Answer is a value of a command with its declaration. It is read-only. It is safe for concurrent use unless it has
// rows that can be read only once.
type Answer struct {
	command, title string
	basis          Basis
	value          any
	judged         bool
	verdict        Verdict
	found          string
	fails          Fails
	warnings       bool // the finding has warnings only
	action         bool
	facts          []fact
	layout         []element
	labelled       bool // the declaration has no layout: the text is the facts with their labels
	tables         []boundTable
	draw           func(*Canvas)
}

// fact is a field of an answer, together with its value in this answer.
type fact struct {
	Column
	Value Value
}

// element is an element of a layout: a line (a form), or the number of a table, counted from 1.
type element struct {
	form, each string
	table      int
}

// Command returns the command that produced the answer.
func (a *Answer) Command() string { return a.command }

// In returns a copy of the answer that names its subnet. For "" it returns a itself.
func (a *Answer) In(subnet string) *Answer {
	if subnet == "" {
		return a
	}
	named := *a
	named.basis.Subnet = subnet
	return &named
}

// Basis returns the state and time of the answer, and its unread parts.
func (a *Answer) Basis() Basis { return a.basis }

// Value returns the value of the answer.
func (a *Answer) Value() any { return a.value }

// Verdict returns the outcome and a text that describes the finding. The outcome is [Unknown] instead of [OK] if part
// of the basis was not read.
func (a *Answer) Verdict() (Verdict, string) {
	if a.judged && a.verdict == OK && a.basis.Unread.Count > 0 {
		return Unknown, cmp.Or(a.found, a.basis.Unread.first())
	}
	return a.verdict, a.found
}

// IsTable reports whether the answer is one table without lines, warnings and unread parts.
func (a *Answer) IsTable() bool {
	return len(a.layout) == 1 && len(a.tables) == 1 && len(a.basis.Warnings) == 0 && a.basis.Unread.Count == 0
}

// IsLive reports whether the answer has rows that arrive over time. [Answer.Sheets] contains these rows only after the
// answer was written.
func (a *Answer) IsLive() bool {
	return slices.ContainsFunc(a.tables, func(t boundTable) bool { return t.live })
}

// Fails returns the verdicts for which the command fails.
func (a *Answer) Fails() Fails { return a.fails }

// HasErrors reports whether the finding is an error. A finding of warnings only is none.
func (a *Answer) HasErrors() bool { return a.verdict == Found && !a.warnings }

// IsAction reports whether the answer is the report of an action. CSV, Markdown, HTML and the screen omit it.
func (a *Answer) IsAction() bool { return a.action }

// Outcome returns a line with the result of an action, or "" for other answers. The line comes from the Outcome method
// of the value. Without such a method, it consists of the first line of the text and the last line that is not
// indented.
func (a *Answer) Outcome() string {
	if !a.action {
		return ""
	}
	if x, ok := a.value.(interface{ Outcome() string }); ok {
		return x.Outcome()
	}
	var b strings.Builder
	_ = a.Text(&b) // writes to a builder do not fail
	lines := slices.DeleteFunc(strings.Split(b.String(), "\n"), func(line string) bool {
		return line == "" || line[0] == ' '
	})
	if len(lines) > 1 {
		return lines[0] + "; " + lines[len(lines)-1]
	}
	return strings.Join(lines, "")
}

// fact returns the value of the fact with an id. For the id "of" it returns the title of the state.
func (a *Answer) fact(id string) Value {
	if id == "of" {
		return Text(a.basis.Title)
	}
	i := slices.IndexFunc(a.facts, func(f fact) bool { return f.id() == id })
	if i < 0 {
		return None()
	}
	return a.facts[i].Value
}

// row returns a function that finds a value of a row by the id of its column.
func (t *boundTable) row(values []Value) func(string) Value {
	return func(id string) Value {
		if i := slices.IndexFunc(t.columns, func(c Column) bool { return c.id() == id }); i >= 0 {
			return values[i]
		}
		return None()
	}
}

// rows calls the function yield for each row of the table. All rows share one slice, which the next row overwrites.
func (t *boundTable) rows(yield func([]Value) error) error {
	values := make([]Value, len(t.columns))
	var failed error
	t.each(values, func(err error) bool {
		if failed = err; err == nil {
			failed = yield(values)
		}
		return failed == nil
	})
	return failed
}

// Form is the name of a rendering.
type Form string

// The forms.
const (
	FormText     Form = "text"
	FormJSON     Form = "json"
	FormCSV      Form = "csv"
	FormMarkdown Form = "md"
	FormHTML     Form = "html"
)

// Forms lists all forms.
var Forms = []Form{FormText, FormJSON, FormCSV, FormMarkdown, FormHTML}

// Write writes the answer in a form. The form "" is text. The argument number is the number of the answer in JSON. The
// argument table is the key of the table that CSV writes.
func (a *Answer) Write(w io.Writer, form Form, number int, table string) error {
	switch form {
	case "", FormText:
		return a.Text(w)
	case FormJSON:
		return a.JSON(w, number)
	case FormCSV:
		return a.CSV(w, table)
	case FormMarkdown:
		return a.Markdown(w)
	case FormHTML:
		return a.HTML(w)
	}
	return fmt.Errorf("unknown form %q", form)
}
