// SPDX-License-Identifier: Apache-2.0

// Package answer declares what commands answer, once: a value with its basis (which subnet and state, as of when,
// what was not read), a verdict, facts and tables. Text, JSON, CSV, Markdown, HTML and the tables of the screen are
// derived from the declaration.
package answer

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// SchemaVersion is the number of the JSON schema. Keys of a version are never renamed or removed.
const SchemaVersion = 2

// Answer is a value of some type with its declaration. It is read-only and safe for concurrent use, unless it has
// rows that can be read once only.
type Answer struct {
	command, title string
	basis          Basis
	value          any
	judged         bool
	verdict        Verdict
	found          string
	fails          Fails
	action         bool
	facts          []fact
	layout         []element
	labelled       bool // the declaration has no layout: people read the facts with their labels
	tables         []boundTable
	draw           func(*Canvas)
}

// fact is a field of an answer with its value.
type fact struct {
	Column
	Value Value
}

// element is a line or a table (its number, from 1) of a layout.
type element struct {
	form, each string
	table      int
}

// Command returns the command that answered.
func (a *Answer) Command() string { return a.command }

// In returns the answer as that of a subnet among several, a itself for "".
func (a *Answer) In(subnet string) *Answer {
	if subnet == "" {
		return a
	}
	its := *a
	its.basis.Subnet = subnet
	return &its
}

// Basis returns what the answer rests on.
func (a *Answer) Basis() Basis { return a.basis }

// Value returns the value that the feature answered with.
func (a *Answer) Value() any { return a.value }

// Verdict returns the outcome and what was found. It is [Unknown] rather than [OK] where something was not read
// that the outcome rests on.
func (a *Answer) Verdict() (Verdict, string) {
	if a.judged && a.verdict == OK && a.basis.Unread.Count > 0 {
		return Unknown, cmp.Or(a.found, a.basis.Unread.first())
	}
	return a.verdict, a.found
}

// IsTable reports whether the answer is a table and nothing else: no lines, no warnings, and all was read.
func (a *Answer) IsTable() bool {
	return len(a.layout) == 1 && len(a.tables) == 1 && len(a.basis.Warnings) == 0 && a.basis.Unread.Count == 0
}

// IsLive reports whether the answer has rows that come as they happen. They are there for [Answer.Sheets] once they
// were written.
func (a *Answer) IsLive() bool {
	return slices.ContainsFunc(a.tables, func(t boundTable) bool { return t.live })
}

// Fails returns when the verdict makes the command fail.
func (a *Answer) Fails() Fails { return a.fails }

// IsAction reports whether the answer tells what a command did, and not what it was asked for. CSV, Markdown, HTML and
// the screen have no tables of it.
func (a *Answer) IsAction() bool { return a.action }

// Outcome returns a line that tells what an action did, "" for other answers: what the value tells of itself, else the
// first line of the text and the last one that is not indented.
func (a *Answer) Outcome() string {
	if !a.action {
		return ""
	}
	if x, ok := a.value.(interface{ Outcome() string }); ok {
		return x.Outcome()
	}
	var b strings.Builder
	_ = a.Text(&b) // a builder takes all
	lines := slices.DeleteFunc(strings.Split(b.String(), "\n"), func(line string) bool {
		return line == "" || line[0] == ' '
	})
	if len(lines) > 1 {
		return lines[0] + "; " + lines[len(lines)-1]
	}
	return strings.Join(lines, "")
}

// fact returns the value of a fact, by its key or, without one, by its name.
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

// row returns the function that finds a value of a row by the id of its column.
func (t *boundTable) row(values []Value) func(string) Value {
	return func(id string) Value {
		for i := range t.columns {
			if t.columns[i].id() == id {
				return values[i]
			}
		}
		return None()
	}
}

// rows calls yield for each row. The slice is used again for the next row.
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

// Form is a rendering of answers by its name.
type Form string

// The forms.
const (
	FormText     Form = "text"
	FormJSON     Form = "json"
	FormCSV      Form = "csv"
	FormMarkdown Form = "md"
	FormHTML     Form = "html"
)

// Forms are all forms.
var Forms = []Form{FormText, FormJSON, FormCSV, FormMarkdown, FormHTML}

// Write writes the answer in a form: with its number for JSON, and the table with a key for CSV. "" stands for text.
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
	return fmt.Errorf("no form of answers is called %q", form)
}
