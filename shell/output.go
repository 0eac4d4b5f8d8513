// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
)

// Answer is something that a command says: Text for people, what encoding/json makes of it for programs.
type Answer interface {
	Text(w io.Writer)
}

// Note is said beside the answers: which picture they are of, how many there were.
type Note string

// Text is the note on a line.
func (n Note) Text(w io.Writer) { _, _ = fmt.Fprintln(w, string(n)) }

// Warning is a note of something that may be wrong.
type Warning string

// Text is the warning on a line.
func (n Warning) Text(w io.Writer) { _, _ = fmt.Fprintf(w, "warning: %s\n", string(n)) }

// Warned is an answer that has warnings among what it says.
type Warned interface {
	Answer
	Warned() []string
}

// said is an answer of words.
type said struct {
	object any
	words  string
}

// Text is the words on a line.
func (s said) Text(w io.Writer) { _, _ = fmt.Fprintln(w, s.words) }

// MarshalJSON is the object.
func (s said) MarshalJSON() ([]byte, error) { return json.Marshal(withLists(s.object)) }

// List is an answer of rows: a table for people, an object a row for programs. Rows
// makes them one at a time, so that nobody holds all of a long list.
type List struct {
	// Columns are the headings, none for rows that are lines.
	Columns []string
	Details []string // the headings where each row is Detailed, nil where they are not
	Rows    iter.Seq2[Row, error]
	Empty   string // what people read where there is no row; "" for the headings alone
	Drawn   Answer // what people see in place of the table, nil for the table
}

// Row is a row of a List; its JSON is its own. One without cells is for programs.
type Row interface {
	Cells() []any
}

// Text is the table, as far as Rows makes it.
func (l *List) Text(w io.Writer) { _ = l.table(w) }

func (l *List) table(w io.Writer) error {
	if l.Drawn != nil {
		text := &writer{w: w}
		l.Drawn.Text(text)
		return text.err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	headings := l.Columns
	if l.Empty == "" && headings != nil {
		_, _ = fmt.Fprintln(tw, strings.Join(headings, "\t"))
	}
	empty := l.Empty
	for r, err := range l.Rows {
		if err != nil {
			return err
		}
		if empty != "" && headings != nil {
			_, _ = fmt.Fprintln(tw, strings.Join(headings, "\t"))
		}
		empty = ""
		cells := r.Cells()
		for i, cell := range cells {
			if i > 0 {
				_, _ = fmt.Fprint(tw, "\t")
			}
			_, _ = fmt.Fprint(tw, cell)
		}
		if cells != nil {
			_, _ = fmt.Fprintln(tw)
		}
	}
	if empty != "" {
		_, _ = fmt.Fprintln(tw, empty)
	}
	return tw.Flush()
}

// Part is a part of an answer that people read by itself: before the rest is known, or
// below a table. Programs find it in the whole.
type Part struct{ Answer }

// Output takes what commands say and renders it: as text for people, or as JSON, one object a line.
type Output struct {
	W      io.Writer     // takes the answers
	Raw    io.Writer     // takes what other programs read, as it is, in place of answers; nil for W
	Notes  io.Writer     // takes what is said beside them; nil for nowhere
	Form   answer.Form   // of the answers; "" is text
	Table  string        // the table that CSV has of an answer, "" for the first
	FailOn string        // on which verdicts commands fail that do not always: "found", "unknown" for both, "" for none
	Subnet string        // the subnet that JSON names as that of an answer, "" where there is but one
	Script bool          // says that nobody reads along: what is not as it was asked for fails
	Told   bool          // says that what could not be read of the source's file was said before
	Hear   func(Answer)  // told what is said before it is written, except for the rows of lists; nil for nobody
	Row    func(Row)     // told of each row of the list heard last; nil for nobody
	Ask    feature.Asker // asks who sits at the terminal; nil where there is none

	Answers *atomic.Int64 // counts the answers of a run; nil where nobody does
	wrote   *atomic.Bool  // set by the first object of the command that runs, nil outside of one
}

// isJSON reports whether the answers are for programs.
func (o *Output) isJSON() bool { return o.Form == answer.FormJSON }

// Answer says something.
func (o *Output) Answer(a Answer) error {
	part, isPart := a.(Part)
	if isPart {
		a = part.Answer
	}
	if o.Hear != nil {
		o.Hear(a)
	}
	list, isList := a.(*List)
	switch a.(type) {
	case Note, Warning:
		if o.Notes != nil {
			a.Text(o.Notes)
		}
		return nil
	}
	switch {
	case !o.isJSON() && o.Form != "" && o.Form != answer.FormText:
		return o.beside(a)
	case isList:
		return o.list(o.overheard(list))
	case !o.isJSON():
		w := &writer{w: o.W}
		a.Text(w)
		return w.err
	case isPart:
		return nil
	}
	return o.object(a)
}

// beside writes what a command did next to the answers, as text, where that has no form but text and JSON. Other answers
// without the form are refused.
func (o *Output) beside(a Answer) error {
	switch a.(type) {
	case said:
	default:
		return fmt.Errorf("this answer is text or JSON, and not %s", o.Form)
	}
	if o.Notes != nil {
		a.Text(o.Notes)
	}
	return nil
}

// overheard is the list, whose rows are told of while they are made.
func (o *Output) overheard(l *List) *List {
	if o.Row == nil || l.Drawn != nil {
		return l
	}
	told := *l
	told.Rows = func(yield func(Row, error) bool) {
		for r, err := range l.Rows {
			if err == nil {
				o.Row(r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
	return &told
}

func (o *Output) list(l *List) error {
	if !o.isJSON() {
		return l.table(o.W)
	}
	for r, err := range l.Rows {
		if err != nil {
			return err
		}
		if err := o.object(r); err != nil {
			return err
		}
	}
	return nil
}

// noRows is what programs get of a command that has no object for them, as of a list without a row.
type noRows struct {
	Command string `json:"command"`
	Kind    string `json:"kind"`
	Rows    int    `json:"rows"`
}

// running returns the output of a command that runs.
func (o *Output) running() *Output {
	its := *o
	its.wrote = new(atomic.Bool)
	return &its
}

// ended writes an object for programs where the command wrote none. outer is the output of the command around it.
func (o *Output) ended(command string, outer *Output) error {
	outer.writes()
	if !o.isJSON() || o.wrote.Load() {
		return nil
	}
	return o.object(noRows{command, "end", 0})
}

// writes notes that an object was written.
func (o *Output) writes() {
	if o.wrote != nil {
		o.wrote.Store(true)
	}
}

func (o *Output) object(v any) error {
	o.writes()
	line, err := json.Marshal(withLists(v))
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if rest, ok := bytes.CutPrefix(line, []byte("{")); ok && o.Subnet != "" {
		name, err := json.Marshal(o.Subnet)
		if err != nil {
			return fmt.Errorf("encode the name of the subnet: %w", err)
		}
		line = fmt.Appendf(nil, `{"subnet":%s%s%s`, name, prose.When(rest[0] == '}', "", ","), rest)
	}
	_, err = fmt.Fprintf(o.W, "%s\n", plain.EscapeJSON(line))
	return err
}

func (o *Output) warn(format string, args ...any) {
	_ = o.Answer(Warning(fmt.Sprintf(format, args...)))
}

// File implements [feature.Output].
func (o *Output) File() io.Writer {
	switch {
	case o.isJSON():
		return nil
	case o.Raw != nil:
		return o.Raw
	}
	return o.W
}

// writer remembers the first error, so that text can be printed line by line.
type writer struct {
	w   io.Writer
	err error
}

func (b *writer) Write(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.w.Write(p)
	b.err = err
	return n, err
}

// withLists returns a copy of v in which lists and maps that are nil are empty, so that JSON has [] and {}
// for what holds nothing, not null. What marshals itself is left alone.
func withLists(v any) any {
	fillLists(reflect.ValueOf(&v).Elem())
	return v
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// fillLists makes nil lists and maps in v, which can be set, empty. What v shares is copied before it is changed.
func fillLists(v reflect.Value) {
	t := v.Type()
	if !v.CanSet() && v.Kind() != reflect.Struct || t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return
	}
	switch v.Kind() {
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(t))
		}
	case reflect.Slice:
		own := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		own := reflect.New(v.Elem().Type())
		own.Elem().Set(v.Elem())
		fillLists(own.Elem())
		if v.Kind() == reflect.Interface {
			own = own.Elem()
		}
		v.Set(own)
	case reflect.Struct:
		for _, f := range v.Fields() {
			fillLists(f)
		}
	}
}
