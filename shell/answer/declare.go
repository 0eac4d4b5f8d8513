// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"cmp"
	"iter"
	"slices"

	"example.org/ibconsole/internal/base/verdict"
)

// Verdict is the outcome of an answer that reports a check.
type Verdict = verdict.Verdict

// The outcomes.
const (
	OK      = verdict.OK      // nothing is wrong
	Found   = verdict.Found   // something is wrong
	Unknown = verdict.Unknown // something was not read that could change the outcome
)

// Fails selects the verdicts of an answer for which its command fails.
type Fails uint8

// The values of [Fails].
const (
	Never  Fails = iota // the answer has no verdict
	Asked               // only with --fail-on
	Always              // if the verdict is found or unknown
)

// Table is a list of rows of an answer.
type Table[R any] struct {
	Key    string // in JSON
	Title  string // for people
	Help   string
	Fields []Field[R]
	Row    string // a form that prints a row as a line; "" for columns
	Empty  string // line of the text if there are no rows; "" for the headings alone
	Stream bool   // JSON has an object for each row
	// Live marks a table whose rows arrive over time and can be read only once. Each row is written when it arrives,
	// and kept for the screen. The table needs a Row.
	Live     bool
	TextOnly bool         // the screen omits the table
	MaxRows  int          // number of rows in the text; 0 for all
	Lead     func(R) Lead // nil for none, or for rows that embed their Lead
	ID       func(R) uint64
}

// Lead is the target of a row: a node, a port, or a command with details. The zero Lead has no target.
type Lead struct {
	GUID    uint64 // of a node
	Port    uint8  // of that node, 0 for the node itself
	Command string
}

func (l Lead) target() Lead { return l }

// Rows are the rows of a table.
type Rows[R any] struct {
	N      int                 // number of rows, -1 if it is not known in advance
	At     func(int) R         // returns a row; nil if rows can be read only once
	Each   iter.Seq2[R, error] // yields all rows; used without At
	More   int64               // number of rows that are not listed
	Shown  int                 // number of rows in the text, 0 for the MaxRows of the table
	Best   int                 // number of the best row, from 1; 0 for none
	Unread bool                // the rows are unknown: null in JSON, "not read" in text
}

// Slice returns the rows of a slice.
func Slice[R any](rows []R) Rows[R] { return Lazy(len(rows), func(i int) R { return rows[i] }) }

// Lazy returns n rows. It calls the function at when a row is needed. The function at must be safe for concurrent use.
func Lazy[R any](n int, at func(int) R) Rows[R] { return Rows[R]{N: n, At: at} }

// UnreadRows returns the rows of a table whose data was not read.
func UnreadRows[R any]() Rows[R] { return Rows[R]{Unread: true} }

// Once returns rows that can be read only once, in order.
func Once[R any](each iter.Seq2[R, error]) Rows[R] { return Rows[R]{N: -1, Each: each} }

// Item is an element of a layout: a line of text, or a table.
type Item[T any] struct {
	Line  string // a form
	Each  string // id of a list: the text has the line for each of its elements, which stands for the list
	Table Listed[T]
	When  func(T) bool // whether the text has it; nil for always
}

// Hidden is a value for When. It hides a table from text; other forms include the table.
func Hidden[T any](T) bool { return false }

// Listed is a table of the answers whose value is a T. [Show] returns it.
type Listed[T any] interface {
	bind(T) boundTable
	declared() boundTable
}

// Show returns a table for an answer. The function rows computes the rows from the value of the answer.
func Show[T, R any](table *Table[R], rows func(T) Rows[R]) Listed[T] {
	return listed[T, R]{table, rows}
}

type listed[T, R any] struct {
	table *Table[R]
	rows  func(T) Rows[R]
}

// Decl declares the answers of a command.
type Decl[T any] struct {
	Command string
	Help    string
	Title   string // form of the first line; {of} is the title of the state. "" for "COMMAND of STATE"
	Facts   []Field[T]
	Layout  []Item[T] // lines and tables of the text; nil for the facts with their labels, empty for the title alone
	Verdict func(T) (Verdict, string)
	Fails   Fails
	Warns   func(T) bool                      // reports whether a finding has warnings only; nil for never
	Action  bool                              // reports what a command did: CSV, Markdown, HTML and the screen omit it
	Draw    func(w *Canvas, b Basis, value T) // replaces the layout in text; nil for none
}

// Declared is a [Decl] of any type.
type Declared interface {
	// Name returns the command.
	Name() string
	// FailsOn returns the verdicts for which the command fails.
	FailsOn() Fails
	// Check returns the faults of the declaration.
	Check() error
	// Schema returns the JSON Schema of the answers.
	Schema() map[string]any
}

// Name returns the command.
func (d *Decl[T]) Name() string { return d.Command }

// FailsOn returns the verdicts for which the command fails.
func (d *Decl[T]) FailsOn() Fails { return d.Fails }

// Answer returns the answer that holds v.
func (d *Decl[T]) Answer(b Basis, v T) *Answer {
	a := &Answer{command: d.Command, title: d.Title, basis: b, value: v, fails: d.Fails, action: d.Action,
		facts: make([]fact, len(d.Facts)), labelled: d.Layout == nil}
	for i := range d.Facts {
		f := &d.Facts[i]
		a.facts[i] = fact{columnOf(f), f.Value(v)}
	}
	for _, item := range d.Layout {
		shown := item.When == nil || item.When(v)
		if item.Table != nil {
			a.tables = append(a.tables, item.Table.bind(v))
		}
		switch {
		case !shown:
		case item.Table == nil:
			a.layout = append(a.layout, element{form: item.Line, each: item.Each})
		default:
			a.layout = append(a.layout, element{table: len(a.tables)})
		}
	}
	if d.Verdict != nil {
		a.judged = true
		a.verdict, a.found = d.Verdict(v)
		a.warnings = d.Warns != nil && d.Warns(v)
	}
	if d.Draw != nil {
		a.draw = func(w *Canvas) { d.Draw(w, b, v) }
	}
	return a
}

// boundTable is a table with its rows, independent of their type.
type boundTable struct {
	key, title, help string
	form, empty      string
	stream, textOnly bool
	live             bool
	maxRows          int
	columns          []Column
	n                int // number of rows, -1 if unknown
	unread           bool
	more             int64
	best             int                         // number of the best row, from 1; 0 for none
	at               func(row int, into []Value) // nil if rows can be read only once
	cell             func(row, column int) Value
	each             func(into []Value, yield func(error) bool)
	lead             func(row int) Lead
	id               func(row int) uint64
}

func (l listed[T, R]) declared() boundTable {
	t := l.table
	b := boundTable{key: t.Key, title: t.Title, help: t.Help, form: t.Row, empty: t.Empty, stream: t.Stream,
		textOnly: t.TextOnly, live: t.Live, maxRows: t.MaxRows}
	b.columns = make([]Column, len(t.Fields))
	for i := range t.Fields {
		b.columns[i] = columnOf(&t.Fields[i])
	}
	return b
}

func (l listed[T, R]) bind(v T) boundTable {
	t, rows, b := l.table, l.rows(v), l.declared()
	b.n, b.more, b.best, b.unread, b.maxRows = rows.N, rows.More, rows.Best, rows.Unread, cmp.Or(rows.Shown, t.MaxRows)
	fill := func(r R, into []Value) {
		for i := range t.Fields {
			into[i] = t.Fields[i].Value(r)
		}
	}
	if rows.At == nil {
		b.each = func(into []Value, yield func(error) bool) {
			if rows.Each == nil {
				return
			}
			for r, err := range rows.Each {
				if err == nil {
					fill(r, into)
				}
				if !yield(err) {
					return
				}
			}
		}
		if t.Live {
			b.each = keepRows(b.each)
		}
		return b
	}
	b.at = func(row int, into []Value) { fill(rows.At(row), into) }
	b.cell = func(row, column int) Value { return t.Fields[column].Value(rows.At(row)) }
	b.each = func(into []Value, yield func(error) bool) {
		for i := range rows.N {
			fill(rows.At(i), into)
			if !yield(nil) {
				return
			}
		}
	}
	var zero R
	if t.Lead != nil {
		b.lead = func(row int) Lead { return t.Lead(rows.At(row)) }
	} else if _, embedded := any(zero).(interface{ target() Lead }); embedded {
		b.lead = func(row int) Lead { return any(rows.At(row)).(interface{ target() Lead }).target() }
	}
	if t.ID != nil {
		b.id = func(row int) uint64 { return t.ID(rows.At(row)) }
	}
	return b
}

// keepRows returns a function that reads the rows in its first call and keeps up to maxHeld rows. Later calls yield the
// kept rows.
func keepRows(each func(into []Value, yield func(error) bool)) func([]Value, func(error) bool) {
	var held [][]Value
	isRead := false
	return func(into []Value, yield func(error) bool) {
		if !isRead {
			isRead = true
			each(into, func(err error) bool {
				if err == nil && len(held) < maxHeld {
					held = append(held, slices.Clone(into))
				}
				return yield(err)
			})
			return
		}
		for _, values := range held {
			copy(into, values)
			if !yield(nil) {
				return
			}
		}
	}
}
