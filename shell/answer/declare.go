// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"example.org/ibconsole/internal/base/verdict"
)

// Verdict is the outcome of an answer that judges something.
type Verdict = verdict.Verdict

// The outcomes.
const (
	OK      = verdict.OK      // nothing is wrong
	Found   = verdict.Found   // something is wrong
	Unknown = verdict.Unknown // something was not read that could change the outcome
)

// Fails tells when a command fails because of its verdict.
type Fails uint8

// The choices.
const (
	Never  Fails = iota // the answer judges nothing
	Asked               // only with --fail-on
	Always              // found and unknown fail
)

// Field is one figure, word or place of an answer or of a row of its tables.
type Field[T any] struct {
	Key   string // in JSON and CSV; "" where the field is for people only
	Name  string // label or column heading; "" where the field is for programs only
	Unit  string // "Gbit/s", "" for none
	Help  string
	Kind  Kind
	Value func(T) Value
}

// FieldOf returns a field of values of a kind. The functions below it return fields of one kind.
func FieldOf[T any](kind Kind, key, name, help string, value func(T) Value) Field[T] {
	return Field[T]{Key: key, Name: name, Help: help, Kind: kind, Value: value}
}

// IntField returns a field of whole numbers.
func IntField[T any, N integers](key, name, help string, value func(T) N) Field[T] {
	return FieldOf(KindInt, key, name, help, func(v T) Value { return Int(value(v)) })
}

// TextField returns a field of texts.
func TextField[T any](key, name, help string, value func(T) string) Field[T] {
	return FieldOf(KindText, key, name, help, func(v T) Value { return Text(value(v)) })
}

// OptionalField returns a field of texts that does not apply where the text is empty.
func OptionalField[T any](key, name, help string, value func(T) string) Field[T] {
	return FieldOf(KindText, key, name, help, func(v T) Value { return Optional(value(v)) })
}

// BoolField returns a field of truth values.
func BoolField[T any](key, name, help string, value func(T) bool) Field[T] {
	return FieldOf(KindBool, key, name, help, func(v T) Value { return Bool(value(v)) })
}

// TimeField returns a field of moments, which does not apply where the time is zero.
func TimeField[T any](key, name, help string, value func(T) time.Time) Field[T] {
	return FieldOf(KindTime, key, name, help, func(v T) Value { return Time(value(v)) })
}

// GUIDField returns a field of GUIDs.
func GUIDField[T any](key, name, help string, value func(T) uint64) Field[T] {
	return FieldOf(KindGUID, key, name, help, func(v T) Value { return GUID(value(v)) })
}

// LIDField returns a field of LIDs, which does not apply where the LID is 0.
func LIDField[T any](key, name, help string, value func(T) uint16) Field[T] {
	return FieldOf(KindLID, key, name, help, func(v T) Value { return LID(value(v)) })
}

// PlaceField returns a field of nodes or ports: [Node], [Port] or [At].
func PlaceField[T any](key, name, help string, value func(T) Value) Field[T] {
	return FieldOf(KindPlace, key, name, help, value)
}

// Table is a list of rows of an answer.
type Table[R any] struct {
	Key    string // in JSON
	Title  string // for people
	Help   string
	Fields []Field[R]
	Row    string // a form that prints a row as a line; "" for columns
	Empty  string // for people where there are no rows; "" for the headings alone
	Stream bool   // JSON has an object for each row
	// rows come as they happen, once: each is written when it comes, and kept for the screen; needs a Row
	Live    bool
	Aside   bool // the lines of the text are enough for people: the screen has no table of it
	MaxRows int  // how many rows people read in the text; 0 for all
	Lead    func(R) Lead
	ID      func(R) uint64
}

// Lead is where a row leads: to a node or port, or to a command that tells more. The zero Lead leads nowhere.
type Lead struct {
	GUID    uint64 // of a node
	Port    uint8  // of that node, 0 for the node itself
	Command string
}

// Rows are the rows of a table.
type Rows[R any] struct {
	N     int                 // how many there are, -1 where that is not known before
	At    func(int) R         // nil where rows can be read once only
	Each  iter.Seq2[R, error] // nil where At is there
	More  int64               // how many rows there are in addition to these
	Shown int                 // how many of them people read in the text, 0 for the MaxRows of the table
	Best  int                 // the number of the row that is best, from 1; 0 for none
	// Unread says that the rows are not known: JSON has null in place of a list, people read "not read".
	Unread bool
}

// Slice returns rows that are there already.
func Slice[R any](rows []R) Rows[R] { return Lazy(len(rows), func(i int) R { return rows[i] }) }

// Lazy returns rows that are made when they are asked for. at must be safe for concurrent use.
func Lazy[R any](n int, at func(int) R) Rows[R] { return Rows[R]{N: n, At: at} }

// UnreadRows returns the rows of a table that was not read.
func UnreadRows[R any]() Rows[R] { return Rows[R]{Unread: true} }

// Once returns rows that can be read once, in order.
func Once[R any](each iter.Seq2[R, error]) Rows[R] { return Rows[R]{N: -1, Each: each} }

// Item is an element of a layout: a line of text, or a table.
type Item[T any] struct {
	Line string // a form
	// a fact that is a list: people read the line once for each of its elements, which has the name of the fact
	Each  string
	Table Listed[T]
	When  func(T) bool // whether people read it; nil for always
}

// Hidden is the When of a table that people read on the screen alone.
func Hidden[T any](T) bool { return false }

// Listed is a table of the answers that hold a T. [List] makes one.
type Listed[T any] interface {
	bind(T) boundTable
	declared() boundTable
}

// Show returns a table of an answer; rows returns its rows.
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
	Title   string // the form of the first line; {of} is the title of the state. "" for "COMMAND of STATE"
	Facts   []Field[T]
	Layout  []Item[T] // the order for people; nil for the facts with their labels, empty for the title alone
	Verdict func(T) (Verdict, string)
	Fails   Fails
	Action  bool                              // tells what a command did: only text and JSON have a form of it
	Draw    func(w *Canvas, b Basis, value T) // replaces the layout in text; nil for none
}

// Declared is a declaration whatever its answers hold.
type Declared interface {
	// Name returns the command.
	Name() string
	// Check returns the faults of the declaration.
	Check() error
	// Schema returns the JSON Schema of the answers.
	Schema() map[string]any
}

// Name returns the command.
func (d *Decl[T]) Name() string { return d.Command }

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
	}
	if d.Draw != nil {
		a.draw = func(w *Canvas) { d.Draw(w, b, v) }
	}
	return a
}

func columnOf[T any](f *Field[T]) Column {
	return Column{f.Key, f.Name, f.Unit, helpOf(f.Name, f.Help), f.Kind}
}

// Column is a field without the function that reads it.
type Column struct {
	Key, Name, Unit, Help string
	Kind                  Kind
}

// id is the word that forms name the field by.
func (c *Column) id() string {
	if c.Key != "" {
		return c.Key
	}
	return c.Name
}

// boundTable is a table with its rows, whatever they are.
type boundTable struct {
	key, title, help string
	form, empty      string
	stream, aside    bool
	live             bool
	maxRows          int
	columns          []Column
	n                int // -1 where it is not known
	unread           bool
	more             int64
	best             int                         // the number of a row, from 1; 0 for none
	at               func(row int, into []Value) // nil where rows can be read once only
	cell             func(row, column int) Value
	each             func(into []Value, yield func(error) bool)
	lead             func(row int) Lead
	id               func(row int) uint64
}

func (l listed[T, R]) declared() boundTable {
	t := l.table
	b := boundTable{key: t.Key, title: t.Title, help: t.Help, form: t.Row, empty: t.Empty, stream: t.Stream,
		aside: t.Aside, live: t.Live, maxRows: t.MaxRows}
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
			b.each = kept(b.each)
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
	if t.Lead != nil {
		b.lead = func(row int) Lead { return t.Lead(rows.At(row)) }
	}
	if t.ID != nil {
		b.id = func(row int) uint64 { return t.ID(rows.At(row)) }
	}
	return b
}

// kept returns a function that reads rows once and keeps them: when it is called again, it returns those that it has.
func kept(each func(into []Value, yield func(error) bool)) func([]Value, func(error) bool) {
	var held [][]Value
	isRead := false
	return func(into []Value, yield func(error) bool) {
		if !isRead {
			isRead = true
			each(into, func(err error) bool {
				if err == nil && len(held) < mostHeld {
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
